"""Let organisers ask for statistics to be computed.

Revision: 2026_11_22_0645_statistics
Follows: 2026_11_22_0640_diagnoses
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0645_statistics"
down_revision = "2026_11_22_0640_diagnoses"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add when that was."""
    op.add_column("challenges", sa.Column("statistics_requested_at", sa.DateTime(timezone=True), nullable=True))
