"""Integers in, integers out. Cells are ``row * width + column``; a move is (cell, to), see unjam/puzzles/grid.py.

Every search releases the GIL, keeps within its limits and returns a Result; ``board`` lists for klotski, rush and
parkout hold a piece index (from 0), -1 (empty) or -2 (wall) for each cell. The ``check_`` functions share no code with
the searches: they replay moves on the plain grid and return "" when the moves are legal and end at the goal, else the
reason why not.
"""

from collections.abc import Sequence

class Control:
    """Live counters of a running search, and its cancel flag; made to be used from another thread."""

    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def expanded(self) -> int: ...
    @property
    def generated(self) -> int: ...
    @property
    def depth(self) -> int: ...

class Limits:
    """Infinity seconds and 2**64 - 1 nodes or bytes mean no limit."""

    def __init__(self, seconds: float, nodes: int, bytes: int) -> None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class Result:
    """``outcome`` is "optimal", "unsolvable" or "bounded"; ``length`` and ``upper`` are -1 where not known."""

    outcome: str
    reason: str  # bounded: "seconds", "nodes", "bytes" or "cancelled"
    length: int
    lower: int
    upper: int
    moves: list[tuple[int, int]]
    expanded: int
    generated: int
    peak_states: int
    peak_bytes: int
    profile: list[int]

def supports_v3() -> bool: ...

class PatternTable:
    """Pattern databases of one size of board and one goal of the blank, in bytes that somebody else keeps.

    ``blank_goal`` is the cell of the blank's goal mirrored into the upper left quarter. ``patterns`` are disjoint, at
    most 4 of at most 8 tiles, and hold every tile; a tile is called by its goal cell, mirrored alike. ``entries`` has
    ``pattern_entries`` bytes for each pattern. An entry of a compressed table is the least of the blank's regions.
    """

    def __init__(
        self,
        width: int,
        height: int,
        blank_goal: int,
        patterns: Sequence[Sequence[int]],
        compressed: bool,
        entries: memoryview,
    ) -> None: ...

def pattern_entries(width: int, height: int, tiles: int, compressed: bool) -> int: ...

# Fills the entries of one pattern. The reason why it stopped, "seconds", "nodes", "bytes" or "cancelled", or "".
# control.expanded counts the entries that are done.
def build_pattern(
    width: int,
    height: int,
    blank_goal: int,
    tiles: Sequence[int],
    compressed: bool,
    entries: memoryview,
    limits: Limits,
    control: Control,
) -> str: ...

# 64 bits; any change within 8 aligned bytes changes them.
def checksum(bytes: memoryview) -> int: ...

# An atlas: the distances modulo 3 of all solvable boards of up to 12 cells, in atlas_bytes; it serves all goals whose
# blank is in a mirrored place, and the transposed boards. Its rare layers are listed besides: `boards` holds 32 bits
# for each board of the depths below `early` and from `late` on.
class AtlasLayers:
    reason: str  # why it stopped: "seconds", "bytes" or "cancelled"; or ""
    counts: list[int]
    early: int
    late: int
    boards: bytes

def atlas_bytes(width: int, height: int) -> int: ...

# Fills a table of zeros. control.expanded counts the boards that are reached.
def build_atlas(
    width: int, height: int, blank_goal: int, metric: str, table: memoryview, limits: Limits, control: Control
) -> AtlasLayers: ...

class TilesAtlas:
    """An atlas in bytes that somebody else keeps, seen from boards of one frame: width, height and the blank's goal.

    Boards are as in ``tiles``. ValueError where the parts or a board do not fit, RuntimeError where the table is wrong.
    """

    def __init__(
        self,
        width: int,
        height: int,
        blank_goal: int,
        metric: str,
        table: memoryview,
        counts: Sequence[int],
        early: int,
        late: int,
        boards: memoryview,
    ) -> None: ...
    def distance(self, board: Sequence[int]) -> int: ...  # -1: unsolvable
    def solution(self, board: Sequence[int]) -> list[tuple[int, int]]: ...
    def is_listed(self, depth: int) -> bool: ...
    def listed(self, depth: int) -> list[list[int]]: ...
    def sample(self, depth: int, seed: int) -> list[int]: ...

# board[cell] is the goal cell of what lies there, the blank included; so the goal is the identity and blank_goal
# is the cell (and the name) of the blank. algorithm: bfs, two-way, astar, idastar; heuristic: manhattan,
# linear-conflict, walking-distance, pdb with a table, or none with bfs and two-way.
def tiles(
    width: int,
    height: int,
    board: Sequence[int],
    blank_goal: int,
    metric: str,
    algorithm: str,
    heuristic: str,
    limits: Limits,
    control: Control,
    table: PatternTable | None = None,
) -> Result: ...

