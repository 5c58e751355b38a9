"""Levels of a family in the order of their puzzles by optimum: a page of them reads no more than it shows."""

import sqlalchemy as sa
from alembic import op

from migrations import beside_the_work

revision = "0005"
down_revision = "0004"

NEW, OLD = "solution_family_metric_length_puzzle_id_idx", "solution_family_metric_length_idx"
KNOWN = sa.text("length IS NOT NULL")


def upgrade() -> None:
    with beside_the_work():
        op.drop_index(NEW, "solution", postgresql_concurrently=True, if_exists=True)
        columns = ["family", "metric", "length", "puzzle_id"]
        op.create_index(NEW, "solution", columns, postgresql_where=KNOWN, postgresql_concurrently=True)
        op.drop_index(OLD, "solution", postgresql_concurrently=True, if_exists=True)


def downgrade() -> None:
    op.create_index(OLD, "solution", ["family", "metric", "length"], postgresql_where=KNOWN)
    op.drop_index(NEW, "solution")
