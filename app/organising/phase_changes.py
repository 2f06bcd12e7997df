"""Adding, changing and removing phases of a challenge, and what moves with a deadline that is extended."""

import re
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import ground_truth, queries
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, ChallengePhase, Detail, TruthState
from vocboard.app.challenges.phases import (
    Phase,
    freezing_date,
    lock_to_change,
    on_image_set,
    phase_named,
    phases_of,
    phases_scored_with,
)
from vocboard.app.challenges.rules import LATEST, MAX_PHASE_TITLE_LENGTH, PhaseRules, check_phase_rules
from vocboard.app.database import add_unique, now
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.forms import FieldChecks
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards import freezing
from vocboard.app.submissions import queries as submission_queries

KEY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_KEY_LENGTH = 30
MAX_PHASES = 20
IMAGE_SET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
MOVING_DATES = ("freezes_at", "leaderboard_from", "anonymous_until")  # with a deadline that is extended

ALREADY_PUBLIC = (
    "This phase's ground truth is already in use, and exact results reveal it permanently. Give the phase ground truth "
    "of its own, or choose a lower level."
)
EVERYTHING_IS_THE_OPERATORS = (
    "The challenge has ground truth, and exact results would reveal it permanently. From "
    "now on, only the operator can choose this level: vocboard admin set-detail {slug} everything "
    "--organiser EMAIL"
)

FROZEN_DETAIL = "Frozen leaderboards keep the detail level that they were frozen with; results show the new one."
MOVED_DATES = (
    "With the deadline, the dates after it on which leaderboards freeze, appear or show names have moved by as much, "
    "and so has the opening of a phase that would have opened before it."
)


def check_new_phase(checks: FieldChecks, challenge: Challenge, *, key: str, image_set: str | None) -> None:
    """Check what a phase has beside its rules and its title; see `add_phase`."""
    if not (KEY.fullmatch(key) and len(key) <= MAX_KEY_LENGTH):
        checks.fail("key", f"Use at most {MAX_KEY_LENGTH} lower-case letters, digits and single hyphens.")
    elif key == MAIN_PHASE:
        checks.fail("key", "This name is reserved. Choose another one.")
    if image_set is not None and not IMAGE_SET.fullmatch(image_set):
        checks.fail("image_set", "Use letters, digits, dots, hyphens and underscores, such as val.")
    if len(challenge.phases) >= MAX_PHASES:
        checks.fail("key", f"A challenge has at most {MAX_PHASES} phases.")


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
    phase_id: uuid.UUID | None = None,
) -> Phase:
    """Add a phase to a challenge that `get_organised` gave.

    Args:
        key: its short name, used in URLs.
        image_set: the one that its competitions are scored on; None for those that the edition names. Another image set
            needs ground truth of its own.
        has_own_truth: whether ground truth is uploaded for it; otherwise it uses the main phase's.
        phase_id: its id, if other rows have it already.

    Raises:
        InvalidInputError: with everything that is wrong, by the names above and those of the rules.
        ConflictError: there is such a phase already, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    has_own_truth = has_own_truth or image_set is not None
    checks = FieldChecks()
    check_new_phase(checks, challenge, key=key, image_set=image_set)
    scoring_id = None if has_own_truth else challenge.main_phase.current_scoring_id
    keys = check_phase_rules(checks, rules, on_image_set(edition_of(challenge), image_set))
    rules = rules.model_copy(update={"competitions": keys})
    check_against_truth(session, checks, rules, scoring_id=scoring_id)
    title = checks.line("title", title, max_length=MAX_PHASE_TITLE_LENGTH, required=True)
    checks.finish()
    phase_id = phase_id or uuid.uuid4()
    row = ChallengePhase(
        id=phase_id,
        challenge_id=challenge.id,
        key=key,
        title=title,
        image_set=image_set,
        truth_phase_id=phase_id if has_own_truth else challenge.main_phase.id,
        current_scoring_id=scoring_id,
        **rules.phase_columns(),
    )
    if not add_unique(session, row):
        raise ConflictError(f"This challenge already has a phase {key!r}. Choose another name.")
    schedule_freezing(session, phase_id, rules)
    session.refresh(challenge, ["phases"])
    details = {"phase": key, "title": title, "image_set": image_set, "has_own_truth": has_own_truth}
    audit.record(
        session, actor=user, action="phase.create", subject=challenge, details=details | {"rules": dict(rules)}
    )
    return phase_named(challenge, key)


def update_phase(
    session: Session, *, challenge: Challenge, user: User, key: str, title: str, rules: PhaseRules
) -> Phase:
    """Change a phase other than the main one, which changes with its challenge. Its key and ground truth stay.

    Args:
        challenge: from `get_organised`.

    Raises:
        NotFoundError: there is no such phase.
        InvalidInputError: with everything that is wrong.
        ConflictError: a competition to be removed has submissions; it is the main phase; or the challenge is archived.
    """
    lock_to_change(session, challenge)
    freezing.freeze_due(session, challenge)
    before = _further_phase(challenge, key)
    checks = FieldChecks()
    keys = check_phase_rules(checks, rules, on_image_set(edition_of(challenge), before.image_set))
    rules = rules.model_copy(update={"competitions": keys})
    check_against_truth(session, checks, rules, scoring_id=before.scoring_id, before=before.rules)
    title = checks.line("title", title, max_length=MAX_PHASE_TITLE_LENGTH, required=True)
    checks.finish()
    rules = store_rules(session, challenge, before, rules, title=title)
    changes = changed({"title": before.title, **dict(before.rules)}, {"title": title, **dict(rules)})
    record_changes(session, challenge, user, key, changes)
    move_next_phases(session, challenge, user=user, before=before, after=rules)
    return phase_named(challenge, key)


def remove_phase(session: Session, *, challenge: Challenge, user: User, key: str) -> None:
    """Remove a phase that nothing has been submitted or uploaded to, with its admissions and extra quota. Idempotent.

    Raises:
        ConflictError: it has submissions or ground truth, is the main phase, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    if key not in {row.key for row in challenge.phases}:
        return
    phase = _further_phase(challenge, key)
    if submission_queries.has_submissions(session, phase.id):
        raise ConflictError(f"The phase “{phase.title}” cannot be removed because there are submissions.")
    if any(version.phase_id == phase.id for version in queries.truth_versions(session, challenge.id)):
        raise ConflictError(f"The phase “{phase.title}” cannot be removed because ground truth has been uploaded.")
    challenge.phases.remove(challenge.phase_row(key))
    session.flush()
    jobs.cancel(session, Kind.FREEZE, [phase.id])
    audit.record(session, actor=user, action="phase.remove", subject=challenge, details={"phase": key})


