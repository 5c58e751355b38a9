"""Packs: every format, what is said about bad entries, and that bad input costs neither memory nor the good levels."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from unjam.errors import PackError
from unjam.packs import WRITABLE, Defaults, Entry, read_objects, read_pack, write_pack
from unjam.packs.lines import MAX_LINE

GOOD_LINE = b'{"family": "rush", "board": "ooooooooooooAAoooBoooooBoooooooooooo"}\n'


def read(pack: bytes | str, family: str | None = None, fields: dict[str, Any] | None = None, **how: Any) -> list[Entry]:
    pack = pack.encode() if isinstance(pack, str) else pack
    return list(read_pack(io.BytesIO(pack), defaults=Defaults(family, fields or {}), **how))


def only(entries: list[Entry]) -> Entry:
    assert len(entries) == 1, entries
    assert entries[0].error is None, entries[0].error
    return entries[0]


def errors(entries: list[Entry]) -> list[tuple[int, str]]:
    return [(entry.line, entry.error) for entry in entries if entry.error]


class TestJsonLines:
    def test_says_everything(self) -> None:
        line = {
            "family": "klotski",
            "board": ["AB", ".C"],
            "goal": ["..", "A."],
            "goal_mode": "class",
            "metric": "slide",
            "name": "small",
            "tags": ["a", "b c"],
            "known": {"slide": 2, "path": None},
        }
        entry = only(read(json.dumps(line)))
        assert entry.puzzle is not None
        assert entry.puzzle.fields()["goal_mode"] == "class"
        assert (entry.index, entry.line, entry.metric, entry.name) == (0, 1, "slide", "small")
        assert entry.tags == ("a", "b c")
        assert entry.known == {"slide": 2, "path": None}

    def test_counts_under_other_names(self) -> None:
        assert only(read('{"family": "tiles", "board": "1 0/3 2", "optimal": {"step": 3}}')).known == {"step": 3}
        assert only(read('{"family": "tiles", "board": "1 0/3 2", "step": 3}')).known == {"step": 3}
        assert only(read('{"family": "tiles", "board": "1 0/3 2", "known": 3}')).known == {"step": 3}
        assert only(read('{"family": "tiles", "board": "1 0/3 2", "known": 3, "metric": "slide"}')).known == {
            "slide": 3
        }

    def test_empty_lines_count_as_lines_only(self) -> None:
        entries = read(b"\n" + GOOD_LINE + b"\r\n\n" + GOOD_LINE)
        assert [(entry.index, entry.line) for entry in entries] == [(0, 2), (1, 5)]

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("[1, 2]", "an entry is an object"),
            ('{"family": "rush"', "is no JSON at column"),
            ('{"board": "AA"}', "family: say which"),
            ('{"family": "chess", "board": "AA"}', "there is no family 'chess'"),
            ('{"family": ["rush"], "board": "AA"}', "there is no family"),
            ('{"family": "rush"}', "board: there is none"),
            ('{"family": "rush", "board": 7}', "board"),
            ('{"family": "rush", "board": "..AA/...B"}', "row"),
            ('{"family": "tiles", "board": "1 0/3 2", "gaol": "blank-first"}', "is 'goal' meant?"),
            ('{"family": "tiles", "board": "1 0/3 2", "exit": "right"}', "exit"),
            ('{"family": "tiles", "board": "1 0/3 2", "metric": "path"}', "no metric 'path'"),
            ('{"family": "tiles", "board": "1 0/3 2", "metric": 5}', "metric: must be text"),
            ('{"family": "tiles", "board": "1 0/3 2", "known": {"path": 5}}', "no metric 'path'"),
            ('{"family": "tiles", "board": "1 0/3 2", "known": {"step": -1}}', "must be a number of moves"),
            ('{"family": "tiles", "board": "1 0/3 2", "known": {"step": true}}', "must be a number of moves"),
            ('{"family": "tiles", "board": "1 0/3 2", "name": "a\\u0000b"}', "control character"),
            ('{"family": "tiles", "board": "1 0/3 2", "name": ["x"]}', "name: must be text, not a list"),
            ('{"family": "tiles", "board": "1 0/3 2", "tags": {"x": 1}}', "tags: must be a list"),
            (json.dumps({f"x{n}": n for n in range(101)}), "at most 100 fields, not 101"),
            ('{"family": "tiles", "board": ' + "[" * 5000 + "]" * 5000 + "}", ""),
        ],
    )
    def test_refusals_say_why(self, line: str, said: str) -> None:
        [entry] = read(line, format="jsonl")
        assert entry.puzzle is None
        assert entry.error is not None
        assert said in entry.error

    def test_other_fields_are_ignored(self) -> None:
        only(read('{"family": "tiles", "board": "1 0/3 2", "source": "mine", "solvable": true, "cars": 3}'))


class TestCsv:
    def test_columns_are_fields(self) -> None:
        pack = 'family,board,goal,name,tags,step,extra\ntiles,1 0/3 2,blank-first,small,"a, b",unsolvable,x\n'
        entry = only(read(pack))
        assert entry.puzzle is not None
        assert entry.puzzle.fields()["goal"] == "blank-first"
        assert (entry.name, entry.tags, entry.known, entry.line) == ("small", ("a", "b"), {"step": None}, 2)

    def test_lists_as_json_or_separated_by_commas(self) -> None:
        pack = (
            "family,board,closed,gates,fixed\n"
            'parkout,aA./..B/..b,"right:0,bottom",,\n'
            'parkout,aA./..B/..b,"[""left:0"", ""bottom""]","[{""edge"": ""right:0"", ""opens"": 1}]",B\n'
        )
        assert not errors(read(pack))

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_delimiters_and_a_board_over_several_lines(self, delimiter: str) -> None:
        pack = f'Board{delimiter} Slide\r\n"..AA\r\n...."{delimiter}0\r\n..AA/....{delimiter}0\r\n'
        entries = read(pack, "rush", {"exit": "right"}) if delimiter else []
        assert [entry.line for entry in entries] == [2, 4]
        assert all(entry.known == {"slide": 0} and entry.puzzle for entry in entries), errors(entries)

    def test_a_quote_that_is_never_closed_costs_its_own_row_only(self) -> None:
        rows = ["board,name"] + [f'..A/..A/..., "{n}' if n in (3, 6) else f"..A/..A/...,{n}" for n in range(1000)]
        entries = read("\n".join(rows).replace(', "', ',"'), "rush")
        assert [line for line, _ in errors(entries)] == [5, 8]
        assert len(entries) == 1000

    def test_the_board_column(self) -> None:
        pack = "id,tiles_a,tiles_b\n7,1 0 3 2,1 2 0 3\n"
        entry = only(read(pack, "tiles", board_column="tiles_b"))
        assert entry.name == "7"
        assert entry.puzzle is not None
        assert entry.puzzle.format().split() == ["1", "2", "_", "3"]
        with pytest.raises(PackError, match="tiles_a, tiles_b"):
            read(pack, "tiles")
        with pytest.raises(PackError, match="no column 'c'"):
            read(pack, "tiles", board_column="c")

    def test_headers_that_are_no_good(self) -> None:
        with pytest.raises(PackError, match="no column is called 'board'"):
            read("a,b\n1,2\n", format="csv")
        with pytest.raises(PackError, match="'name' is there twice"):
            read("board,name,name\n")
        with pytest.raises(PackError, match="is 'closed' meant"):
            read("board,close\n")

    def test_rows_that_are_no_good(self) -> None:
        assert "1 cells, but the header has 2" in errors(read("board,step\n1 0/3 2\n", "tiles"))[0][1]
        assert "neither a number" in errors(read("board,step\n1 0/3 2,many\n", "tiles"))[0][1]


class TestText:
    def test_blocks_headers_and_comments(self) -> None:
        pack = """\
