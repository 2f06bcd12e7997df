"""Record when submissions were disqualified, which frozen leaderboards announce.

Revision: 2026_11_23_1830_disqualified_at
Follows: 2026_11_22_1655_imports
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_1830_disqualified_at"
down_revision = "2026_11_22_1655_imports"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Of those disqualified before, the log has the date; imported ones have that of the import."""
    op.add_column("submissions", sa.Column("disqualified_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(
        """
        UPDATE submissions SET disqualified_at = COALESCE(
            (SELECT MAX(created_at) FROM audit_events
             WHERE action = 'submission.disqualify' AND object_id = submissions.id),
            (SELECT imported_at FROM challenges WHERE challenges.id = submissions.challenge_id),
            finished_at, created_at)
        WHERE state = 'disqualified'
        """
    )
