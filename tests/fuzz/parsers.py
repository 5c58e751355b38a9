"""Boards, moves, packs, request bodies and table files: all are read or refused as documented, and read back alike."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import orjson
from pydantic import ValidationError

from api.errors import ApiError
from api.schemas import BatchOrder, LookupOrder, SolveOrder
from tests.boards import RANDOM_BOARDS, Fields
from tests.fuzz.values import CHARACTERS, anything, corrupted, deep, garbled
from unjam.errors import IllegalMove, PackError, ParseError, TableError
from unjam.packs import FORMATS, WRITABLE, Defaults, Entry, read_objects, read_pack, write_pack
from unjam.puzzles import FAMILIES, from_canonical, parse
from unjam.puzzles.puzzle import Puzzle
from unjam.search import table_files
from unjam.search.partitions import named

LINE = 1 << 20


def parse_tiles(random: Random) -> None:
    _parse(random, "tiles")


def parse_klotski(random: Random) -> None:
    _parse(random, "klotski")


def parse_rush(random: Random) -> None:
    _parse(random, "rush")


def parse_parkout(random: Random) -> None:
    _parse(random, "parkout")


def read_notation(random: Random) -> None:
    """Moves as a player writes them: those of a random walk, and others."""
    family = random.choice([*FAMILIES])
    puzzle = parse(family, **RANDOM_BOARDS[family](random))
    metric = random.choice(puzzle.metrics)
    state, moves = puzzle.start(), []
    for _ in range(random.randrange(6)):
        steps = list(puzzle.moves(state, metric))
        if not steps:
            break
        move, state = random.choice(steps)
        moves.append(move)
    written = puzzle.notation(moves, metric)
    read, other = puzzle.start(), puzzle.start()
    for one, two in zip(moves, puzzle.read_notation(written, metric), strict=True):
        read, other = puzzle.apply(read, one, metric), puzzle.apply(other, two, metric)
    assert read == other == state
    wrong = [word for word in corrupted(random, [*written, "A:R2"]) if isinstance(word, str)]
    try:
        puzzle.read_notation(wrong, metric)
    except IllegalMove as error:
        assert str(error).startswith("move ")


def read_jsonl(random: Random) -> None:
    _read(random, "jsonl")


def read_csv(random: Random) -> None:
    _read(random, "csv")


def read_text(random: Random) -> None:
    _read(random, "text")


def read_lines(random: Random) -> None:
    _read(random, "lines")


def read_body(random: Random) -> None:
    """What a request says, as JSON."""
    levels = [_level(random) for _ in range(random.choice([1, 1, 2]))]
    order = {"budget": {"seconds": 5, "nodes": 1000}, "algorithm": "bfs", "metric": None}
    model, body = random.choice(
        [
            (SolveOrder, {**levels[0], **order, "wait": 5}),
            (BatchOrder, {"levels": levels, **order, "name": "some", "distributed": False}),
            (LookupOrder, {"puzzles": levels}),
        ]
    )
    for _ in range(random.choice([0, 1, 2])):
        body = corrupted(random, body)
    text = _json(random, body)
    if random.random() < 0.2:
        text = garbled(random, text)
    try:
        read = model.model_validate_json(text.encode("utf-8", "surrogatepass"))
    except ValidationError as error:
        assert error.errors()
        return
    if isinstance(read, SolveOrder | BatchOrder):
        try:
            read.budget.budget(1_000_000_000)
        except ApiError as error:
            assert error.status_code == 422
    match read:
        case SolveOrder():
            levels = [read.fields()]
        case BatchOrder():
            levels = read.levels
        case LookupOrder():
            levels = read.puzzles
    for entry in read_objects(levels):
        _entry(entry)


def read_table_file(random: Random) -> None:
    """A file of bytes under a header, whole or spoilt; names of tables."""
    fields = {"table": "2x2-3", "format": 1}
    with tempfile.TemporaryDirectory(prefix="unjam-fuzz-") as folder:
        path = Path(folder) / "some.pdb"
        with path.open("w+b") as file:
            file.write(bytes(table_files.HEADER) + random.randbytes(random.choice([1, 8, 5000])))
            table_files.finish(file, b"unjam pattern database\n", fields)
            whole = path.read_bytes()
            at = random.randrange(len(whole))
            spoilt = random.choice([whole, whole[:at], whole[:at] + b"x" + whole[at + 1 :], whole + b"\0", b""])
            file.truncate(0)
            file.seek(0)
            file.write(spoilt)
            file.flush()
            try:
                table = table_files.mapped(file, b"unjam pattern database\n", fields, "build it again")
            except TableError as error:
                assert str(path) in str(error)
                assert spoilt != whole
            else:
                assert spoilt == whole
                table.release()
    name = random.choice(["4x4-6-6-3", "4x4-7-8-compressed", "5x3-7-7-blank-2", "3x3-8-blank-4"])
    name = corrupted(random, name) if random.random() < 0.8 else name
    with suppress(TableError):
        assert named(name).name == name


def _parse(random: Random, family: str) -> None:
    fields = RANDOM_BOARDS[family](random)
    if random.random() < 0.3:
        _same(parse(family, **fields), fields)
    if random.random() < 0.3:
        rows = fields["board"]
        fields["board"] = "/".join(" ".join(map(str, row)) if isinstance(row, list) else row for row in rows)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        fields = _altered(random, family, fields)
    try:
        puzzle = parse(family, **fields)
    except ParseError as error:
        assert error.field in {"goal", *(name[:40] for name in fields)}
        assert error.row is None or error.row >= 1
        assert error.column is None or (error.row is not None and error.column >= 1)
        assert str(error).isprintable()
        assert len(str(error)) < 400
        return
    _same(puzzle, fields)


def _altered(random: Random, family: str, fields: Fields) -> Fields:
    if random.random() < 0.05:
        return {**fields, random.choice(["board", *FAMILIES[family].field_names, "gaol"]): anything(random)}
    if random.random() < 0.05:
        name = random.choice([*fields])
        return {**fields, name: _json(random, fields[name])}
    changed = corrupted(random, fields)
    changed.setdefault("board", "")
    return {name: value for name, value in changed.items() if name.isidentifier()}


def _json(random: Random, value: Any) -> str:
    try:
        return json.dumps(value, default=str)
    except (ValueError, RecursionError):  # what Python does not write
        return random.choice(["[" * 900 + "]" * 900, "[[1" + "0" * 5000])


def _same(puzzle: Puzzle, fields: Fields) -> None:
    """It is written as it is read, its canonical form is canonical, and its start can be drawn."""
    again = type(puzzle).parse(**puzzle.fields())
    assert again == puzzle, fields
    canonical = from_canonical(puzzle.family, puzzle.canonical)
    assert canonical.canonical == puzzle.canonical, fields
    assert canonical.key == puzzle.key
    assert puzzle.format().count("\n") == puzzle.height - 1
    assert puzzle.is_goal(puzzle.start()) in (True, False)
    assert puzzle.unsolvable_reason() is None or canonical.unsolvable_reason() is not None


def _level(random: Random) -> Fields:
    """An entry of a pack."""
    family = random.choice([*FAMILIES])
    level: Fields = {"family": family, **RANDOM_BOARDS[family](random)}
    more = {
        "name": random.choice(["small", "a, b", 'say "so"', "ß", "#1", " spaces ", "x: y", "1", "[1]", "null"]),
        "tags": random.choice([["one"], ["a b", "c"], [], ["a,b"], ['"'], [" x"]]),
        "metric": random.choice(FAMILIES[family].metrics),
        "known": {FAMILIES[family].metrics[0]: random.choice([None, 0, 12])},
        "step" if family != "parkout" else "slide": random.choice([3, None]),
        "id": random.choice([7, "seven"]),
        "source": "elsewhere",
    }
    return level | {name: more[name] for name in random.sample([*more], random.randrange(4))}


def _read(random: Random, format: str) -> None:
    levels = [_level(random) for _ in range(random.choice([0, 1, 2, 3]))]
    if format == "lines":
        text = "\n".join(_board_line(random, level) for level in levels)
    elif format == "jsonl" or random.random() < 0.5:
        text = "".join(orjson.dumps(level).decode() + "\n" for level in levels)
        if random.random() < 0.05:  # as deep as is read
            value = _json(random, deep(random.choice([900, 1020])))
            text = text.replace(":", f':{value},"x":', random.randrange(1, 9))
    if format in WRITABLE and (format != "jsonl" or random.random() < 0.5):
        text = "".join(write_pack(read_objects(levels), format))
    for _ in range(random.choice([0, 1, 2, 4])):
        text = garbled(random, text)
    if random.random() < 0.01:
        text = _swollen(random, text)
    pack = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.05:
        pack = random.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\xff"]) + pack
    how: dict[str, Any] = {"format": format if random.random() < 0.8 else random.choice([*FORMATS, None])}
    if random.random() < 0.3:
        how["defaults"] = Defaults(random.choice([*FAMILIES]), {"exit": "right", "goal": "blank-first"})
    if random.random() < 0.1:
        how["board_column"] = random.choice(["board", "family", "no such", ""])
    try:
        entries = list(read_pack(io.BytesIO(pack), **how))
    except PackError as error:
        assert str(error)
        return
    assert [entry.index for entry in entries] == [*range(len(entries))]
    assert all(before.line < after.line for before, after in pairwise(entries))
    for entry in entries:
        _entry(entry)
    good = [entry for entry in entries if entry.puzzle]
    if good:
        _written_back(random, good)


def _entry(entry: Entry) -> None:
    assert (entry.puzzle is None) == (entry.error is not None)
    assert entry.line >= 1
    if entry.error is not None:
        assert entry.error
        assert len(entry.error) < 1500


def _written_back(random: Random, entries: list[Entry]) -> None:
    format = random.choice(WRITABLE)
    text = "".join(write_pack(entries, format))
    back = list(read_pack(io.BytesIO(text.encode()), format=format))
    assert len(back) == len(entries), text
    for one, other in zip(entries, back, strict=True):
        assert other.error is None, (other.error, text)
        assert other.puzzle == one.puzzle, text
        assert (other.metric, other.known) == (one.metric, one.known), text
        assert _stripped(other) == _stripped(one), text


def _stripped(entry: Entry) -> tuple[str, tuple[str, ...]]:
    """Name and tags, without the spaces around them that a cell or a line does not keep."""
    return (entry.name or "").strip(), tuple(filter(None, (tag.strip() for tag in entry.tags)))


def _board_line(random: Random, level: Fields) -> str:
    rows = [" ".join(map(str, row)) if isinstance(row, list) else row for row in level["board"]]
    board = random.choice(["/", "", " / ", " "]).join(rows)
    return f"{random.choice(['', '7 ', '60 '])}{board}{random.choice(['', ' 12', ' x'])}"


def _swollen(random: Random, text: str) -> str:
    """With a piece of it, or a character, repeated up to the longest line or over it."""
    at = random.randrange(len(text) + 1)
    piece = text[at : at + random.choice([1, 2, 5, 40])].strip("\n") or random.choice(CHARACTERS)
    line = piece * (random.choice([1000, LINE // 4, LINE, 3 * LINE]) // len(piece))
    return text[:at] + random.choice([line, line, f"{line}\n" * (8 * LINE // (len(line) + 1))]) + text[at:]
