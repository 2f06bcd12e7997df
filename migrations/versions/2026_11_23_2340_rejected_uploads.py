"""Store why archives were rejected, for organisers to count.

Revision: 2026_11_23_2340_rejected_uploads
Follows: 2026_11_23_1900_steps
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_23_2340_rejected_uploads"
down_revision = "2026_11_23_1900_steps"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the challenge and the codes; both are null for earlier uploads."""
    with op.batch_alter_table("uploads") as uploads:
        uploads.add_column(sa.Column("challenge_id", sa.Uuid(), nullable=True))
        uploads.add_column(sa.Column("rejected_for", sa.JSON(none_as_null=True), nullable=True))
        uploads.create_foreign_key(
            "fk_uploads_challenge_id_challenges", "challenges", ["challenge_id"], ["id"], ondelete="CASCADE"
        )
        uploads.create_index("ix_uploads_challenge_id", ["challenge_id"])
