"""Adding, changing and removing the further phases of a challenge; the main phase changes with the challenge itself."""

import re
from collections.abc import Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.deadlines import move_next_phases, with_moved_dates
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.ground_truth import current_truth
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, ChallengePhase, Detail
from vocboard.app.challenges.phases import Phase, lock_to_change, on_image_set, phase_named, phases_of
from vocboard.app.challenges.rules import MAX_PHASE_TITLE_LENGTH, PhaseRules, check_phase_rules
from vocboard.app.errors import ConflictError
from vocboard.app.forms.fields import FieldChecks
from vocboard.app.leaderboards import freezing

KEY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_KEY_LENGTH = 30
MAX_PHASES = 20
IMAGE_SET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")

ALREADY_PUBLIC = (
    "This phase's ground truth is already in use, and exact results reveal it permanently. Give the phase ground truth "
    "of its own, or choose a lower level."
)


def add_phase(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    key: str,
    title: str,
    rules: PhaseRules,
    image_set: str | None = None,
    has_own_truth: bool = False,
) -> Phase:
    """Add a phase to a challenge that `get_organised` gave.

    Args:
        key: its short name, used in URLs.
        image_set: the one that its competitions are scored on; None for those that the edition names. Another image set
            needs ground truth of its own.
        has_own_truth: whether ground truth is uploaded for it; otherwise it uses the main phase's.

    Raises:
        InvalidInputError: with everything that is wrong, by the names above and those of the rules.
        ConflictError: there is such a phase already, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    has_own_truth = has_own_truth or image_set is not None
    checks = FieldChecks()
    if not (KEY.fullmatch(key) and len(key) <= MAX_KEY_LENGTH):
        checks.fail("key", f"Use at most {MAX_KEY_LENGTH} lower-case letters, digits and single hyphens.")
    elif key == MAIN_PHASE:
        checks.fail("key", "This name is reserved. Choose another one.")
    if image_set is not None and not IMAGE_SET.fullmatch(image_set):
        checks.fail("image_set", "Use letters, digits, dots, hyphens and underscores, such as val.")
    if len(challenge.further_phases) + 1 >= MAX_PHASES:
        checks.fail("key", f"A challenge has at most {MAX_PHASES} phases.")
    rules = _checked(session, checks, challenge, None, rules, image_set=image_set, has_own_truth=has_own_truth)
    title = checks.line("title", title, max_length=MAX_PHASE_TITLE_LENGTH, required=True)
    checks.finish()
    row = ChallengePhase(
        challenge_id=challenge.id,
        key=key,
        phase_title=title,
        competition_keys=list(rules.competitions or ()),
        image_set=image_set,
        has_own_truth=has_own_truth,
        **rules.model_dump(exclude={"competitions"}),
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        raise ConflictError(f"This challenge already has a phase {key!r}. Choose another name.") from None
    session.refresh(challenge, ["further_phases"])
    details = {"phase": key, "title": title, "image_set": image_set, "has_own_truth": has_own_truth}
    audit.record(
        session, actor=user, action="phase.create", subject=challenge, details=details | {"rules": dict(rules)}
    )
    return phase_named(challenge, key)


def update_phase(
    session: Session, *, challenge: Challenge, user: User, key: str, title: str, rules: PhaseRules
) -> Phase:
    """Change a further phase of a challenge that `get_organised` gave. Its key and ground truth stay.

    Raises:
        NotFoundError: there is no such phase.
        InvalidInputError: with everything that is wrong.
        ConflictError: a competition to be removed has submissions; it is the main phase, which changes with the
            challenge; or the challenge is archived.
    """
    lock_to_change(session, challenge)
    freezing.freeze_due(session, challenge)
    before, row = phase_named(challenge, key), _row(challenge, key)
    checks = FieldChecks()
    rules = _checked(
        session, checks, challenge, before, rules, image_set=row.image_set, has_own_truth=row.has_own_truth
    )
    title = checks.line("title", title, max_length=MAX_PHASE_TITLE_LENGTH, required=True)
    checks.finish()
    rules = rules.model_copy(update=with_moved_dates(before.rules, rules))
    require_not_entered(session, challenge, key, set(before.competitions) - set(rules.competitions or ()))
    row.phase_title, row.competition_keys = title, list(rules.competitions or ())
    for name, value in rules.model_dump(exclude={"competitions"}).items():
        setattr(row, name, value)
    session.flush()
    old = {"title": before.title, **dict(before.rules)}
    new = {"title": title, **dict(rules)}
    if changes := {name: {"from": old[name], "to": new[name]} for name in new if old[name] != new[name]}:
        details = {"phase": key, "changes": changes}
        audit.record(session, actor=user, action="phase.update", subject=challenge, details=details)
    move_next_phases(session, challenge, user=user, key=key, before=before.rules, after=rules)
    return phase_named(challenge, key)


def remove_phase(session: Session, *, challenge: Challenge, user: User, key: str) -> None:
    """Remove a further phase that nothing has been submitted or uploaded to. Idempotent.

    Raises:
        ConflictError: it has submissions or ground truth, is the main phase, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    if key not in {phase.key for phase in phases_of(challenge)}:
        return
    phase, row = phase_named(challenge, key), _row(challenge, key)
    if queries.has_submissions(session, challenge.id, key):
        raise ConflictError(f"The phase “{phase.title}” cannot be removed because there are submissions.")
    if any(version.phase_key == key for version in queries.truth_versions(session, challenge.id)):
        raise ConflictError(f"The phase “{phase.title}” cannot be removed because ground truth has been uploaded.")
    queries.forget_people_of_phase(session, challenge.id, key)
    challenge.further_phases.remove(row)
    session.flush()
    audit.record(session, actor=user, action="phase.remove", subject=challenge, details={"phase": key})


def require_not_entered(session: Session, challenge: Challenge, key: str, removed: set[str]) -> None:
    """Raise `ConflictError` if somebody has submitted to one of these competitions in a phase."""
    entered = queries.entered_competitions(session, challenge.id, key) if removed else set()
    if kept := sorted(removed & entered):
        raise ConflictError(f"{', '.join(kept)} cannot be removed because there are submissions.")


def _checked(
    session: Session,
    checks: FieldChecks,
    challenge: Challenge,
    before: Phase | None,
    rules: PhaseRules,
    *,
    image_set: str | None,
    has_own_truth: bool,
) -> PhaseRules:
    """The rules as they are stored; notes what is wrong with them."""
    edition = on_image_set(edition_of(challenge), image_set)
    keys = check_phase_rules(checks, rules, edition)
    phase = before if has_own_truth else phase_named(challenge, MAIN_PHASE)
    truth = None if phase is None else current_truth(session, phase)
    if truth is not None:
        _check_scorable(checks, keys, truth.competitions or ())
        was_everything = before is not None and before.rules.detail is Detail.EVERYTHING
        if rules.detail is Detail.EVERYTHING and not was_everything:
            checks.fail("detail", ALREADY_PUBLIC)
    return rules.model_copy(update={"competitions": keys})


def _check_scorable(checks: FieldChecks, keys: Sequence[str], scorable: Sequence[str]) -> None:
    if missing := [key for key in keys if key not in scorable]:
        checks.fail("competitions", f"The current ground truth cannot score {', '.join(missing)}.")


def _row(challenge: Challenge, key: str) -> ChallengePhase:
    if key == MAIN_PHASE:
        raise ConflictError("The main phase is the challenge itself: change the challenge's settings.")
    return next(row for row in challenge.further_phases if row.key == key)
