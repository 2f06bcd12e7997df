"""Decides on submissions: where a person may submit, and what has to be confirmed before quota is used.

Confirmed are missing classes, and warnings about so many results that these are most likely wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.ground_truth import current_image_sets
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase
from vocboard.app.database import Database, now
from vocboard.app.errors import IncompleteEntryError, WarningsNotAcceptedError
from vocboard.app.intake import submitting
from vocboard.app.intake.report import Report
from vocboard.app.submissions.quota import check_any_quota_left
from vocboard.app.teams.queries import people_with, require_none_banned
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Share
from vocboard.evaluator.reading import completeness


@dataclass(frozen=True, slots=True)
class Destination:
    """What a submission is for.

    Attributes:
        slug: of the challenge.
        phase_key: by default, the phase that is current when the upload begins.
        is_rehearsal: whether an organiser tries the challenge out.
    """

    slug: str
    phase_key: str | None = None
    is_rehearsal: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """What an upload is submitted to, with the data that it is validated against."""

    challenge: Challenge
    phase: Phase
    image_sets: ImageSets
    is_rehearsal: bool


def find_target(database: Database, destination: Destination, user: User, *, at: datetime) -> Target:
    """Return what a person may submit to, before anything is uploaded.

    Args:
        at: when the upload began.

    Raises:
        NotFoundError: the user can see no such challenge, or it has no such phase.
        ForbiddenError: the email address is not confirmed, the registration is not approved, or the user is not
            admitted to the phase; or the user or a member of the user's team is banned from the challenge.
        ConflictError: the phase does not accept submissions.
        LimitedError: the quota is used up.
    """
    with database.reading() as session:
        challenge = challenges.get_visible(session, destination.slug, user)
        require_confirmed(user)
        people = people_with(session, challenge.id, user)
        require_none_banned(session, challenge_id=challenge.id, user=user, people=people)
        phase = submitting.check_may_submit(
            session,
            user=user,
            challenge=challenge,
            at=at,
            phase_key=destination.phase_key,
            is_rehearsal=destination.is_rehearsal,
        )
        if not destination.is_rehearsal:
            check_any_quota_left(session, user=user, challenge=challenge, phase=phase, now=now())
        image_sets = current_image_sets(session, phase)
        return Target(challenge, phase, image_sets, destination.is_rehearsal)


def classes_not_entered(report: Report, edition: Edition) -> dict[str, tuple[str, ...]]:
    """Return the classes that an upload leaves out, by competition."""
    return completeness.classes_not_entered({entry.competition: entry.classes for entry in report.entries}, edition)


def incomplete_sentence(not_entered: Mapping[str, Sequence[str]], edition: Edition) -> str:
    """Say which classes are missing, and what to do; empty if there are none."""
    if not not_entered:
        return ""
    return f"{completeness.sentence(not_entered, edition)} Add the missing files, or submit without them."


def doubtful_sentence(doubtful: Mapping[str, Share]) -> str:
    """Say how many results the warnings are about, and what to do; empty if they are few in each competition."""
    if not doubtful:
        return ""
    shares = "; ".join(f"{share} of {key}" for key, share in doubtful.items())
    return f"The warnings are about {shares}. Fix them, or submit the results with these warnings."


def refuse_incomplete(report: Report, edition: Edition) -> None:
    """Raise `IncompleteEntryError` if an upload leaves out classes."""
    not_entered = classes_not_entered(report, edition)
    if not_entered:
        raise IncompleteEntryError(incomplete_sentence(not_entered, edition), not_entered)


def refuse_doubtful(report: Report) -> None:
    """Raise `WarningsNotAcceptedError` if warnings are about too many of the results."""
    if report.doubtful:
        raise WarningsNotAcceptedError(doubtful_sentence(report.doubtful), report.problems, report.groups)
