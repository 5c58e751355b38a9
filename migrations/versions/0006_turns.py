"""Batches and their owners take turns; what searches cost, to cut chunks by."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "turn",
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.BigInteger(), nullable=False),
        sa.Column("taken", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name="turn_batch_id_fkey", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("batch_id", name="turn_pkey"),
        prefixes=["UNLOGGED"],
    )
    op.create_index("turn_owner_taken_idx", "turn", ["owner", "taken"])
    op.create_table(
        "cost",
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("cells", sa.SmallInteger(), nullable=False),
        sa.Column("pieces", sa.SmallInteger(), nullable=False),
        sa.Column("solved", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("family", "metric", "cells", "pieces", name="cost_pkey"),
    )
    op.drop_index("chunk_waiting_idx", "chunk")
    op.create_index(
        "chunk_waiting_idx",
        "chunk",
        ["queue", "batch_id", "id"],
        postgresql_where=sa.text("state = 'waiting'"),
    )


def downgrade() -> None:
    op.drop_index("chunk_waiting_idx", "chunk")
    op.create_index(
        "chunk_waiting_idx", "chunk", [sa.text("queue DESC"), "id"], postgresql_where=sa.text("state = 'waiting'")
    )
    op.drop_table("cost")
    op.drop_table("turn")
