"""Whether people show their ORCID iD on the pages of their methods.

Revision: 2026_11_28_0505_shown_identities
Follows: 2026_11_28_0500_named_people
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0505_shown_identities"
down_revision = "2026_11_28_0500_named_people"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("identities", sa.Column("is_shown", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("identities") as identities:
        identities.alter_column("is_shown", server_default=None)
