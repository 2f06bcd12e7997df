"""Security keys, which stand for codes of the second factor.

Revision: 2026_11_28_0515_security_keys
Follows: 2026_11_28_0505_shown_identities
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_28_0515_security_keys"
down_revision = "2026_11_28_0505_shown_identities"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "security_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", UTCDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_security_keys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_security_keys")),
        sa.UniqueConstraint("credential_id", name=op.f("uq_security_keys_credential_id")),
    )
    op.create_index(op.f("ix_security_keys_user_id"), "security_keys", ["user_id"])
