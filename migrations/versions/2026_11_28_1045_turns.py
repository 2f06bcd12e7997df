"""A turn of each waiting job, so that a claim need not look at all of them.

Revision: 2026_11_28_1045_turns
Follows: 2026_11_28_0526_admission
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_1045_turns"
down_revision = "2026_11_28_0526_admission"
branch_labels = None
depends_on = None
PENDING = sa.text("finished_at IS NULL")
CLAIMED = sa.text("finished_at IS NULL AND lease_id IS NOT NULL")


def upgrade() -> None:
    """Add the column and its indices. Jobs that wait already are in the first turn, in their order."""
    op.add_column("jobs", sa.Column("turn", sa.Integer(), nullable=False, server_default="0"))
    op.drop_index("ix_jobs_due", "jobs")
    op.drop_index("ix_jobs_owner", "jobs")
    turn = ["priority", "kind", "turn", "created_at"]
    op.create_index("ix_jobs_turn", "jobs", turn, postgresql_where=PENDING, sqlite_where=PENDING)
    op.create_index("ix_jobs_running", "jobs", ["kind"], postgresql_where=CLAIMED, sqlite_where=CLAIMED)
    op.create_index("ix_jobs_owner", "jobs", ["kind", "owner", "claimed_at"])
