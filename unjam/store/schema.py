"""The tables. migrations/ builds them; a test holds both together. Checks guard what no code may break.

Puzzles are never deleted. Tables with a row for each level of a batch, or each search, do not refer to them by a
foreign key: it would cost as much as the row itself, which is made by a join with the puzzle.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

REVISION = "0008"  # the newest migration, so that an up-to-date database is known without importing Alembic

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    }
)


def _now() -> Column[object]:
    return Column("created", DateTime(timezone=True), nullable=False, server_default=func.now())


# One row a puzzle in canonical form: mirror images and renamed pieces share it.
puzzle = Table(
    "puzzle",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("family", Text, nullable=False),
    Column("rules_version", SmallInteger, nullable=False),
    Column("width", SmallInteger, nullable=False),
    Column("height", SmallInteger, nullable=False),
    Column("pieces", SmallInteger, nullable=False),
    Column("canonical", Text, nullable=False),
    _now(),
    CheckConstraint("octet_length(key) = 16", "key_bytes"),
    CheckConstraint("width > 0 AND height > 0 AND pieces >= 0", "size"),
)

# The best answer known to a puzzle in a metric. Moves are two bytes each, (cell, to) in canonical form, 255 for OUT.
solution = Table(
    "solution",
    metadata,
    Column("puzzle_id", BigInteger, ForeignKey("puzzle.id"), primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("family", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("length", Integer),
    Column("lower", Integer),
    Column("upper", Integer),
    Column("moves", LargeBinary),
    Column("reason", Text),
    Column("expanded", BigInteger, nullable=False),
    Column("generated", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("algorithm", Text),
    Column("heuristic", Text),
    Column("pruned", Boolean),
    Column("budget_seconds", Double),
    Column("budget_nodes", BigInteger),
    Column("budget_bytes", BigInteger),
    _now(),
    CheckConstraint("metric IN ('step', 'slide', 'path')", "metric"),
    CheckConstraint("outcome IN ('optimal', 'unsolvable', 'bounded', 'failed')", "outcome"),
    CheckConstraint("(outcome = 'optimal') = (length IS NOT NULL)", "length"),
    CheckConstraint("length IS NULL OR (lower = length AND upper = length AND moves IS NOT NULL)", "optimal"),
    CheckConstraint("outcome <> 'unsolvable' OR (lower IS NULL AND upper IS NULL AND moves IS NULL)", "unsolvable"),
    CheckConstraint("outcome <> 'bounded' OR lower IS NOT NULL", "bounded"),
    CheckConstraint("lower >= 0 AND lower <= upper", "bounds"),
    CheckConstraint("octet_length(moves) = 2 * upper", "moves"),
    Index(None, "family", "metric", "length", "puzzle_id", postgresql_where=text("length IS NOT NULL")),
)

# Every search that was run, for good: what it cost and how it ended.
attempt = Table(
    "attempt",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("puzzle_id", BigInteger, nullable=False, index=True),
    Column("metric", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("reason", Text),
    Column("algorithm", Text),
    Column("heuristic", Text),
    Column("expanded", BigInteger, nullable=False),
    Column("generated", BigInteger, nullable=False),
    Column("peak_states", BigInteger, nullable=False),
    Column("peak_bytes", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("cpu_seconds", Double, nullable=False),
    Column("profile", ARRAY(BigInteger), nullable=False),
    Column("worker", Text, nullable=False),
    Column("version", Text, nullable=False),
    _now(),
)

# Who may use the API from elsewhere. Of the secret, `prefix` is what is shown of it, and `digest` the sha256 of its 32
# bytes. A limit that is null is none. Keys are revoked, not deleted: batches name them.
api_key = Table(
    "api_key",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False, unique=True),
    Column("digest", LargeBinary, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("requests_per_minute", Integer),
    Column("batch_levels", Integer),
    _now(),
    Column("last_used", DateTime(timezone=True)),
    Column("revoked", DateTime(timezone=True)),
    CheckConstraint("octet_length(digest) = 32", "digest_bytes"),
    CheckConstraint("cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'submit', 'admin']", "scopes"),
    CheckConstraint("requests_per_minute > 0", "requests_per_minute"),
    CheckConstraint("batch_levels > 0", "batch_levels"),
)

# An order to solve many puzzles; its state follows from its chunks. Without key_id it was ordered on the service's own
# machine. idempotency_key is the order's name, which its sender uses again when it does not know whether the order was
# accepted; idempotency_digest is the sha256 of what was ordered under it.
batch = Table(
    "batch",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("name", Text),
    Column("queue", Text, nullable=False),
    Column("levels", Integer, nullable=False),
    Column("budget_seconds", Double),
    Column("budget_nodes", BigInteger),
    Column("budget_bytes", BigInteger),
    Column("algorithm", Text),
    Column("heuristic", Text),
    Column("distributed", Boolean, nullable=False, server_default=text("false")),
    Column("key_id", BigInteger, ForeignKey("api_key.id")),
    Column("idempotency_key", Text),
    Column("idempotency_digest", LargeBinary),
    _now(),
    Column("cancelled", DateTime(timezone=True)),
    CheckConstraint("queue IN ('interactive', 'bulk')", "queue"),
    CheckConstraint("levels >= 0", "levels"),
    CheckConstraint("(idempotency_key IS NULL) = (idempotency_digest IS NULL)", "idempotency"),
    Index(None, "key_id", "id"),
    Index(
        "batch_idempotency_idx",
        text("coalesce(key_id, 0)"),
        "idempotency_key",
        unique=True,
        postgresql_where=text("idempotency_key IS NOT NULL"),
    ),
)

# The levels of a batch in the user's order, orientation and letters, duplicates and bad entries included.
# symmetry is the place in grid.symmetries(width, height) of the one that leads to the canonical form.
batch_item = Table(
    "batch_item",
    metadata,
    Column("batch_id", BigInteger, ForeignKey("batch.id", ondelete="CASCADE"), primary_key=True),
    Column("index", Integer, primary_key=True),
    Column("line", Integer, nullable=False),
    Column("name", Text),
    Column("tags", ARRAY(Text), nullable=False),
    Column("known", JSON, nullable=False),
    Column("puzzle_id", BigInteger),
    Column("metric", Text),
    Column("symmetry", SmallInteger),
    Column("fields", JSON),
    Column("error", Text),
    CheckConstraint(
        "num_nulls(puzzle_id, metric, symmetry, fields) = CASE WHEN error IS NULL THEN 0 ELSE 4 END", "error"
    ),
    CheckConstraint("symmetry BETWEEN 0 AND 7", "symmetry"),
)

# How far a search is that many workers share (unjam/search/split.py). It goes when there is a proof, or another came
# farther; it stays when the batch is cancelled, or its budget ended. interior: by f, the nodes expanded and generated
# above the units. earlier_*: what was spent for batches before this one.
checkpoint = Table(
    "checkpoint",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("batch_id", BigInteger, ForeignKey("batch.id", ondelete="CASCADE"), nullable=False),
    Column("puzzle_id", BigInteger, ForeignKey("puzzle.id"), nullable=False),
    Column("metric", Text, nullable=False),
    Column("heuristic", Text, nullable=False),
    Column("pattern_table", Text),
    Column("bound", Integer, nullable=False),
    Column("profile", ARRAY(BigInteger), nullable=False),
    Column("interior", JSON, nullable=False),
    Column("expanded", BigInteger, nullable=False),
    Column("bound_generated", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("cpu_seconds", Double, nullable=False),
    Column("upper", Integer),
    Column("moves", LargeBinary),
    Column("earlier_seconds", Double, nullable=False, server_default="0"),
    Column("earlier_generated", BigInteger, nullable=False, server_default="0"),
    _now(),
    UniqueConstraint("batch_id", "puzzle_id", "metric"),
    Index(None, "puzzle_id"),
    CheckConstraint("(upper IS NULL) = (moves IS NULL)", "upper"),
)

# What one worker takes at a time. attempts counts leases; lease_token tells the present holder from earlier ones, and
# leased is when it took the chunk. With a checkpoint it is a slice of that search. levels: how many of the batch wait
# for it, as of the last time they were counted; of a slice 0, as `pending` knows them.
chunk = Table(
    "chunk",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("batch_id", BigInteger, ForeignKey("batch.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("queue", Text, nullable=False),
    Column("state", Text, nullable=False, server_default="waiting"),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("worker", Text),
    Column("lease_token", Uuid),
    Column("lease_expires", DateTime(timezone=True)),
    Column("leased", DateTime(timezone=True)),
    Column("levels", Integer, nullable=False, server_default="0"),
    Column("announced", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("checkpoint_id", BigInteger, ForeignKey("checkpoint.id", ondelete="SET NULL"), index=True),
    _now(),
    Column("finished", DateTime(timezone=True)),
    CheckConstraint("state IN ('waiting', 'leased', 'done', 'cancelled')", "state"),
    CheckConstraint("(state = 'leased') = (lease_token IS NOT NULL AND lease_expires IS NOT NULL)", "lease"),
    CheckConstraint("(state IN ('done', 'cancelled')) = (finished IS NOT NULL)", "finished"),
    Index("chunk_waiting_idx", "queue", "batch_id", "id", postgresql_where=text("state = 'waiting'")),
    Index("chunk_leased_idx", "lease_expires", postgresql_where=text("state = 'leased'")),
)

# When a batch was last worked on: batches take turns, and so do their owners. After a crash all begin anew.
turn = Table(
    "turn",
    metadata,
    Column("batch_id", BigInteger, ForeignKey("batch.id", ondelete="CASCADE"), primary_key=True),
    Column("owner", BigInteger, nullable=False),  # batch.key_id, or 0
    Column("taken", DateTime(timezone=True), nullable=False),
    Index(None, "owner", "taken"),
    prefixes=["UNLOGGED"],
)

# What searches have taken by the size of the puzzle, from which chunks are cut.
cost = Table(
    "cost",
    metadata,
    Column("family", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("cells", SmallInteger, primary_key=True),
    Column("pieces", SmallInteger, primary_key=True),
    Column("solved", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
)

# Units of a shared search under the present bound, each its way, f and weight, and the nodes they took. The first
# `done` are searched, the next one as far as `resume`.
slice = Table(
    "slice",
    metadata,
    Column("chunk_id", BigInteger, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("checkpoint_id", BigInteger, ForeignKey("checkpoint.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("units", JSON, nullable=False),
    Column("nodes", JSON, nullable=False),
    Column("done", Integer, nullable=False, server_default="0"),
    Column("resume", Text, nullable=False, server_default=""),
    CheckConstraint("json_array_length(nodes) = json_array_length(units)", "nodes"),
    CheckConstraint("done BETWEEN 0 AND json_array_length(units)", "done"),
)

# The puzzles that a batch still waits for, how many of its levels they are, and the chunk they are in: that of the
# first slice, where workers share the search.
pending = Table(
    "pending",
    metadata,
    Column("batch_id", BigInteger, primary_key=True),
    Column("puzzle_id", BigInteger, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("levels", Integer, nullable=False, server_default="1"),
    Column("chunk_id", BigInteger, ForeignKey("chunk.id", ondelete="CASCADE"), nullable=False, index=True),
)

# Counts of what was done since the store was made (unjam/store/tally.py). Each is the sum of several rows, one a shard,
# lest all workers wait for one.
tally = Table(
    "tally",
    metadata,
    Column("name", Text, primary_key=True),
    Column("family", Text, primary_key=True),
    Column("outcome", Text, primary_key=True),
    Column("le", Double, primary_key=True),
    Column("shard", SmallInteger, primary_key=True, autoincrement=False),
    Column("amount", Double, nullable=False),
)

# What worker processes have done: puzzles answered, nodes generated, and those of the search they are at. They are
# forgotten a day after they were seen.
worker = Table(
    "worker",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seen", DateTime(timezone=True), nullable=False),
    Column("answered", BigInteger, nullable=False),
    Column("generated", BigInteger, nullable=False),
    Column("searching", BigInteger, nullable=False),
)
