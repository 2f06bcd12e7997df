"""Domains of email addresses that a phase admits.

Revision: 2026_11_28_0410_admitted_domains
Follows: 2026_11_24_2010_terms
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0410_admitted_domains"
down_revision = "2026_11_24_2010_terms"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty for phases that there are."""
    with op.batch_alter_table("phases") as batch:
        batch.add_column(sa.Column("admission_domains", sa.JSON(), nullable=False, server_default="[]"))
    with op.batch_alter_table("phases") as batch:
        batch.alter_column("admission_domains", existing_type=sa.JSON(), server_default=None)
