"""Webhooks and their deliveries.

Revision: 2026_11_28_1750_webhooks
Follows: 2026_11_28_1720_kept_answers
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_28_1750_webhooks"
down_revision = "2026_11_28_1720_kept_answers"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("challenge_id", sa.Uuid()),
        sa.Column("url", sa.String(500), nullable=False),
        sa.Column("events", sa.String(200), nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(200), nullable=False),
        sa.Column("off_because", sa.String(20)),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_webhooks_user_id_users"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name=op.f("fk_webhooks_challenge_id_challenges"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_user_id"), "webhooks", ["user_id"])
    op.create_index(op.f("ix_webhooks_challenge_id"), "webhooks", ["challenge_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempted_at", UTCDateTime(timezone=True)),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.String(200)),
        sa.Column("ended_at", UTCDateTime(timezone=True)),
        sa.Column("is_delivered", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name=op.f("fk_webhook_deliveries_webhook_id_webhooks"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
    )
    is_pending = sa.text("ended_at IS NULL")
    op.create_index("ix_webhook_deliveries_webhook", "webhook_deliveries", ["webhook_id", "created_at"])
    op.create_index(op.f("ix_webhook_deliveries_created_at"), "webhook_deliveries", ["created_at"])
    op.create_index(
        "ix_webhook_deliveries_pending",
        "webhook_deliveries",
        ["webhook_id"],
        postgresql_where=is_pending,
        sqlite_where=is_pending,
    )
