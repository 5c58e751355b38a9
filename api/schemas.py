"""What requests and answers look like; the same words as packs and results (docs/formats.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.errors import ApiError
from unjam.puzzles import FAMILIES
from unjam.search.solution import Budget, Outcome
from unjam.store.find import MOST_MOVES, Wanted

MetricName = Literal["step", "slide", "path"]
Family = Literal["tiles", "klotski", "rush", "parkout"]
Algorithm = Literal["bfs", "two-way", "astar", "idastar"]
Heuristic = Literal["manhattan", "linear-conflict", "walking-distance", "pdb"]
Count = Annotated[int, Field(gt=0, lt=2**63)]
Board = str | list[str] | list[int | None] | list[list[int | None]]

PLAIN = r"^[^\x00-\x1f\x7f-\x9f]*$"  # names are shown in terminals, which obey control characters
LONGEST_SECONDS = 7 * 86400

RUSH: dict[str, Any] = {"family": "rush", "board": "ooooooooooooAAoooBoooooBoooooooooooo", "known": {"slide": 2}}
TILES: dict[str, Any] = {
    "family": "tiles",
    "board": [[1, 2, 3], [4, 0, 6], [7, 5, 8]],
    "metric": "slide",
    "name": "two presses",
}


class Level(BaseModel):
    """One level: the fields of a JSON Lines pack."""

    # strict, as packs are: true is no 1
    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [RUSH, TILES]})

    family: Family
    board: Board = Field(description="The board as text, or as a list of rows.")
    goal: Board | None = Field(None, description="tiles: a board, `blank-last` or `blank-first`; klotski: a grid.")
    goal_mode: Literal["piece", "class"] | None = Field(None, description="klotski only.")
    exit: str | None = Field(None, description="rush only: `right`, `left`, `top` or `bottom`.")
    closed: str | list[str] | None = Field(None, description="parkout only: closed edges, such as `top:3`.")
    gates: list[dict[str, Any]] | str | list[str] | None = Field(
        None, description="parkout: edges that open or close; klotski: a grid that shows gates under pieces."
    )
    fixed: str | list[str] | None = Field(None, description="parkout only: cars that cannot move.")
    left: int | None = Field(None, ge=0, description="parkout only: cars that have left already, which gates count.")
    metric: MetricName | None = Field(None, description="What one move is; the family's default if not given.")
    name: str | None = None
    tags: list[str] | None = None
    known: dict[str, int | None] | None = Field(None, description="Move counts to check, by metric.")

    def fields(self) -> dict[str, Any]:
        """The level as it was given: only the fields that were."""
        return self.model_dump(include=set(Level.model_fields), exclude_unset=True, exclude_none=True)


class BudgetOrder(BaseModel):
    """What the search of one puzzle may spend."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seconds: float | None = Field(
        60.0,
        gt=0,
        le=LONGEST_SECONDS,
        allow_inf_nan=False,
        description="Time; of a search that workers share, the sum over all of them, as with nodes.",
    )
    nodes: Count | None = Field(None, description="Generated nodes.")
    bytes: Count | None = Field(2_000_000_000, description="Memory of the search; at most `UNJAM_MAX_BUDGET_BYTES`.")

    def budget(self, most_bytes: int) -> Budget:
        """The same for ``unjam.solve``, where no limit is the most there may be; refuses what is more."""
        if (self.bytes or 0) > most_bytes:
            message = f"A search may use {most_bytes:,} bytes here, not {self.bytes:,}."
            raise ApiError(422, "budget_too_large", message, bytes=self.bytes, most_bytes=most_bytes)
        return Budget(seconds=self.seconds, nodes=self.nodes, bytes=self.bytes or most_bytes)


class SearchOrder(BaseModel):
    """A batch order but for its levels."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = Field(None, max_length=200, pattern=PLAIN)
    metric: MetricName | None = Field(None, description="For all levels; without it, each level's own or its family's.")
    budget: BudgetOrder = Field(default_factory=BudgetOrder, description="For each puzzle.")
    algorithm: Algorithm | None = Field(None, description="Force an algorithm.")
    heuristic: Heuristic | None = Field(None, description="Force a heuristic.")
    distributed: bool = Field(
        False, description="Tiles, in steps: share each hard board among all workers at once, not after ten seconds."
    )


class BatchOrder(SearchOrder):
    """Levels to solve."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "first pack", "levels": [RUSH, TILES], "budget": {"seconds": 10}}]},
    )

    levels: list[dict[str, Any]] = Field(
        min_length=1, description="Levels. A bad one is reported among the results; the rest is solved."
    )


