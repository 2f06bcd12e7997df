"""A minimum age of accounts as a rule of phases; more spellings of one mailbox.

Revision: 2026_11_23_1840_ages
Follows: 2026_11_23_1830_disqualified_at
"""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_1840_ages"
down_revision = "2026_11_23_1830_disqualified_at"
branch_labels = None
depends_on = None

SERVICES = (
    ("gmail.com", "googlemail.com"),
    ("proton.me", "pm.me", "protonmail.ch", "protonmail.com"),
    ("icloud.com", "mac.com", "me.com"),
    ("yandex.ru", "ya.ru", "yandex.by", "yandex.com", "yandex.com.tr", "yandex.kz", "yandex.ua"),
)


def upgrade() -> None:
    """Existing phases take accounts of any age. Accounts that share a mailbox stay, and sign in as before."""
    for table in ("challenges", "challenge_phases"):
        with op.batch_alter_table(table) as phases:
            phases.add_column(sa.Column("min_account_days", sa.Integer(), nullable=False, server_default="0"))
        with op.batch_alter_table(table) as phases:
            phases.alter_column("min_account_days", server_default=None)
    users = sa.table(
        "users", sa.column("id", sa.Uuid()), sa.column("email", sa.String()), sa.column("mailbox", sa.String())
    )
    connection = op.get_bind()
    for user_id, email, mailbox in connection.execute(sa.select(users.c.id, users.c.email, users.c.mailbox)).all():
        if (found := _mailbox(email)) != mailbox:
            connection.execute(users.update().where(users.c.id == user_id).values(mailbox=found))


def _mailbox(email: str) -> str:
    """As `vocboard.app.accounts.models.mailbox` when this migration was written."""
    local, _, domain = (_folded(part) for part in email.rpartition("@"))
    for end in (".fastmail.com", ".fastmail.fm"):
        if domain.endswith(end):
            local, domain = domain.removesuffix(end).rpartition(".")[2], end[1:]
    local = local.partition("+")[0] or local
    domain = next((domains[0] for domains in SERVICES if domain in domains), domain)
    if domain in {"ymail.com", "rocketmail.com", "myyahoo.com"} or domain.startswith("yahoo."):
        local = local.partition("-")[0] or local
    for character in {"gmail.com": ".", "proton.me": ".-_"}.get(domain, ""):
        local = local.replace(character, "") or local
    found = f"{local}@{domain}"
    return found if len(found) <= 254 else email


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