# A solution of a solvable board in the same frame: tiles brought home one by one, whatever the limits, and within them
# beam searches for shorter ones, led by the table if there is one. Stops when no solution can be shorter: `lower` is a
# proven bound, which the result raises to the parity of its steps.
def tiles_upper(
    width: int,
    height: int,
    board: Sequence[int],
    blank_goal: int,
    metric: str,
    lower: int,
    limits: Limits,
    control: Control,
    table: PatternTable | None = None,
) -> Result: ...

class Unit:
    """What IDA* finds below the end of a way from the root, as many times as ``weight`` says.

    Plain IDA* comes there under bounds of at least ``f``. A way is the blank's directions in letters U, L, R, D, on the
    board mirrored so that the blank's goal lies in the upper left quarter.
    """

    def __init__(self, way: str, f: int, weight: int) -> None: ...
    @property
    def way(self) -> str: ...
    @property
    def f(self) -> int: ...
    @property
    def weight(self) -> int: ...

class Interior:
    """Nodes above the units that IDA* expands under bounds of at least ``f``, and their children."""

    f: int
    expanded: int
    generated: int

class Division:
    units: list[Unit]
    interior: list[Interior]

class Slice(Result):
    """What was done of some units: "optimal", "bounded", or "exhausted" when they have no solution under the bound.

    ``expanded`` and ``generated`` count by weight. ``done`` units are searched to their end; ``resume`` is the way of
    the node that comes next in the unit after those, "" where it was not begun. ``nodes`` were generated in each unit.
    """

    done: int
    resume: str
    nodes: list[int]

# The bound that IDA* in steps begins with.
def first_bound(
    width: int,
    height: int,
    board: Sequence[int],
    blank_goal: int,
    heuristic: str,
    table: PatternTable | None = None,
) -> int: ...

# Divides units of a search in steps, each into about so many pieces (1 or less: not at all); the whole search is
# Unit("", 0, 1). Equal units are merged. ValueError for ways that are not legal.
def divide(
    width: int,
    height: int,
    board: Sequence[int],
    blank_goal: int,
    heuristic: str,
    units: Sequence[Unit],
    pieces: Sequence[float],
    table: PatternTable | None = None,
) -> Division: ...

# Searches units in steps under one bound; the first goes on at `resume`, which an earlier slice gave. limits.nodes
# counts each node once, whatever its unit's weight.
def search_slice(
    width: int,
    height: int,
    board: Sequence[int],
    blank_goal: int,
    heuristic: str,
    bound: int,
    units: Sequence[Unit],
    resume: str,
    limits: Limits,
    control: Control,
    table: PatternTable | None = None,
) -> Slice: ...

# Whether the walking-distance tables of such boards are small enough (4x4 and most rectangles; not 4x5, 5x5, 6x6).
# Asking tiles() for walking-distance where they are not is a ValueError, as is linear-conflict with slide.
def walking_distance_fits(width: int, height: int, blank_goal: int) -> bool: ...
def check_tiles(
    width: int, height: int, board: Sequence[int], blank_goal: int, metric: str, moves: Sequence[tuple[int, int]]
) -> str: ...

# classes[piece]: pieces of one class are interchangeable. gates: cells that only pieces of gate_classes may cover.
# goal: (class, cell) pairs: some piece of that class has its first cell in row-major order at that cell; all must hold.
# Without a goal the whole component is explored: unsolvable, peak_states being its size (bfs with a goal searches only
# one of two mirror images where the puzzle is symmetric). algorithm: bfs, astar, idastar.
def klotski(
    width: int,
    height: int,
    board: Sequence[int],
    classes: Sequence[int],
    gates: Sequence[int],
    gate_classes: Sequence[int],
    goal: Sequence[tuple[int, int]],
    metric: str,
    algorithm: str,
    limits: Limits,
    control: Control,
) -> Result: ...

class KindComponents:
    """The sizes of the components in boards, the largest first; none where there is a ``reason``."""

    reason: str  # why it stopped: "seconds", "bytes" or "cancelled"; or ""
    sizes: list[int]

# All boards with one 2x2, any numbers of 1x2, 2x1 and 1x1 (those of one shape are alike) and at least so many empty
# cells, on up to 28 cells without walls. Boards are in one component if steps lead from one to the other.
# control.expanded counts the arrangements of all but the 1x1, three times over.
def klotski_components(width: int, height: int, empty: int, limits: Limits, control: Control) -> KindComponents: ...
def check_klotski(
    width: int,
    height: int,
    board: Sequence[int],
    classes: Sequence[int],
    gates: Sequence[int],
    gate_classes: Sequence[int],
    goal: Sequence[tuple[int, int]],
    metric: str,
    moves: Sequence[tuple[int, int]],
) -> str: ...

# goal_cell: where the primary's first cell in row-major order must be; -1: no goal, explore all.
def rush(
    width: int,
    height: int,
    board: Sequence[int],
    primary: int,
    goal_cell: int,
    metric: str,
    algorithm: str,
    limits: Limits,
    control: Control,
) -> Result: ...
def check_rush(
    width: int,
    height: int,
    board: Sequence[int],
    primary: int,
    goal_cell: int,
    metric: str,
    moves: Sequence[tuple[int, int]],
) -> str: ...

