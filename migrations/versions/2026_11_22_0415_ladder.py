"""Let phases show scores by the Ladder mechanism until they close.

Revision: 2026_11_22_0415_ladder
Follows: 2026_11_22_0355_methods
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0415_ladder"
down_revision = "2026_11_22_0355_methods"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the rule, which no phase has yet."""
    for table in ("challenges", "challenge_phases"):
        op.add_column(table, sa.Column("ladder_step", sa.Double(), nullable=True))
