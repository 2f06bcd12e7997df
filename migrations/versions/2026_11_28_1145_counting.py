"""Indices for what organisers' pages count.

Revision: 2026_11_28_1145_counting
Follows: 2026_11_28_1130_report_summary
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_1145_counting"
down_revision = "2026_11_28_1130_report_summary"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add them."""
    counted = ["user_id", "state", "published_at", "is_rehearsal"]
    op.create_index(
        "ix_submissions_challenge", "submissions", ["challenge_id", "created_at"], postgresql_include=counted
    )
    op.drop_index("ix_submissions_challenge_id", "submissions")
    rehearsal = sa.text("is_rehearsal")
    op.create_index(
        "ix_submissions_rehearsal",
        "submissions",
        ["challenge_id"],
        postgresql_where=rehearsal,
        sqlite_where=rehearsal,
    )
    op.create_index("ix_audit_events_actor_id", "audit_events", ["actor_id"])
    op.create_index("ix_evaluations_created_at", "evaluations", ["created_at"])
