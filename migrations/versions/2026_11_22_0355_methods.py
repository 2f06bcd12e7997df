"""Let people add links to a method, and notes to its versions.

Revision: 2026_11_22_0355_methods
Follows: 2026_11_22_0345_competitions
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0355_methods"
down_revision = "2026_11_22_0345_competitions"
branch_labels = None
depends_on = None


_TEXTS = (("methods", "paper_url", 500), ("methods", "code_url", 500), ("submissions", "note", None))


def upgrade() -> None:
    """Add the columns, empty."""
    for table, name, length in _TEXTS:
        kind = sa.Text() if length is None else sa.String(length)
        with op.batch_alter_table(table) as changed:
            changed.add_column(sa.Column(name, kind, nullable=False, server_default=""))
        with op.batch_alter_table(table) as changed:
            changed.alter_column(name, server_default=None)
