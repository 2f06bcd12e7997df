"""Let rules be changed once there is ground truth: versions of edition files, and re-scores by them.

Revision: 2026_11_22_0320_editions
Follows: 2026_11_21_2330_resumable
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0320_editions"
down_revision = "2026_11_21_2330_resumable"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
FIRST = "1"  # the edition could not be changed before, so everything was scored by its first version


def upgrade() -> None:
    """Everything so far belongs to version 1 of its challenge's edition."""
    op.create_table(
        "edition_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("made_current_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_edition_versions_challenge_id_challenges", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_edition_versions"),
        sa.UniqueConstraint("challenge_id", "number", name="uq_edition_versions_challenge_id_number"),
    )
    for table in ("challenges", "scorings", "rescores"):
        version = sa.Column("edition_version", sa.Integer(), nullable=False, server_default=FIRST)
        with op.batch_alter_table(table) as altered:
            altered.add_column(version)
        with op.batch_alter_table(table) as altered:
            altered.alter_column("edition_version", server_default=None)
    with op.batch_alter_table("scorings") as scorings:
        scorings.add_column(sa.Column("begun_with_id", sa.Uuid(), nullable=True))
        scorings.create_foreign_key(
            "fk_scorings_begun_with_id_scorings", "scorings", ["begun_with_id"], ["id"], ondelete="CASCADE"
        )
    with op.batch_alter_table("rescores") as rescores:
        rescores.add_column(sa.Column("edition_changes", sa.JSON(), nullable=True))
