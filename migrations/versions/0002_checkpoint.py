"""Searches that many workers share: checkpoints and slices."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("batch", sa.Column("distributed", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_table(
        "checkpoint",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("puzzle_id", sa.BigInteger(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("heuristic", sa.Text(), nullable=False),
        sa.Column("pattern_table", sa.Text(), nullable=True),
        sa.Column("bound", sa.Integer(), nullable=False),
        sa.Column("profile", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("interior", sa.JSON(), nullable=False),
        sa.Column("expanded", sa.BigInteger(), nullable=False),
        sa.Column("bound_generated", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("cpu_seconds", sa.Double(), nullable=False),
        sa.Column("upper", sa.Integer(), nullable=True),
        sa.Column("moves", sa.LargeBinary(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("(upper IS NULL) = (moves IS NULL)", name=op.f("checkpoint_upper_check")),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name="checkpoint_batch_id_fkey", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["puzzle_id"], ["puzzle.id"], name="checkpoint_puzzle_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="checkpoint_pkey"),
        sa.UniqueConstraint("batch_id", "puzzle_id", "metric", name="checkpoint_batch_id_puzzle_id_metric_key"),
    )
    op.add_column("chunk", sa.Column("checkpoint_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(
        "chunk_checkpoint_id_fkey", "chunk", "checkpoint", ["checkpoint_id"], ["id"], ondelete="SET NULL"
    )
    op.create_index("chunk_checkpoint_id_idx", "chunk", ["checkpoint_id"], unique=False)
    op.create_table(
        "slice",
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("checkpoint_id", sa.BigInteger(), nullable=False),
        sa.Column("units", sa.JSON(), nullable=False),
        sa.Column("nodes", sa.JSON(), nullable=False),
        sa.Column("done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("resume", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("json_array_length(nodes) = json_array_length(units)", name=op.f("slice_nodes_check")),
        sa.CheckConstraint("done BETWEEN 0 AND json_array_length(units)", name=op.f("slice_done_check")),
        sa.ForeignKeyConstraint(
            ["checkpoint_id"], ["checkpoint.id"], name="slice_checkpoint_id_fkey", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name="slice_chunk_id_fkey", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chunk_id", name="slice_pkey"),
    )
    op.create_index("slice_checkpoint_id_idx", "slice", ["checkpoint_id"], unique=False)


def downgrade() -> None:
    op.drop_index("slice_checkpoint_id_idx", table_name="slice")
    op.drop_table("slice")
    op.drop_index("chunk_checkpoint_id_idx", table_name="chunk")
    op.drop_column("chunk", "checkpoint_id")
    op.drop_table("checkpoint")
    op.drop_column("batch", "distributed")
