"""Leaderboards are frozen by a job that is due on their date.

Revision: 2026_11_24_0610_freeze_jobs
Follows: 2026_11_24_0015_phases_always
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_24_0610_freeze_jobs"
down_revision = "2026_11_24_0015_phases_always"
branch_labels = None
depends_on = None

INSTANT = UTCDateTime(timezone=True)
PHASES = sa.table(
    "phases",
    sa.column("id", sa.Uuid()),
    sa.column("freeze", sa.String()),
    sa.column("closes_at", INSTANT),
    sa.column("freezes_at", INSTANT),
)
JOBS = sa.table(
    "jobs",
    sa.column("id", sa.Uuid()),
    sa.column("created_at", INSTANT),
    sa.column("kind", sa.String()),
    sa.column("key", sa.Uuid()),
    sa.column("priority", sa.Integer()),
    sa.column("not_before", INSTANT),
    sa.column("attempts", sa.Integer()),
    sa.column("finished_at", INSTANT),
)
# As `vocboard.app.jobs.service.PRIORITY` when this migration was written: between the sweep and all other kinds.
FREEZE, STEP = 20, 10


def upgrade() -> None:
    """Each phase with a freezing date gets a job, even if it is over: the copies may not be final yet."""
    op.execute(sa.update(JOBS).where(JOBS.c.priority >= FREEZE).values(priority=JOBS.c.priority + STEP))
    date = sa.case((PHASES.c.freeze == "closing", PHASES.c.closes_at), (PHASES.c.freeze == "date", PHASES.c.freezes_at))
    values = {
        "id": PHASES.c.id,
        "created_at": sa.literal(datetime.now(UTC), INSTANT),
        "kind": sa.literal("freeze"),
        "key": PHASES.c.id,
        "priority": sa.literal(FREEZE),
        "not_before": date,
        "attempts": sa.literal(0),
    }
    op.execute(sa.insert(JOBS).from_select(list(values), sa.select(*values.values()).where(date.is_not(None))))
