"""Exports for people who organise the challenge: the same for pages, the API and the command line."""

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.transfer.exporting import Export, export


def begin_export(database: Database, store: ArchiveStore, *, slug: str, user: User) -> Export:
    """Log and prepare the export of a challenge; stream it, or discard it.

    Raises:
        NotFoundError, ForbiddenError: the user does not organise the challenge.
    """
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        audit.record(session, actor=user, action="challenge.export", subject=challenge)
    return export(database, store, challenge.id)
