"""People are told on the site and by email what happens.

Revision: 2026_11_24_1855_notifications
Follows: 2026_11_24_1850_address
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_24_1855_notifications"
down_revision = "2026_11_24_1850_address"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables, and how email can be stopped."""
    op.create_table(
        "notifications",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=True),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("link", sa.String(length=500), nullable=False),
        sa.Column("once_key", sa.String(length=120), nullable=True),
        sa.Column("read_at", UTCDateTime(timezone=True), nullable=True),
        sa.Column("mailed_at", UTCDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_notifications_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_notifications_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notifications")),
        sa.UniqueConstraint("user_id", "once_key", name=op.f("uq_notifications_user_id_once_key")),
    )
    op.create_index(op.f("ix_notifications_challenge_id"), "notifications", ["challenge_id"])
    op.create_index("ix_notifications_user_id", "notifications", ["user_id", "created_at"])
    for name, columns, condition in (
        ("ix_notifications_unread", ["user_id"], sa.text("read_at IS NULL")),
        ("ix_notifications_to_mail", ["created_at"], sa.text("mailed_at IS NULL")),
    ):
        op.create_index(name, "notifications", columns, postgresql_where=condition, sqlite_where=condition)
    op.create_table(
        "notification_settings",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("by_email", sa.Boolean(), nullable=False),
        sa.Column("unsubscribe_token", sa.String(length=43), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_notification_settings_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "kind", name=op.f("pk_notification_settings")),
        sa.UniqueConstraint("unsubscribe_token", name=op.f("uq_notification_settings_unsubscribe_token")),
    )
    op.add_column("outbox", sa.Column("unsubscribe_url", sa.String(length=300), nullable=True))
