"""Imports every model, so that `Base.metadata` has all tables, for example for migrations."""

from vocboard.app import rate_limits
from vocboard.app.accounts import models as accounts
from vocboard.app.announcements import models as announcements
from vocboard.app.audit import models as audit
from vocboard.app.challenges import models as challenges
from vocboard.app.database import Base
from vocboard.app.evaluations import models as evaluations
from vocboard.app.intake import models as uploads
from vocboard.app.jobs import models as jobs
from vocboard.app.leaderboards import models as leaderboards
from vocboard.app.messaging import models as mail
from vocboard.app.notifications import models as notifications
from vocboard.app.submissions import models as submissions
from vocboard.app.webhooks import models as webhooks

__all__ = [
    "Base",
    "accounts",
    "announcements",
    "audit",
    "challenges",
    "evaluations",
    "jobs",
    "leaderboards",
    "mail",
    "notifications",
    "rate_limits",
    "submissions",
    "uploads",
    "webhooks",
]
