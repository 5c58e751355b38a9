"""Klotski, rush and parkout: the searches against each other and a plain one, the checkers against the rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from random import Random
from typing import Any

from tests import raw_boards as raw
from tests.boards import RANDOM_BOARDS
from tests.fuzz.results import AMPLE, agree, attempt, some_limits, sound
from tests.fuzz.values import corrupted, spoilt
from unjam import _kernels as kernels
from unjam.errors import IllegalMove, ParseError
from unjam.puzzles import from_canonical, parse
from unjam.puzzles.grid import Move, symmetries
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.rush import Rush
from unjam.search.encode import check_moves, run_kernel

ALGORITHMS = ("bfs", "astar", "idastar")


def klotski(random: Random) -> None:
    puzzle = raw.random_klotski(random, _size(random))
    metric = random.choice(["step", "slide", "path"])
    plain = partial(raw.solve_klotski, puzzle, metric)
    _search(random, kernels.klotski, kernels.check_klotski, [*puzzle], [[metric]], plain)


def rush(random: Random) -> None:
    puzzle = raw.random_rush(random, _size(random))
    metric = random.choice(["step", "slide"])
    _search(random, kernels.rush, kernels.check_rush, [*puzzle], [[metric]], partial(raw.solve_rush, puzzle, metric))


def parkout(random: Random) -> None:
    gates = random.random() < 0.5
    puzzle = raw.random_parkout(random, gates=gates, size=_size(random))

    def check(*arguments: Any) -> str:  # what is pruned is none of the checker's business
        return kernels.check_parkout(*arguments[:7], arguments[-1])

    _search(random, kernels.parkout, check, [*puzzle], [[False], [True]], partial(raw.solve_parkout, puzzle))


def klotski_components(random: Random) -> None:
    """A board on its side has the same components."""
    width, height, empty = random.randint(1, 5), random.randint(1, 4), random.randint(0, 4)
    limits = some_limits(random)
    if random.random() < 0.4:
        attempt(kernels.klotski_components, *spoilt(random, [width, height, empty]), limits, kernels.Control())
        return
    found = kernels.klotski_components(width, height, empty, limits, kernels.Control())
    aside = kernels.klotski_components(height, width, empty, AMPLE, kernels.Control())
    assert aside.reason == ""
    assert found.sizes == (aside.sizes if found.reason == "" else [])


def rush_form(random: Random) -> None:
    """A board is read as the rules read it, or left to them."""
    fields = RANDOM_BOARDS["rush"](random) | {"exit": random.choice(["", "right", "left", "top", "bottom"])}
    rows = fields["board"] if isinstance(fields["board"], list) else fields["board"].split("/")
    board = random.choice(["/", ""]).join(rows)
    if random.random() < 0.4:
        board, exit = spoilt(random, [board, fields["exit"]])
        attempt(kernels.rush_form, board, exit)
        return
    form = kernels.rush_form(board, fields["exit"])
    try:
        puzzle = Rush.parse(board, exit=fields["exit"] or None)
    except ParseError:
        assert form is None
        return
    if form is not None:
        width, height, text, exit, symmetry, canonical = form
        assert Rush(width, height, text, exit) == puzzle
        assert symmetries(width, height)[symmetry] == puzzle.to_canonical
        assert puzzle.canonical == f'{{"board":"{canonical}","exit":"right"}}'


def rush_many(random: Random) -> None:
    """The same answers as one by one."""
    puzzles = [parse("rush", **RANDOM_BOARDS["rush"](random)) for _ in range(random.randrange(4))]
    boards = [from_canonical("rush", puzzle.canonical) for puzzle in puzzles]
    texts = ["/".join(board.format().splitlines()) for board in boards]
    metric, limits = random.choice(["step", "slide"]), some_limits(random)
    if random.random() < 0.4:
        arguments = spoilt(random, [texts, metric])
        attempt(kernels.rush_many, *arguments, limits, random.choice([0.0, 1e9]), kernels.Control())
        return
    found = kernels.rush_many(texts, metric, limits, 1e9, kernels.Control())
    assert len(found) == len(boards)
    for board, (result, seconds, cpu) in zip(boards, found, strict=True):
        assert seconds >= 0 <= cpu
        if result is None:
            assert board.unsolvable_reason() is not None or "/" not in board.canonical
            continue
        sound(result, limits, partial(check_moves, board, metric))
        if limits.seconds == inf:
            alone = run_kernel(board, metric, "bfs", None, False, limits, kernels.Control())
            assert (result.outcome, result.moves, result.generated) == (alone.outcome, alone.moves, alone.generated)


def check_klotski(random: Random) -> None:
    _check(random, "klotski", kernels.check_klotski, [*raw.random_klotski(random), random.choice(["step", "path"])])


def check_rush(random: Random) -> None:
    _check(random, "rush", kernels.check_rush, [*raw.random_rush(random), random.choice(["step", "slide"])])


def check_parkout(random: Random) -> None:
    _check(random, "parkout", kernels.check_parkout, [*raw.random_parkout(random, gates=True)])


def check_tiles(random: Random) -> None:
    cells = random.sample(range(9), 9)
    _check(random, "tiles", kernels.check_tiles, [3, 3, cells, random.randrange(9), random.choice(["step", "slide"])])


def _size(random: Random) -> tuple[int, int] | None:
    """Now and then a large board, up to 128 cells; None is a small one."""
    if random.random() < 0.8:
        return None
    width = random.choice([2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 25, 43])
    return width, random.randint(2, max(min(128 // width, 16), 2))


def _search(
    random: Random,
    search: Callable[..., kernels.Result],
    check: Callable[..., str],
    puzzle: list[Any],
    ways: list[list[Any]],
    plain: Callable[[], int | None],
) -> None:
    """``ways``: further arguments that must not change the answer."""
    limits, how, algorithm = some_limits(random), random.choice(ways), random.choice(ALGORITHMS)
    if random.random() < 0.4:
        *arguments, algorithm = spoilt(random, [*puzzle, *how, algorithm])
        result = attempt(search, *arguments, algorithm, limits, kernels.Control())
        if result is not None:
            sound(result, limits, lambda moves: check(*arguments, moves))
        return
    result = search(*puzzle, *how, algorithm, limits, kernels.Control())
    sound(result, limits, lambda moves: check(*puzzle, *how, moves))
    agree(result, search(*puzzle, *random.choice(ways), random.choice(ALGORITHMS), AMPLE, kernels.Control()))
    if result.outcome != "bounded" and random.random() < 0.1:
        try:
            expected = plain()
        except raw.TooLarge:
            return
        assert result.length == (-1 if expected is None else expected)


def _check(random: Random, family: str, check: Callable[..., str], nonsense: list[Any]) -> None:
    if random.random() < 0.3:
        moves = [(random.randrange(9), random.randrange(-1, 9)) for _ in range(random.randrange(4))]
        attempt(check, *spoilt(random, [*nonsense, moves]))
        return
    puzzle = parse(family, **RANDOM_BOARDS[family](random))
    metric = random.choice(puzzle.metrics)
    heuristic = "manhattan" if family == "tiles" else None
    algorithm = "idastar" if family == "tiles" else "bfs"
    moves = run_kernel(puzzle, metric, algorithm, heuristic, False, AMPLE, kernels.Control()).moves
    for _ in range(random.choice([0, 1, 1, 2])):
        moves = corrupted(random, moves)
    moves = [move for move in moves if isinstance(move, tuple) and len(move) == 2 and max(map(abs, move)) < 2**31]
    said = check_moves(puzzle, metric, moves)
    assert (said == "") == _leads_to_the_goal(puzzle, metric, moves), (said, puzzle, metric, moves)


def _leads_to_the_goal(puzzle: Puzzle, metric: Metric, moves: list[tuple[int, int]]) -> bool:
    state = puzzle.start()
    for move in moves:
        try:
            state = puzzle.apply(state, Move(*move), metric)
        except IllegalMove:
            return False
    return puzzle.is_goal(state)
