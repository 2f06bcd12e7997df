"""The extensions that an evaluation used.

Revision: 2026_11_28_1410_extensions
Follows: 2026_11_28_1145_counting
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_1410_extensions"
down_revision = "2026_11_28_1145_counting"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("evaluations", sa.Column("extensions", sa.JSON))
