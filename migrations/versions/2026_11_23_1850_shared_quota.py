"""Let competitions with the same ground truth share one quota; existing challenges keep theirs.

Revision: 2026_11_23_1850_shared_quota
Follows: 2026_11_23_1840_ages
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_1850_shared_quota"
down_revision = "2026_11_23_1840_ages"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Each competition has had its own quota so far."""
    for table in ("challenges", "challenge_phases"):
        op.add_column(table, sa.Column("shared_quota", sa.Boolean(), nullable=False, server_default=sa.text("false")))
