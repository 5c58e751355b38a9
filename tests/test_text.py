"""Grids of text: every format is read, everything else is refused with its place, and quickly."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjam.errors import ParseError
from unjam.puzzles.text import read_rows, refuse_fields


@pytest.mark.parametrize(
    "board", ["ab.\n.cc", "ab./.cc", "ab.\r\n.cc\r\n", "\nab.\n.cc\n\n", ["ab.", ".cc"], ("ab.", ".cc")]
)
def test_formats(board: object) -> None:
    assert read_rows(board) == ["ab.", ".cc"]


def test_square_text_only_where_asked() -> None:
    assert read_rows("AA..", square=True) == ["AA", ".."]
    assert read_rows("AA..") == ["AA.."]
    assert read_rows(["AA.."], square=True) == ["AA.."]
    with pytest.raises(ParseError, match="35 characters are no square board"):
        read_rows("o" * 35, square=True)


@pytest.mark.parametrize(
    ("board", "row", "column", "words"),
    [
        ("", None, None, "empty"),
        ([], None, None, "empty"),
        ("\n\n", None, None, "empty"),
        ([""], 1, None, "empty"),
        ("ab\n\ncd", 2, None, "empty"),
        ("ab/", 2, None, "empty"),
        ("ab/c", 2, None, "the row has 1 cells, the first row has 2"),
        ("abc/c d", 2, 2, "' ' cannot"),
        ("ab/c\x00", 2, 2, r"'\\x00' cannot"),
        ("a\t/cd", 1, 2, "cannot"),
        ("a\u2028/cd", 1, 2, r"\\u2028"),
        ("a\ud800/cd", 1, 2, "cannot"),
        (["a/", "cd"], 1, 2, "cannot"),
        (["ab\n", "cd"], 1, 3, "cannot"),
        (["ab", 3], 2, None, "a row is text, not int"),
        (None, None, None, "not NoneType"),
        (b"ab", None, None, "not bytes"),
        ("/".join(["." * 40] * 40), None, None, "at most 128 cells, 16 on a side"),
        (["." * 40] * 40, None, None, "40 rows; a board has at most 128 cells"),
        (["." * 17], 1, None, "at most 128 cells"),
        (["." * 12] * 12, None, None, "12x12; a board has at most 128 cells"),
    ],
)
def test_refusals(board: object, row: int | None, column: int | None, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        read_rows(board)
    assert (caught.value.row, caught.value.column) == (row, column)
    assert caught.value.field == "board"


@pytest.mark.parametrize("board", ["x" * 10_000_000, ["x" * 10_000_000], ["x"] * 10_000_000, "\n" * 10_000_000])
def test_huge_boards_are_refused_at_once(board: object) -> None:
    started = time.perf_counter()
    with pytest.raises(ParseError, match="at most 128 cells"):
        read_rows(board, square=True)
    assert time.perf_counter() - started < 1


def test_unknown_fields() -> None:
    refuse_fields("rush", {}, ["exit"])
    with pytest.raises(ParseError, match=r"^gates: rush has no such field; it has board, exit$"):
        refuse_fields("rush", {"gates": 1}, ["exit"])


@given(st.text() | st.lists(st.text(max_size=20), max_size=20), st.booleans())
def test_anything_is_read_or_refused(board: object, square: bool) -> None:
    try:
        rows = read_rows(board, square=square)
    except ParseError:
        return
    assert read_rows(rows, square=square) == rows == read_rows("/".join(rows))
