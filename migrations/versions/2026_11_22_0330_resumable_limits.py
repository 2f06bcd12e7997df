"""Limit how long the parts of a resumable upload take together, and how often it is validated.

Revision: 2026_11_22_0330_resumable_limits
Follows: 2026_11_22_0320_editions
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0330_resumable_limits"
down_revision = "2026_11_22_0320_editions"
branch_labels = None
depends_on = None

TABLE = "resumable_uploads"


def upgrade() -> None:
    """Add the columns; existing uploads begin at zero."""
    op.add_column(TABLE, sa.Column("receiving_seconds", sa.Double(), nullable=False, server_default="0"))
    op.add_column(TABLE, sa.Column("validation_count", sa.Integer(), nullable=False, server_default="0"))