# two levels
family: klotski

name: first
known: path 4, slide 5
goal:
....
.A..
board:
#AB.
....


# the second
name: second
goal: ..../..A.
#AB.
....
"""
        first, second = read(pack)
        assert (first.name, first.line, first.known) == ("first", 4, {"path": 4, "slide": 5})
        assert (second.name, second.line, second.error) == ("second", 15, None)
        assert first.puzzle is not None
        assert first.puzzle.format().startswith("#AB.")

    def test_a_bad_block_says_where_it_begins(self) -> None:
        pack = "..AA\n....\n\n..AA\n...\n\nname: x\nname: y\n..AA\n\n..AA\n....\n"
        bad = errors(read(pack, "rush", {"exit": "left"}))
        assert [line for line, _ in bad] == [4, 7]
        assert "row 2" in bad[0][1]
        assert "name: is said twice" in bad[1][1]

    def test_a_block_without_end_is_one_bad_entry(self) -> None:
        [(line, said)] = errors(read("....\n" * 5000 + "\n", "rush"))
        assert line == 1
        assert "without a blank line" in said


class TestLines:
    def test_fogleman(self) -> None:
        entry = only(read("2 ooooooooooooAAoooBoooooBoooooooooooo 2332\n"))
        assert entry.puzzle is not None
        assert (entry.puzzle.family, entry.known) == ("rush", {"slide": 2})

    def test_korf(self) -> None:
        tiles = "1 0 2 3 4 5 6 7 8"
        for line, name, known in ((tiles, None, {}), (f"7 {tiles}", "7", {}), (f"7 {tiles} 1", "7", {"step": 1})):
            entry = only(read(line, fields={"goal": "blank-first"}))
            assert entry.puzzle is not None
            assert (entry.puzzle.family, entry.name, entry.known) == ("tiles", name, known)
            assert entry.puzzle.fields()["goal"] == "blank-first"

    def test_rows_separated_by_slashes(self) -> None:
        entries = read("1 2 3/4 0 5\n\n# comment\n1,2,3/4,5,0\n", "tiles")
        assert [(entry.line, entry.error) for entry in entries] == [(1, None), (4, None)]
        only(read("3 ..AA/....", "rush", {"exit": "left"}))

    def test_refusals(self) -> None:
        pack = "2 ooooooooooooAAoooBoooooBoooooooooooo 2332\nx ooooooooooooAAoooBoooooBoooooooooooo 2332\na b c d\n"
        assert [line for line, _ in errors(read(pack))] == [2, 3]
        assert "separate the rows" in errors(read("1 2 3 4 5 6 7 8 9 10 11 12 0"))[0][1]


class TestFiles:
    @pytest.mark.parametrize("pack", [b"", b"\n", b" \r\n\n", b"\xef\xbb\xbf", b"# nothing\n"])
    def test_empty(self, pack: bytes) -> None:
        with pytest.raises(PackError, match="empty"):
            read(pack)

    def test_other_files(self) -> None:
        with pytest.raises(PackError, match="UTF-16"):
            read(GOOD_LINE.decode().encode("utf-16"))
        with pytest.raises(PackError, match="compressed"):
            read(b"\x1f\x8b\x08\x00")
        with pytest.raises(PackError, match="one JSON array"):
            read(b"[\n" + GOOD_LINE + b"]\n")

    def test_byte_order_mark_and_carriage_returns(self) -> None:
        only(read(b"\xef\xbb\xbf" + GOOD_LINE.replace(b"\n", b"\r\n")))

    def test_a_lone_carriage_return_ends_no_line(self) -> None:
        assert errors(read(b"family: rush\rAA..\r....\r")) == [
            (1, "byte 13 of the line is a lone CR: end lines with LF or CRLF")
        ]

    @pytest.mark.parametrize(("format", "pack"), [("text", "family: rush\n\nslide: 3\n"), ("csv", "family,board\n")])
    def test_a_header_without_a_level(self, format: str, pack: str) -> None:
        with pytest.raises(PackError, match="no levels"):
            read(pack, format=format)

    def test_encoding_and_nul(self) -> None:
        pack = GOOD_LINE + b'{"name": "caf\xe9"}\n' + b'{"name": "\0"}\n' + GOOD_LINE
        bad = errors(read(pack))
        assert [line for line, _ in bad] == [2, 3]
        assert "byte 14 of the line (0xe9) is not UTF-8" in bad[0][1]
        assert "NUL" in bad[1][1]

    @pytest.mark.parametrize("format", ["jsonl", "csv", "text", "lines"])
    def test_a_huge_line_is_a_bad_entry_and_is_never_held(self, format: str) -> None:
        class Endless(io.RawIOBase):
            """10 MB without a line end after a header, then nothing; made as it is read."""

            left = 10_000_000

            def readable(self) -> bool:
                return True

            def readinto(self, buffer: Any) -> int:
                count = min(len(buffer), self.left)
                buffer[:count] = b"A" * count
                self.left -= count
                return count

        stream = io.BufferedReader(Endless())
        head = {"csv": b"board\n"}.get(format, b"")
        tracemalloc.start()
        try:
            joined: Any = _Joined(head, stream)
            entries = list(read_pack(joined, format=format, defaults=Defaults("rush")))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        [(line, said)] = errors(entries)
        assert line == 1 + len(head.splitlines())
        assert f"longer than {MAX_LINE:,} bytes" in said
        assert peak < 6 * MAX_LINE

    @pytest.mark.parametrize(
        "pack",
        [
            b"1 " * 250_000 + b"x\n",  # a line that is nearly all numbers
            b"board," + b",".join(b"column%d" % n for n in range(30_000)) + b"\n",
        ],
    )
    def test_a_long_line_takes_time_in_proportion(self, pack: bytes) -> None:
        began = time.process_time()
        with suppress(PackError):
            read(pack, "rush")
        assert time.process_time() - began < 4

    @pytest.mark.parametrize(("format", "head"), [("text", b""), ("csv", b'board\n"\n')])
    def test_long_lines_that_belong_together_are_never_held(self, format: str, head: bytes) -> None:
        def lines() -> Iterator[bytes]:
            yield from head.splitlines(keepends=True)
            for _ in range(40):
                yield b"." * (MAX_LINE - 1) + b"\n"

        tracemalloc.start()
        try:
            entries = read_pack(_Lines(lines()), format=format, defaults=Defaults("rush"))  # type: ignore[arg-type]  # _Lines is as much of a file as is read
            said = [entry.error for entry in entries]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert all(said)
        assert peak < 8 * MAX_LINE

    @pytest.mark.parametrize("fields", ['"family": 1, "family"', '"family": "parkout", "board": "aA", "closed"'])
    def test_lists_in_lists_are_refused(self, fields: str) -> None:
        [entry] = read("{" + f"{fields}: {'[' * 1020}{']' * 1020}" + "}")
        assert entry.error is not None
        assert len(entry.error) < 200

    def test_every_tenth_of_ten_thousand_is_broken(self) -> None:
        breaks = [b"{\n", b"\xff\n", b'{"family": "rush", "board": "ooo"}\n', b"\0\n"]
        lines = [breaks[n // 10 % 4] if n % 10 == 9 else GOOD_LINE for n in range(10_000)]
        entries = read(b"".join(lines))
        assert [entry.index for entry in entries] == list(range(10_000))
        assert [line for line, _ in errors(entries)] == list(range(10, 10_001, 10))

    def test_entries_come_as_they_are_read(self) -> None:
        def endless() -> Iterator[bytes]:
            while True:
                yield GOOD_LINE

        stream: Any = _Lines(endless())
        entries = read_pack(stream)
        assert [next(entries).index for _ in range(3)] == [0, 1, 2]

    def test_objects(self) -> None:
        entries = list(read_objects([json.loads(GOOD_LINE), None], Defaults()))
        assert entries[0].puzzle
        assert entries[1].error


@pytest.mark.parametrize("format", WRITABLE)
def test_what_is_written_reads_back(format: str) -> None:
    levels: list[dict[str, Any]] = [
        {
            "family": "tiles",
            "board": [[1, 2, 3], [4, 0, 5]],
            "goal": "1 2 3/4 5 0",
            "name": "a, b",
            "known": {"step": 1},
        },
        {"family": "klotski", "board": "#AB./....", "goal": "..../.A..", "goal_mode": "class", "tags": ["x", "y"]},
        {"family": "rush", "board": "..A./..A./BB../....", "exit": "top", "metric": "step", "known": {"slide": None}},
        {"family": "parkout", "board": "aA./..B/..b", "closed": ["bottom"], "fixed": ["B"]},
        {"family": "parkout", "board": "aA./..B/..b", "gates": [{"edge": "right:0", "opens": 1}]},
    ]
    entries = list(read_objects(levels))
    assert not errors(entries)
    again = read("".join(write_pack(entries, format)))
    assert not errors(again)
    for before, after in zip(entries, again, strict=True):
        assert before.puzzle is not None
        assert after.puzzle is not None
        assert before.puzzle.fields() == after.puzzle.fields()
        assert (before.name, before.metric, before.known) == (after.name, after.metric, after.known)
        assert (before.tags, before.puzzle.key) == (after.tags, after.puzzle.key)


@pytest.mark.parametrize(
    ("name", "how", "levels", "claims"),
    [
        ("rush_known.csv", {"family": "rush"}, 2000, {"slide", "step"}),
        ("klotski_known.jsonl", {"family": "klotski"}, 88, {"slide", "step", "path"}),
        ("parkout_known.jsonl", {"family": "parkout"}, 36, {"slide"}),
        ("hard80.csv", {"family": "tiles"}, 17, {"step"}),
        ("korf100.csv", {"family": "tiles", "board_column": "tiles_blank_last"}, 100, {"slide", "step"}),
        ("korf24.csv", {"family": "tiles", "board_column": "tiles_blank_first"}, 50, {"step"}),
    ],
)
def test_the_known_answers_are_read(
    shared_data: Path, name: str, how: dict[str, str], levels: int, claims: set[str]
) -> None:
    fields = {"goal": "blank-first"} if how.get("board_column") == "tiles_blank_first" else {}
    entries = read((shared_data / name).read_bytes(), fields=fields, **how)
    assert not errors(entries)
    assert len(entries) == levels
    assert set().union(*(entry.known for entry in entries)) == claims


class _Lines:
    """As much of a binary file as a pack needs, from lines."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.lines = lines

    def readline(self, limit: int = -1) -> bytes:
        return next(self.lines, b"")


class _Joined:
    """A few bytes, then a file."""

    def __init__(self, head: bytes, rest: io.BufferedReader) -> None:
        self.head = io.BytesIO(head)
        self.rest = rest

    def readline(self, limit: int = -1) -> bytes:
        return self.head.readline(limit) or self.rest.readline(limit)
