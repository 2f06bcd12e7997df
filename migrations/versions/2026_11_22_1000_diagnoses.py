"""Say why a diagnosis failed, in words that everybody may read, and when.

Revision: 2026_11_22_1000_diagnoses
Follows: 2026_11_22_0645_statistics
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1000_diagnoses"
down_revision = "2026_11_22_0645_statistics"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep the error for the operator beside the reason; what failed before failed for a reason that is not known."""
    op.execute("ALTER TABLE diagnosis_tasks RENAME COLUMN failure TO failure_detail")
    op.add_column("diagnosis_tasks", sa.Column("failure", sa.String(length=20), nullable=True))
    op.add_column("diagnosis_tasks", sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(
        "UPDATE diagnosis_tasks SET failure = 'error', failed_at = CURRENT_TIMESTAMP WHERE failure_detail IS NOT NULL"
    )
