"""Accounts count once their e-mail address is confirmed; e-mail waits in an outbox.

Revision: 2026_11_21_confirmed_addresses
Follows: 2026_11_21_name_operators
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_confirmed_addresses"
down_revision = "2026_11_21_name_operators"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Accounts that operators created, and all organisers, are confirmed; who registered has to confirm the address."""
    with op.batch_alter_table("users") as users:
        users.add_column(sa.Column("email_confirmed_at", INSTANT, nullable=True))
        users.add_column(sa.Column("approved_at", INSTANT, nullable=True))
    op.execute("UPDATE users SET approved_at = created_at")
    op.execute(
        "UPDATE users SET email_confirmed_at = created_at WHERE role <> 'participant'"
        " OR id IN (SELECT object_id FROM audit_events WHERE action = 'user.create')"
    )
    op.create_table(
        "email_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_email_links_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_email_links"),
        sa.UniqueConstraint("token_hash", name="uq_email_links_token_hash"),
    )
    op.create_index("ix_email_links_user_id", "email_links", ["user_id"])
    op.create_table(
        "outbox",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("sent_at", INSTANT, nullable=True),
        sa.Column("failed_at", INSTANT, nullable=True),
        sa.Column("last_error", sa.String(length=500), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_due_at", "outbox", ["due_at"])