class PackOptions(BaseModel):
    """What the query says about a pack in the body."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(None, max_length=200, pattern=PLAIN)
    metric: MetricName | None = None
    seconds: float | None = Field(60.0, gt=0, le=LONGEST_SECONDS, allow_inf_nan=False)
    nodes: Count | None = None
    bytes: Count | None = 2_000_000_000
    algorithm: Algorithm | None = None
    heuristic: Heuristic | None = None
    distributed: bool = False
    family: Family | None = Field(None, description="The family of levels that do not name theirs.")
    format: Literal["jsonl", "csv", "text", "lines"] | None = Field(None, description="Overrides the content type.")

    def order(self) -> SearchOrder:
        """The same as a JSON order would say it."""
        budget = BudgetOrder(seconds=self.seconds, nodes=self.nodes, bytes=self.bytes)
        return SearchOrder(
            name=self.name,
            metric=self.metric,
            budget=budget,
            algorithm=self.algorithm,
            heuristic=self.heuristic,
            distributed=self.distributed,
        )


class SolveOrder(Level):
    """One level to solve, now."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{**RUSH, "wait": 5, "budget": {"seconds": 5}}]}
    )

    budget: BudgetOrder = Field(default_factory=BudgetOrder)
    algorithm: Algorithm | None = None
    heuristic: Heuristic | None = None
    wait: float = Field(10.0, ge=0, le=60, allow_inf_nan=False, description="Seconds to wait for the answer.")


class HintBudget(BudgetOrder):
    """What the search for a hint may spend; the client waits as long."""

    seconds: float = Field(10.0, gt=0, le=60, allow_inf_nan=False)
    bytes: Count = Field(1_000_000_000, description="Memory of the search; at most `UNJAM_MAX_BUDGET_BYTES`.")


class HintOrder(Level):
    """A position in the middle of play, or the start of a level."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{**RUSH, "metric": "step", "budget": {"seconds": 5}}]}
    )

    budget: HintBudget = Field(default_factory=HintBudget)


class LookupOrder(BaseModel):
    """Puzzles to look up, in any orientation."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"puzzles": [RUSH, TILES]}]})

    puzzles: list[dict[str, Any]] = Field(
        min_length=1, max_length=10_000, description="Levels; `metric` asks for one metric, else all are told."
    )


BATCH: dict[str, Any] = {
    "id": 7,
    "name": "first pack",
    "key": "level editor",
    "queue": "bulk",
    "state": "running",
    "levels": 2000,
    "done": 1200,
    "waiting_chunks": 3,
    "running_chunks": 2,
    "oldest_waiting": "2026-11-29T12:00:00Z",
    "created": "2026-11-29T12:00:00Z",
    "finished": None,
}
CAME_OF_IT = {"bad": 4, "outcomes": {"optimal": 1190, "unsolvable": 6}, "expanded": 8123456, "seconds": 41.5}


class BatchProgress(BaseModel):
    """A batch and how far it is."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [BATCH]})

    id: int = Field(validation_alias="batch_id")
    name: str | None
    key: str | None = Field(description="Name of the API key it was ordered with; null: on the service's own machine.")
    queue: Literal["interactive", "bulk"]
    state: Literal["running", "done", "cancelled"]
    levels: int = Field(description="All levels of the batch, bad entries included.")
    done: int = Field(description="Levels that need no more work, bad entries included.")
    waiting_chunks: int = Field(description="Parts of the batch that wait for a worker.")
    running_chunks: int = Field(description="Parts of the batch that a worker has.")
    oldest_waiting: datetime | None = Field(description="Since when the oldest part waits.")
    created: datetime
    finished: datetime | None


class Batch(BatchProgress):
    """A batch, how far it is and what came of it."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [BATCH | CAME_OF_IT]})

    bad: int = Field(description="Entries that are no levels; the results say why.")
    outcomes: dict[str, int] = Field(description="Levels by outcome; when cancelled, all of which something is known.")
    expanded: int = Field(description="Nodes expanded for the batch.")
    seconds: float = Field(description="Time spent searching, added up over the workers.")


class BatchList(BaseModel):
    """Batches, the newest first."""

    batches: list[BatchProgress]
    next: int | None = Field(description="The `before` of the next page; null on the last page.")


