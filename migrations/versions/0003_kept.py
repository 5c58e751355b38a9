"""Searches that are kept for a later order: what was spent before."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("checkpoint", sa.Column("earlier_seconds", sa.Double(), server_default="0", nullable=False))
    op.add_column("checkpoint", sa.Column("earlier_generated", sa.BigInteger(), server_default="0", nullable=False))
    op.create_index("checkpoint_puzzle_id_idx", "checkpoint", ["puzzle_id"], unique=False)


def downgrade() -> None:
    op.drop_index("checkpoint_puzzle_id_idx", table_name="checkpoint")
    op.drop_column("checkpoint", "earlier_generated")
    op.drop_column("checkpoint", "earlier_seconds")
