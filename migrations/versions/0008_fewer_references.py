"""Puzzles are never deleted, chunks go with their batch: references are dropped that cost as much as the rows."""

from alembic import op

revision = "0008"
down_revision = "0007"

REFERENCES = {
    ("attempt", "puzzle_id"): ("puzzle", None),
    ("batch_item", "puzzle_id"): ("puzzle", None),
    ("pending", "puzzle_id"): ("puzzle", None),
    ("pending", "batch_id"): ("batch", "CASCADE"),
}


def upgrade() -> None:
    for table, column in REFERENCES:
        op.drop_constraint(f"{table}_{column}_fkey", table, type_="foreignkey")


def downgrade() -> None:
    for (table, column), (to, ondelete) in REFERENCES.items():
        op.create_foreign_key(f"{table}_{column}_fkey", table, to, [column], ["id"], ondelete=ondelete)
