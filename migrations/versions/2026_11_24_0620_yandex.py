"""Dots and hyphens are the same in names of mailboxes at Yandex.

Revision: 2026_11_24_0620_yandex
Follows: 2026_11_24_0610_freeze_jobs
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_0620_yandex"
down_revision = "2026_11_24_0610_freeze_jobs"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Existing accounts that share a mailbox stay, and sign in as before."""
    users = sa.table("users", sa.column("mailbox", sa.String()))
    op.execute(
        users.update()
        .where(users.c.mailbox.like("%-%@yandex.ru"))
        .values(mailbox=sa.func.replace(users.c.mailbox, "-", "."))
    )
