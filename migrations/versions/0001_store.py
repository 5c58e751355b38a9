"""The store: puzzles, answers, batches and chunks."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "batch",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("levels", sa.Integer(), nullable=False),
        sa.Column("budget_seconds", sa.Double(), nullable=True),
        sa.Column("budget_nodes", sa.BigInteger(), nullable=True),
        sa.Column("budget_bytes", sa.BigInteger(), nullable=True),
        sa.Column("algorithm", sa.Text(), nullable=True),
        sa.Column("heuristic", sa.Text(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("cancelled", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("queue IN ('interactive', 'bulk')", name=op.f("batch_queue_check")),
        sa.CheckConstraint("levels >= 0", name=op.f("batch_levels_check")),
        sa.PrimaryKeyConstraint("id", name="batch_pkey"),
    )
    op.create_table(
        "puzzle",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("rules_version", sa.SmallInteger(), nullable=False),
        sa.Column("width", sa.SmallInteger(), nullable=False),
        sa.Column("height", sa.SmallInteger(), nullable=False),
        sa.Column("pieces", sa.SmallInteger(), nullable=False),
        sa.Column("canonical", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("octet_length(key) = 16", name=op.f("puzzle_key_bytes_check")),
        sa.CheckConstraint("width > 0 AND height > 0 AND pieces >= 0", name=op.f("puzzle_size_check")),
        sa.PrimaryKeyConstraint("id", name="puzzle_pkey"),
        sa.UniqueConstraint("key", name="puzzle_key_key"),
    )
    op.create_table(
        "attempt",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("puzzle_id", sa.BigInteger(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("algorithm", sa.Text(), nullable=True),
        sa.Column("heuristic", sa.Text(), nullable=True),
        sa.Column("expanded", sa.BigInteger(), nullable=False),
        sa.Column("generated", sa.BigInteger(), nullable=False),
        sa.Column("peak_states", sa.BigInteger(), nullable=False),
        sa.Column("peak_bytes", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("cpu_seconds", sa.Double(), nullable=False),
        sa.Column("profile", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["puzzle_id"], ["puzzle.id"], name="attempt_puzzle_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="attempt_pkey"),
    )
    op.create_index("attempt_puzzle_id_idx", "attempt", ["puzzle_id"], unique=False)
    op.create_table(
        "batch_item",
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("known", sa.JSON(), nullable=False),
        sa.Column("puzzle_id", sa.BigInteger(), nullable=True),
        sa.Column("metric", sa.Text(), nullable=True),
        sa.Column("symmetry", sa.SmallInteger(), nullable=True),
        sa.Column("fields", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "num_nulls(puzzle_id, metric, symmetry, fields) = CASE WHEN error IS NULL THEN 0 ELSE 4 END",
            name=op.f("batch_item_error_check"),
        ),
        sa.CheckConstraint("symmetry BETWEEN 0 AND 7", name=op.f("batch_item_symmetry_check")),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name="batch_item_batch_id_fkey", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["puzzle_id"], ["puzzle.id"], name="batch_item_puzzle_id_fkey"),
        sa.PrimaryKeyConstraint("batch_id", "index", name="batch_item_pkey"),
    )
    op.create_table(
        "chunk",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.Uuid(), nullable=True),
        sa.Column("lease_expires", sa.DateTime(timezone=True), nullable=True),
        sa.Column("announced", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(state = 'leased') = (lease_token IS NOT NULL AND lease_expires IS NOT NULL)",
            name=op.f("chunk_lease_check"),
        ),
        sa.CheckConstraint(
            "(state IN ('done', 'cancelled')) = (finished IS NOT NULL)", name=op.f("chunk_finished_check")
        ),
        sa.CheckConstraint("state IN ('waiting', 'leased', 'done', 'cancelled')", name=op.f("chunk_state_check")),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name="chunk_batch_id_fkey", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="chunk_pkey"),
    )
    op.create_index("chunk_batch_id_idx", "chunk", ["batch_id"], unique=False)
    op.create_index(
        "chunk_leased_idx", "chunk", ["lease_expires"], unique=False, postgresql_where=sa.text("state = 'leased'")
    )
    op.create_index(
        "chunk_waiting_idx",
        "chunk",
        [sa.literal_column("queue DESC"), "id"],
        unique=False,
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_table(
        "solution",
        sa.Column("puzzle_id", sa.BigInteger(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=True),
        sa.Column("lower", sa.Integer(), nullable=True),
        sa.Column("upper", sa.Integer(), nullable=True),
        sa.Column("moves", sa.LargeBinary(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("expanded", sa.BigInteger(), nullable=False),
        sa.Column("generated", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("algorithm", sa.Text(), nullable=True),
        sa.Column("heuristic", sa.Text(), nullable=True),
        sa.Column("pruned", sa.Boolean(), nullable=True),
        sa.Column("budget_seconds", sa.Double(), nullable=True),
        sa.Column("budget_nodes", sa.BigInteger(), nullable=True),
        sa.Column("budget_bytes", sa.BigInteger(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("(outcome = 'optimal') = (length IS NOT NULL)", name=op.f("solution_length_check")),
        sa.CheckConstraint("metric IN ('step', 'slide', 'path')", name=op.f("solution_metric_check")),
        sa.CheckConstraint("outcome <> 'bounded' OR lower IS NOT NULL", name=op.f("solution_bounded_check")),
        sa.CheckConstraint(
            "outcome <> 'unsolvable' OR (lower IS NULL AND upper IS NULL AND moves IS NULL)",
            name=op.f("solution_unsolvable_check"),
        ),
        sa.CheckConstraint(
            "outcome IN ('optimal', 'unsolvable', 'bounded', 'failed')", name=op.f("solution_outcome_check")
        ),
        sa.CheckConstraint(
            "length IS NULL OR (lower = length AND upper = length AND moves IS NOT NULL)",
            name=op.f("solution_optimal_check"),
        ),
        sa.CheckConstraint("lower >= 0 AND lower <= upper", name=op.f("solution_bounds_check")),
        sa.CheckConstraint("octet_length(moves) = 2 * upper", name=op.f("solution_moves_check")),
        sa.ForeignKeyConstraint(["puzzle_id"], ["puzzle.id"], name="solution_puzzle_id_fkey"),
        sa.PrimaryKeyConstraint("puzzle_id", "metric", name="solution_pkey"),
    )
    op.create_index(
        "solution_family_metric_length_idx",
        "solution",
        ["family", "metric", "length"],
        unique=False,
        postgresql_where=sa.text("length IS NOT NULL"),
    )
    op.create_table(
        "pending",
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("puzzle_id", sa.BigInteger(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name="pending_batch_id_fkey", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name="pending_chunk_id_fkey", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["puzzle_id"], ["puzzle.id"], name="pending_puzzle_id_fkey"),
        sa.PrimaryKeyConstraint("batch_id", "puzzle_id", "metric", name="pending_pkey"),
    )
    op.create_index("pending_chunk_id_idx", "pending", ["chunk_id"], unique=False)


def downgrade() -> None:
    op.drop_index("pending_chunk_id_idx", table_name="pending")
    op.drop_table("pending")
    op.drop_index(
        "solution_family_metric_length_idx", table_name="solution", postgresql_where=sa.text("length IS NOT NULL")
    )
    op.drop_table("solution")
    op.drop_index("chunk_waiting_idx", table_name="chunk", postgresql_where=sa.text("state = 'waiting'"))
    op.drop_index("chunk_leased_idx", table_name="chunk", postgresql_where=sa.text("state = 'leased'"))
    op.drop_index("chunk_batch_id_idx", table_name="chunk")
    op.drop_table("chunk")
    op.drop_table("batch_item")
    op.drop_index("attempt_puzzle_id_idx", table_name="attempt")
    op.drop_table("attempt")
    op.drop_table("puzzle")
    op.drop_table("batch")
