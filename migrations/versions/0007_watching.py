"""What is watched: how much of a chunk is left and since when it is held, counts of what was done, and workers."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("chunk", sa.Column("leased", sa.DateTime(timezone=True), nullable=True))
    op.add_column("chunk", sa.Column("levels", sa.Integer(), server_default="0", nullable=False))
    op.add_column("pending", sa.Column("levels", sa.Integer(), server_default="1", nullable=False))
    op.execute(  # a level that is there twice counts as one in batches that run now
        "UPDATE chunk SET levels = p.levels FROM (SELECT chunk_id, count(*) AS levels FROM pending GROUP BY 1) p"
        " WHERE id = p.chunk_id AND checkpoint_id IS NULL AND state IN ('waiting', 'leased')"
    )
    op.create_table(
        "tally",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("le", sa.Double(), nullable=False),
        sa.Column("shard", sa.SmallInteger(), nullable=False),
        sa.Column("amount", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", "family", "outcome", "le", "shard", name="tally_pkey"),
    )
    op.create_table(
        "worker",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("generated", sa.BigInteger(), nullable=False),
        sa.Column("searching", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="worker_pkey"),
    )


def downgrade() -> None:
    op.drop_table("worker")
    op.drop_table("tally")
    op.drop_column("pending", "levels")
    op.drop_column("chunk", "levels")
    op.drop_column("chunk", "leased")
