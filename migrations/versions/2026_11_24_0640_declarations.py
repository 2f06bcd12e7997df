"""Declarations are one column, by name, so that an edition can define others.

Revision: 2026_11_24_0640_declarations
Follows: 2026_11_24_0630_mail_jobs
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_0640_declarations"
down_revision = "2026_11_24_0630_mail_jobs"
branch_labels = None
depends_on = None

# What was not declared has no entry.
FILL = (
    "'training_data', NULLIF(training_data, ''), 'training_annotation', training_annotation,"
    " 'flickr_images', flickr_images"
)


def upgrade() -> None:
    """Move the three columns into the new one."""
    published = sa.text("published_at IS NOT NULL")
    with op.batch_alter_table("submissions") as batch:
        batch.drop_index("ix_submissions_published")
        batch.add_column(sa.Column("declarations", sa.JSON(), nullable=True))
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"UPDATE submissions SET declarations = json_patch('{{}}', json_object({FILL}))")  # noqa: S608  # our own constant
    else:
        op.execute(f"UPDATE submissions SET declarations = json_strip_nulls(json_build_object({FILL}))")  # noqa: S608
    with op.batch_alter_table("submissions") as batch:
        batch.alter_column("declarations", existing_type=sa.JSON(), nullable=False)
        for column in ("training_data", "training_annotation", "flickr_images"):
            batch.drop_column(column)
    op.create_index(
        "ix_submissions_published", "submissions", ["phase_id"], postgresql_where=published, sqlite_where=published
    )
