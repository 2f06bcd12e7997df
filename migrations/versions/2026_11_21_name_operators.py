"""Name operators in the audit log: what is done at the command line is not done by the person whom it affects.

Revision: 2026_11_21_name_operators
Follows: 2026_11_20_index_published
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_name_operators"
down_revision = "2026_11_20_index_published"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what was logged before has none."""
    op.add_column("audit_events", sa.Column("operator", sa.String(length=200)))