def check_against_truth(
    session: Session,
    checks: FieldChecks,
    rules: PhaseRules,
    *,
    scoring_id: uuid.UUID | None,
    before: PhaseRules | None = None,
    already_public: str = ALREADY_PUBLIC,
) -> None:
    """Note what the current ground truth of a phase does not allow.

    Args:
        rules: with their competitions.
        scoring_id: the current scoring; None before there is ground truth.
        before: the current rules; None for a new phase.
        already_public: the message if exact results would reveal the ground truth.
    """
    truth = queries.truth_of_scoring(session, scoring_id)
    if truth is None:
        return
    if missing := [key for key in rules.competitions or () if key not in (truth.competitions or ())]:
        checks.fail("competitions", f"The current ground truth cannot score {', '.join(missing)}.")
    if rules.detail is Detail.EVERYTHING and (before is None or before.detail is not Detail.EVERYTHING):
        checks.fail("detail", already_public)


def store_rules(session: Session, challenge: Challenge, before: Phase, rules: PhaseRules, *, title: str) -> PhaseRules:
    """Store the rules of a phase, which were checked, and return them with the dates that have moved.

    Raises:
        ConflictError: a competition to be removed has submissions.
    """
    rules = rules.model_copy(update=with_moved_dates(before.rules, rules))
    require_not_entered(session, before, set(before.competitions) - set(rules.competitions or ()))
    row = challenge.phase_row(before.key)
    row.title = title
    for name, value in rules.phase_columns().items():
        setattr(row, name, value)
    session.flush()
    schedule_freezing(session, before.id, rules)
    return rules


def schedule_freezing(session: Session, phase_id: uuid.UUID, rules: PhaseRules) -> None:
    """Let workers freeze the leaderboards of a phase on the date of its rules; see `app.leaderboards.freezing`."""
    if (date := freezing_date(rules)) is None:
        jobs.cancel(session, Kind.FREEZE, [phase_id])
    else:
        jobs.add_again(session, Kind.FREEZE, phase_id, at=date)


def require_not_entered(session: Session, phase: Phase, removed: set[str]) -> None:
    """Raise `ConflictError` if there are submissions to one of these competitions in a phase."""
    entered = submission_queries.entered_competitions(session, phase.id) if removed else set()
    if found := sorted(removed & entered):
        raise ConflictError(f"{', '.join(found)} cannot be removed because there are submissions.")


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is different, as the audit log has it."""
    return {name: {"from": before[name], "to": after[name]} for name in after if before[name] != after[name]}


def record_changes(session: Session, challenge: Challenge, user: User, key: str, changes: Mapping[str, Any]) -> None:
    """Record changes of a phase in the audit log; rules of the main phase are recorded as the challenge's."""
    if not changes:
        return
    action, details = "challenge.update", dict(changes)
    if key != MAIN_PHASE:
        action, details = "phase.update", {"phase": key, "changes": dict(changes)}
    audit.record(session, actor=user, action=action, subject=challenge, details=details)


def with_moved_dates(before: PhaseRules, after: PhaseRules) -> dict[str, datetime]:
    """Return the dates from a deadline on that move with it if it is extended, unless they are changed themselves, too.

    They are the freezing date, and the dates until which leaderboards are hidden or anonymous. Leaderboards and names
    that are shown already stay so.
    """
    moved, deadline = extension(before, after), before.closes_at
    dates = {}
    for name in MOVING_DATES:
        old, new = getattr(before, name), getattr(after, name)
        if not moved or deadline is None or old is None or new is None or old < deadline:
            continue
        is_over = name != "freezes_at" and old <= now()
        if not is_over and abs(new - old) < timedelta(minutes=1):  # forms have minutes
            dates[name] = min(new + moved, LATEST)
    return dates


