"""Tell kinds of curves: those stored so far are of precision and recall.

Revision: 2026_11_20_tell_kinds_of_curves
Follows: 2026_11_20_begin
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_20_tell_kinds_of_curves"
down_revision = "2026_11_20_begin"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give every curve its kind."""
    with op.batch_alter_table("curves") as curves:
        curves.add_column(sa.Column("kind", sa.String(length=30), nullable=False, server_default="precision_recall"))
    with op.batch_alter_table("curves") as curves:
        curves.alter_column("kind", server_default=None)
