"""Name the columns that were read from a submission's archive, so that workers need not read the archive again.

Revision: 2026_11_21_1945_columns
Follows: 2026_11_21_1935_begin
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_1945_columns"
down_revision = "2026_11_21_1935_begin"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Earlier submissions have none; workers read their archives in a process of their own."""
    with op.batch_alter_table("submissions") as submissions:
        submissions.add_column(sa.Column("columns_sha256", sa.String(length=64), nullable=True))
        submissions.add_column(sa.Column("columns_reader", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_submissions_columns_sha256"), "submissions", ["columns_sha256"])