# Plain boards of rush as text, the rows with / between them or a square without: (width, height, board by rows without
# separators, exit, number of the symmetry that leads to the canonical form, its board with separators). None for a
# board that is wrong or unusual. exit is a side, or empty.
def rush_form(board: str, exit: str) -> tuple[int, int, str, str, int, str] | None: ...

# Breadth-first searches of boards whose exit is right, one after the other, until `seconds` have passed or the control
# is cancelled: what they gave, which may be less than was asked, each with its wall-clock and CPU seconds. Optimal ones
# have passed the checker; the outcome of one that has not is "failed". None: not searched, see what `rush` says.
def rush_many(
    boards: Sequence[str], metric: str, limits: Limits, seconds: float, control: Control
) -> list[tuple[Result | None, float, float]]: ...

# noses[piece]: 0 up, 1 right, 2 down, 3 left. fixed[piece]: cannot move and need not leave.
# opens, closes: for each edge slot (top left to right, right top to bottom, bottom left to right, left top to bottom;
# 2 * (width + height) slots) the exit is open while opens <= cars that have left < closes.
# prune: a car that can leave leaves now, unless one that is still there has an exit that closes sooner than its own.
# The upper bound of a bounded result comes with moves, as in tiles_upper.
def parkout(
    width: int,
    height: int,
    board: Sequence[int],
    noses: Sequence[int],
    fixed: Sequence[bool],
    opens: Sequence[int],
    closes: Sequence[int],
    prune: bool,
    algorithm: str,
    limits: Limits,
    control: Control,
) -> Result: ...
def check_parkout(
    width: int,
    height: int,
    board: Sequence[int],
    noses: Sequence[int],
    fixed: Sequence[bool],
    opens: Sequence[int],
    closes: Sequence[int],
    moves: Sequence[tuple[int, int]],
) -> str: ...

class Explored:
    """``table``: the positions of a level with their distances, for a LevelGraph; None if it stopped early."""

    reason: str  # why it stopped early: "seconds", "nodes", "bytes" or "cancelled"; or ""
    states: int
    expanded: int
    generated: int
    peak_bytes: int
    table: bytes | None

class LevelGraph:
    """A table, which it keeps alive, to be asked.

    ``anchors`` are the first cells in row-major order of all pieces, -1 for a car that has left. A position's value is
    -1 where it cannot be reached, 0 where no goal can be reached from it, else the moves to the nearest goal and one.
    ValueError where the anchors are too few or too many, and but for ``value`` where the position cannot be reached.
    """

    def value(self, anchors: Sequence[int]) -> int: ...
    def next_moves(self, anchors: Sequence[int]) -> list[tuple[int, int]]: ...  # all that lead nearer to a goal

    # How many shortest sequences of moves there are, as little-endian bytes, after the reason for stopping early or "".
    def solutions(self, anchors: Sequence[int], limits: Limits, control: Control) -> tuple[str, bytes]: ...
    def listed(self, value: int, most: int) -> list[list[int]]: ...  # anchors of positions of a value
    def counts(self) -> list[int]: ...  # positions of each value

# Arguments as of klotski, rush and parkout; a table belongs to the same arguments, the board included. ValueError where
# bytes are none.
def explore_klotski(
    width: int,
    height: int,
    board: Sequence[int],
    classes: Sequence[int],
    gates: Sequence[int],
    gate_classes: Sequence[int],
    goal: Sequence[tuple[int, int]],
    metric: str,
    limits: Limits,
    control: Control,
) -> Explored: ...
def explore_rush(
    width: int,
    height: int,
    board: Sequence[int],
    primary: int,
    goal_cell: int,
    metric: str,
    limits: Limits,
    control: Control,
) -> Explored: ...
def explore_parkout(
    width: int,
    height: int,
    board: Sequence[int],
    noses: Sequence[int],
    fixed: Sequence[bool],
    opens: Sequence[int],
    closes: Sequence[int],
    limits: Limits,
    control: Control,
) -> Explored: ...
def klotski_graph(
    width: int,
    height: int,
    board: Sequence[int],
    classes: Sequence[int],
    gates: Sequence[int],
    gate_classes: Sequence[int],
    goal: Sequence[tuple[int, int]],
    metric: str,
    table: bytes | memoryview,
) -> LevelGraph: ...
def rush_graph(
    width: int,
    height: int,
    board: Sequence[int],
    primary: int,
    goal_cell: int,
    metric: str,
    table: bytes | memoryview,
) -> LevelGraph: ...
def parkout_graph(
    width: int,
    height: int,
    board: Sequence[int],
    noses: Sequence[int],
    fixed: Sequence[bool],
    opens: Sequence[int],
    closes: Sequence[int],
    table: bytes | memoryview,
) -> LevelGraph: ...
