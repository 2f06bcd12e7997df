"""A new challenge with the rules of an earlier one, for the next year."""

from typing import TypeVar

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import terms
from vocboard.app.challenges.files import files_of
from vocboard.app.challenges.models import Challenge, ChallengeFile, Detail, FileKind, Freeze, Visibility
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.queries import lock_challenge
from vocboard.app.challenges.rules import DATES, PhaseRules, rules_of
from vocboard.app.organising.challenge_changes import create
from vocboard.app.organising.phase_changes import add_phase

_OF_FILE = ("kind", "audience", "name", "title", "byte_count", "sha256", "media_type")

Rules = TypeVar("Rules", bound=PhaseRules)


def copy(session: Session, *, challenge: Challenge, user: User, slug: str, title: str = "") -> Challenge:
    """Create a draft with the edition, the rules, the terms and the phases of a challenge that `get_organised` gave.

    It has the cover, the logos and the downloads, but no dates, people, submissions or ground truth. Scores of hidden
    ground truth would be exact at the detail level `everything`, which organisers choose at the end: the copy has
    `curves` instead, except in phases with ground truth of their own.

    Args:
        slug: of the new challenge.
        title: of the new challenge; by default that of the earlier one.

    Raises:
        ForbiddenError: the user may not create challenges.
        InvalidInputError: the slug or the title is not valid.
        ConflictError: the slug is taken.
    """
    rules = _for_new_truth(_undated(rules_of(challenge)))
    draft = {"visibility": Visibility.DRAFT, "title": title.strip() or challenge.title, "teams_until": None}
    new = create(
        session,
        organiser=user,
        slug=slug,
        edition="" if challenge.edition_file else challenge.edition,
        edition_file=challenge.edition_file,
        rules=rules.model_copy(update=draft),
    )
    for phase in phases_of(challenge):
        if phase.is_main:
            continue
        of_phase = _undated(phase.rules)
        add_phase(
            session,
            challenge=new,
            user=user,
            key=phase.key,
            title=phase.title,
            rules=of_phase if phase.has_own_truth else _for_new_truth(of_phase),
            image_set=phase.image_set,
            has_own_truth=phase.has_own_truth,
        )
    lock_challenge(session, challenge.id)  # so that no file is removed before the copy has it, too
    for file in files_of(session, challenge.id, FileKind.COVER, FileKind.LOGO, FileKind.DATA):
        session.add(ChallengeFile(challenge_id=new.id, **{name: getattr(file, name) for name in _OF_FILE}))
    if (current := terms.current(session, challenge.id)) is not None:
        terms.publish(session, challenge=new, user=user, text=current.text)
    audit.record(session, actor=user, action="challenge.copy", subject=new, details={"slug": challenge.slug})
    return new


def _undated(rules: Rules) -> Rules:
    freeze = Freeze.CLOSING if rules.freeze is Freeze.DATE else rules.freeze
    return rules.model_copy(update={**dict.fromkeys(DATES), "freeze": freeze})


def _for_new_truth(rules: Rules) -> Rules:
    return rules.model_copy(update={"detail": Detail.CURVES}) if rules.detail is Detail.EVERYTHING else rules
