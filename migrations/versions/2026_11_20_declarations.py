"""Keep what entrants declare of their training: with what annotation, and on which images from flickr.

Revision: 2026_11_20_declarations
Follows: 2026_11_20_own_editions
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_20_declarations"
down_revision = "2026_11_20_own_editions"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing of this has been declared so far, but in the words of the training statements."""
    with op.batch_alter_table("submissions") as submissions:
        submissions.add_column(sa.Column("training_annotation", sa.String(length=20), nullable=True))
        submissions.add_column(sa.Column("flickr_images", sa.String(length=20), nullable=True))
        submissions.add_column(sa.Column("flickr_count", sa.Integer(), nullable=False, server_default="0"))
        submissions.add_column(sa.Column("flickr_hashes", sa.LargeBinary(), nullable=True))
    with op.batch_alter_table("submissions") as submissions:
        submissions.alter_column("flickr_count", server_default=None)
