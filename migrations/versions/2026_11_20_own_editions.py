"""Keep the edition file of a challenge whose edition is its organiser's own.

Revision: 2026_11_20_own_editions
Follows: 2026_11_20_tell_kinds_of_curves
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_20_own_editions"
down_revision = "2026_11_20_tell_kinds_of_curves"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """All challenges so far have editions that come with vocboard: their file stays empty."""
    with op.batch_alter_table("challenges") as challenges:
        challenges.add_column(sa.Column("edition_file", sa.Text(), nullable=True))
