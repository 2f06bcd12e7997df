"""Store the steps to which the rows of confusion matrices are rounded.

Revision: 2026_11_23_1900_steps
Follows: 2026_11_23_1850_shared_quota
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_1900_steps"
down_revision = "2026_11_23_1850_shared_quota"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Those of existing results follow from the shares."""
    op.add_column("confusion_shares", sa.Column("steps", sa.JSON(none_as_null=True), nullable=True))
