"""Label methods on anonymous leaderboards with a secret key.

Revision: 2026_11_22_1340_labels
Follows: 2026_11_22_1330_carried_archives
"""

from secrets import token_bytes

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1340_labels"
down_revision = "2026_11_22_1330_carried_archives"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give each challenge a key. Labels on leaderboards that are anonymous now change once."""
    with op.batch_alter_table("challenges") as challenges:
        challenges.add_column(sa.Column("label_key", sa.LargeBinary(length=32), nullable=True))
    table = sa.table("challenges", sa.column("id", sa.Uuid()), sa.column("label_key", sa.LargeBinary()))
    connection = op.get_bind()
    for challenge_id in connection.scalars(sa.select(table.c.id)).all():
        key = token_bytes(32)
        connection.execute(table.update().where(table.c.id == challenge_id).values(label_key=key))
    with op.batch_alter_table("challenges") as challenges:
        challenges.alter_column("label_key", nullable=False)
