"""Count accounts by mailbox, however its address is written.

Revision: 2026_11_22_1345_mailboxes
Follows: 2026_11_22_1340_labels
"""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1345_mailboxes"
down_revision = "2026_11_22_1340_labels"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the mailbox of each account. Accounts that share one stay as they are, and sign in as before."""
    with op.batch_alter_table("users") as users:
        users.add_column(sa.Column("mailbox", sa.String(length=254), nullable=True))
    table = sa.table(
        "users", sa.column("id", sa.Uuid()), sa.column("email", sa.String()), sa.column("mailbox", sa.String())
    )
    connection = op.get_bind()
    for user_id, email in connection.execute(sa.select(table.c.id, table.c.email)).all():
        connection.execute(table.update().where(table.c.id == user_id).values(mailbox=_mailbox(email)))
    with op.batch_alter_table("users") as users:
        users.alter_column("mailbox", nullable=False)
        users.create_index("ix_users_mailbox", ["mailbox"])


def _mailbox(email: str) -> str:
    """As `vocboard.app.accounts.models.mailbox` when this migration was written."""
    local, _, domain = (_folded(part) for part in email.rpartition("@"))
    local = local.partition("+")[0] or local
    if domain in {"gmail.com", "googlemail.com"}:
        local, domain = local.replace(".", "") or local, "gmail.com"
    found = f"{local}@{domain}"
    return found if len(found) <= 254 else email


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
