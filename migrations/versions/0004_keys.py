"""API keys, whose batch is whose, and orders that can be sent again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "api_key",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("requests_per_minute", sa.Integer(), nullable=True),
        sa.Column("batch_levels", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("octet_length(digest) = 32", name=op.f("api_key_digest_bytes_check")),
        sa.CheckConstraint(
            "cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'submit', 'admin']", name=op.f("api_key_scopes_check")
        ),
        sa.CheckConstraint("requests_per_minute > 0", name=op.f("api_key_requests_per_minute_check")),
        sa.CheckConstraint("batch_levels > 0", name=op.f("api_key_batch_levels_check")),
        sa.PrimaryKeyConstraint("id", name="api_key_pkey"),
        sa.UniqueConstraint("prefix", name="api_key_prefix_key"),
    )
    op.add_column("batch", sa.Column("key_id", sa.BigInteger(), nullable=True))
    op.add_column("batch", sa.Column("idempotency_key", sa.Text(), nullable=True))
    op.add_column("batch", sa.Column("idempotency_digest", sa.LargeBinary(), nullable=True))
    op.create_foreign_key("batch_key_id_fkey", "batch", "api_key", ["key_id"], ["id"])
    op.create_check_constraint(
        op.f("batch_idempotency_check"), "batch", "(idempotency_key IS NULL) = (idempotency_digest IS NULL)"
    )
    op.create_index("batch_key_id_id_idx", "batch", ["key_id", "id"], unique=False)
    op.create_index(
        "batch_idempotency_idx",
        "batch",
        [sa.text("coalesce(key_id, 0)"), "idempotency_key"],
        unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("batch_idempotency_idx", table_name="batch")
    op.drop_index("batch_key_id_id_idx", table_name="batch")
    op.drop_column("batch", "idempotency_digest")
    op.drop_column("batch", "idempotency_key")
    op.drop_column("batch", "key_id")
    op.drop_table("api_key")
