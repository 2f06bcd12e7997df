"""Which challenges a user may see, and which ones a user organises."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import can_be_read
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.rules import SLUG
from vocboard.app.errors import ForbiddenError, NotFoundError


def visible_challenges(session: Session, viewer: User | None) -> Sequence[Challenge]:
    """Return the challenges to list for a user, newest first: all that the user may see but others' unlisted ones."""
    return [one for one in queries.listed_challenges(session, viewer) if can_be_read(one)]


def organised_challenges(session: Session, user: User) -> Sequence[Challenge]:
    """Return the challenges that a user organises (administrators: all), newest first."""
    return [one for one in queries.organised_challenges(session, user) if can_be_read(one)]


def get_visible(session: Session, slug: str, viewer: User | None) -> Challenge:
    """Return a challenge, with its phases.

    Raises:
        NotFoundError: there is none that the user may see; see `queries.visible_to`.
    """
    return _find(session, slug, viewer)[0]


def get_organised(session: Session, slug: str, user: User) -> Challenge:
    """Return a challenge that the user organises (administrators: any), with its phases.

    Raises:
        NotFoundError: the user may not see it.
        ForbiddenError: the user may see it, but does not organise it.
    """
    challenge, organises = _find(session, slug, user)
    if not organises:
        raise ForbiddenError("Only the organisers of this challenge can do this.")
    return challenge


def is_organiser(session: Session, challenge: Challenge, user: User | None) -> bool:
    """Whether a user organises a challenge; administrators organise all."""
    return queries.organises(session, user, challenge.id)


def _find(session: Session, slug: str, viewer: User | None) -> tuple[Challenge, bool]:
    # Anything else is not a slug, and PostgreSQL rejects some characters.
    found = queries.challenge_by_slug(session, slug, viewer) if SLUG.fullmatch(slug) else None
    if found is None:
        raise NotFoundError("This challenge does not exist.")
    return found
