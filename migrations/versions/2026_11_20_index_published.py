"""Index published submissions, which leaderboards are made of.

Revision: 2026_11_20_index_published
Follows: 2026_11_20_declarations
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_20_index_published"
down_revision = "2026_11_20_declarations"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    published = sa.text("published_at IS NOT NULL")
    op.create_index(
        "ix_submissions_published",
        "submissions",
        ["challenge_id"],
        postgresql_where=published,
        sqlite_where=published,
    )
