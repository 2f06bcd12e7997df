"""Which terms people have accepted when they registered.

Revision: 2026_11_24_2010_terms
Follows: 2026_11_24_1950_announcements
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_24_2010_terms"
down_revision = "2026_11_24_1950_announcements"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("users", sa.Column("terms_version", sa.String(length=12), nullable=True))
    op.add_column("users", sa.Column("terms_accepted_at", UTCDateTime(timezone=True), nullable=True))
