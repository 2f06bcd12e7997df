"""Record which submissions were imported without their archives.

Revision: 2026_11_22_1330_carried_archives
Follows: 2026_11_22_1320_image_sets
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1330_carried_archives"
down_revision = "2026_11_22_1320_image_sets"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column.

    What earlier imports carried was not recorded. Their submissions keep their archives, unless an earlier import or a
    challenge of this server has the same one.
    """
    with op.batch_alter_table("submissions") as submissions:
        submissions.add_column(sa.Column("has_archive", sa.Boolean(), nullable=False, server_default=sa.true()))
    with op.batch_alter_table("submissions") as submissions:
        submissions.alter_column("has_archive", server_default=None)
    op.execute(
        """
        UPDATE submissions SET has_archive = false
        WHERE EXISTS (
            SELECT 1 FROM challenges AS own
            JOIN submissions AS other ON other.challenge_id <> own.id
            JOIN challenges AS others ON others.id = other.challenge_id
            WHERE own.id = submissions.challenge_id AND own.imported_at IS NOT NULL
            AND other.archive_sha256 = submissions.archive_sha256
            AND (others.imported_at IS NULL OR others.imported_at < own.imported_at)
        )
        """
    )
