"""Every model, so that `Base.metadata` knows all tables: imported by what needs them all, such as migrations."""

from app.accounts import models as accounts
from app.audit import models as audit
from app.challenges import models as challenges
from app.database import Base
from app.evaluations import models as evaluations
from app.mail import models as mail
from app.submissions import models as submissions
from app.uploads import models as uploads
from app.workers import models as workers

__all__ = ["Base", "accounts", "audit", "challenges", "evaluations", "mail", "submissions", "uploads", "workers"]
