"""Results are drawn on the test images of a challenge's showcase.

Revision: 2026_11_24_1640_showcase
Follows: 2026_11_24_1630_overall_rank
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_1640_showcase"
down_revision = "2026_11_24_1630_overall_rank"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "showcase_drawings",
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("basis", sa.String(length=64), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_showcase_drawings_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_showcase_drawings")),
    )
