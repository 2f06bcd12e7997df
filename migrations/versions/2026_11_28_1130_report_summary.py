"""What pages show of the report of a re-score, so that they need not read all of it.

Revision: 2026_11_28_1130_report_summary
Follows: 2026_11_28_1045_turns
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_1130_report_summary"
down_revision = "2026_11_28_1045_turns"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Reports that are there already have no summary."""
    op.add_column("rescores", sa.Column("report_summary", sa.JSON()))
