"""Record when imports of ground truth begin, so that organisers take turns.

Revision: 2026_11_22_1655_imports
Follows: 2026_11_22_1345_mailboxes
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1655_imports"
down_revision = "2026_11_22_1345_mailboxes"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Earlier imports count as none."""
    with op.batch_alter_table("ground_truth_versions") as versions:
        versions.add_column(sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True))