def extension(before: PhaseRules, after: PhaseRules) -> timedelta:
    """Return by how much a deadline was extended; nothing if it was not, or is new or removed.

    >>> from vocboard.app.challenges.rules import EARLIEST, LATEST
    >>> extension(PhaseRules(closes_at=EARLIEST), PhaseRules(closes_at=LATEST)).days
    73049
    """
    if before.closes_at is None or after.closes_at is None:
        return timedelta()
    return max(after.closes_at - before.closes_at, timedelta())


def moving_phases(challenge: Challenge, before: Phase, after: PhaseRules) -> list[Phase]:
    """Return the other phases that would open between the old and the new deadline of a phase; none that has opened."""
    deadline = before.rules.closes_at
    if not extension(before.rules, after) or deadline is None or after.closes_at is None:
        return []
    return [
        phase
        for phase in phases_of(challenge)
        if phase.key != before.key
        and (opens_at := phase.rules.opens_at) is not None
        and deadline <= opens_at < after.closes_at
        and opens_at > now()
    ]


def moves_dates(challenge: Challenge, before: Phase, after: PhaseRules) -> bool:
    """Whether an extended deadline moves other dates of a phase, or the opening of another; not if it is refused."""
    checks = FieldChecks()
    check_phase_rules(checks, after, None)
    if checks.messages:
        return False
    return bool(with_moved_dates(before.rules, after) or moving_phases(challenge, before, after))


def keeps_frozen_detail(before: Phase, after: PhaseRules) -> bool:
    """Whether a new detail level comes after the leaderboards were frozen, which keep theirs."""
    return after.detail is not before.rules.detail and before.is_frozen(now())


def note_on_change(challenge: Challenge, before: Phase, after: PhaseRules) -> str | None:
    """Return what a change of rules does not do, and what it does besides; None if neither.

    Args:
        challenge: as it is before the change.
    """
    notes = [FROZEN_DETAIL] * keeps_frozen_detail(before, after) + [MOVED_DATES] * moves_dates(challenge, before, after)
    return " ".join(notes) or None


def move_next_phases(session: Session, challenge: Challenge, *, user: User, before: Phase, after: PhaseRules) -> None:
    """Let phases that would open between the old and the new deadline of a phase open later by as much.

    Raises:
        InvalidInputError: one would then open after it closes.
    """
    moved = extension(before.rules, after)
    for phase in moving_phases(challenge, before, after):
        opens_at, closes_at = phase.rules.opens_at, phase.rules.closes_at
        assert opens_at is not None  # noqa: S101  # see `moving_phases`
        if closes_at is not None and closes_at <= opens_at + moved:
            raise InvalidInputError(
                {
                    "closes_at": f"The phase “{phase.title}” opens before that. If it opened as much later, it would "
                    "open after it closes. Change its dates first."
                }
            )
        challenge.phase_row(phase.key).opens_at = opens_at + moved
        session.flush()
        changes = {"opens_at": {"from": opens_at, "to": opens_at + moved}}
        record_changes(session, challenge, user, phase.key, changes)


def _further_phase(challenge: Challenge, key: str) -> Phase:
    if key == MAIN_PHASE:
        raise ConflictError("The main phase is the challenge itself: change the challenge's settings.")
    return phase_named(challenge, key)


def remove_unscorable(session: Session, *, challenge: Challenge, user: User, number: int) -> list[str]:
    """Remove the competitions that a version cannot score from its phase, and from those that share its ground truth.

    Returns:
        The keys of these competitions.

    Raises:
        NotFoundError: there is no such version.
        ConflictError: it is not ready, or would leave a phase without competitions; there are submissions to one of
            them; or the challenge is archived.
    """
    lock_to_change(session, challenge)
    version = ground_truth.get_version(session, challenge, number)
    if version.state is not TruthState.READY:
        raise ConflictError(f"Version {number} is {version.state}.")
    removed = list(ground_truth.unscorable(challenge, version))
    concerned = [
        phase
        for phase in phases_scored_with(challenge, version.phase_id)
        if not set(removed).isdisjoint(phase.competitions)
    ]
    for phase in concerned:
        if set(phase.competitions) <= set(removed):
            of_phase = f"the phase “{phase.title}”" if len(challenge.phases) > 1 else "the challenge"
            raise ConflictError(f"Version {number} can score none of the competitions of {of_phase}.")
        require_not_entered(session, phase, set(removed) & set(phase.competitions))
    for phase in concerned:
        left = [key for key in phase.competitions if key not in removed]
        challenge.phase_row(phase.key).competition_keys = left
        session.flush()
        changes = {"competitions": {"from": list(phase.competitions), "to": left}}
        record_changes(session, challenge, user, phase.key, changes)
    jobs.add(session, Kind.IMPORT, version.id, owner=user.id)
    return removed