class Result(BaseModel):
    """The answer to one level, in its own letters and orientation; a bad entry has `index`, `line`, `name`, `error`."""

    index: int
    name: str | None = None
    line: int | None = None
    error: str | None = None
    family: Family | None = None
    metric: MetricName | None = None
    key: str | None = Field(None, description="32 hexadecimal digits.")
    outcome: Outcome | None = Field(None, description="null while the level waits.")
    length: int | None = None
    lower: int | None = None
    upper: int | None = None
    moves: list[str] | None = None
    expanded: int | None = None
    generated: int | None = None
    seconds: float | None = None
    algorithm: str | None = None
    heuristic: str | None = None
    pruned: bool | None = Field(None, description="parkout: whether cars that could leave left at once.")
    reason: str | None = None
    known: dict[str, int | None] | None = None
    known_ok: bool | None = None


class ResultPage(BaseModel):
    """Results in the batch's order."""

    results: list[Result]
    next: int | None = Field(description="The `after` of the next page; null on the last page.")


class Solved(BaseModel):
    """A single solve: its batch, and its result once there is one."""

    batch: Batch
    result: Result | None


class NextMove(BaseModel):
    """A move in the notation of the family, and in cells."""

    move: str
    cell: int = Field(description="What covers this cell moves; cells are counted from 0 by rows.")
    to: int | None = Field(description="Where it comes to; null if the car leaves.")


class HintAnswer(BaseModel):
    """What to do next in a position."""

    metric: MetricName
    outcome: Outcome = Field(description="optimal: proven; unsolvable: a dead end; bounded: not within the budget.")
    moves_left: int | None = Field(description="Proven; 0 at the goal.")
    lower: int | None
    upper: int | None
    moves: list[NextMove] = Field(description="Next moves of shortest solutions; none unless the outcome is optimal.")
    complete: bool = Field(description="Whether `moves` are all optimal next moves.")
    unproven: NextMove | None = Field(
        description="bounded: the first move of the best solution found, of `upper` moves; it may not be optimal."
    )
    source: Literal["rules", "atlas", "store", "search"]
    reason: str | None
    seconds: float


class Answer(BaseModel):
    """What the store knows about a puzzle in one metric."""

    model_config = ConfigDict(extra="allow")

    metric: MetricName
    outcome: Outcome
    length: int | None = None
    lower: int | None = None
    upper: int | None = None
    moves: list[str] | None = None


class Found(BaseModel):
    """The stored answers to one puzzle, or the reason why an entry is no level."""

    index: int
    key: str | None = None
    answers: list[Answer] = Field(default_factory=list)
    error: str | None = None


class LookupResults(BaseModel):
    """One for each puzzle asked, in order."""

    results: list[Found]


class FindOptions(BaseModel):
    """Which levels to find."""

    model_config = ConfigDict(extra="forbid")

    family: Family
    metric: MetricName | None = Field(None, description="The family's default if not given.")
    min: int = Field(0, ge=0, le=MOST_MOVES, description="Fewest moves of a shortest solution.")
    max: int = Field(MOST_MOVES, ge=0, le=MOST_MOVES, description="Most moves of a shortest solution.")
    size: str | None = Field(None, pattern="^[0-9]{1,2}x[0-9]{1,2}$", description="For example `6x5`; also finds 5x6.")
    pieces: int | None = Field(None, ge=0, le=1000, description="How many pieces there are.")
    limit: int = Field(20, ge=1, le=1000, description="Levels at most.")
    seed: int | None = Field(
        None, ge=0, lt=2**63, description="Begin anywhere in the store: another seed, other levels. Not with `after`."
    )
    after: str | None = Field(None, pattern="^[0-9]{1,18}-[0-9]{1,18}$", description="The `next` of the page before.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.min > self.max:
            raise ValueError("min is more than max")
        if self.seed is not None and self.after is not None:
            raise ValueError("after goes on from where seed began: give one of them")
        return self

    def wanted(self) -> Wanted:
        """The same for the store; raises MetricError."""
        size = None
        if self.size is not None:
            width, height = map(int, self.size.split("x"))
            size = width, height
        metric = FAMILIES[self.family].check_metric(self.metric)
        return Wanted(self.family, metric, self.min, self.max, size, self.pieces)


class LevelPage(BaseModel):
    """Levels of the store, as entries of a pack: named by their keys, and with the optimum as `known`."""

    levels: list[dict[str, Any]]
    next: str | None = Field(description="The `after` of the next page; null at the end.")


class StoredPuzzle(BaseModel):
    """A puzzle of the store, in its canonical form."""

    key: str
    family: Family
    puzzle: dict[str, Any] = Field(description="The canonical puzzle as fields of a pack entry.")
    answers: list[Answer]


class Health(BaseModel):
    """`ok` or `ready`, and what was checked."""

    status: str
    checks: dict[str, str] = Field(default_factory=dict)
