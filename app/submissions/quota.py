"""The quota rule: which competitions and which people count together, until when, and the rule as people read it.

Another rule changes the first five functions, which everything else calls, and the numbers that organisers choose,
which are fields of `PhaseRules`. The rest decides which submissions count at all, and counts them.
"""

import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phase_people import largest_extra_quota
from vocboard.app.challenges.phases import Phase, edition_of_phase, phases_of
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.errors import ConflictError, LimitedError
from vocboard.app.submissions.models import Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.teams.queries import people_with
from vocboard.evaluator.editions import Competition

_UNITS = (("days", timedelta(days=1)), ("hours", timedelta(hours=1)), ("minutes", timedelta(minutes=1)))


def counted_together(rules: PhaseRules, competition: Competition) -> str:
    """Return what is the same for all competitions whose submissions count together.

    With a shared quota, these are those with the same ground truth: of one task, on one image set. Otherwise, each
    competition has its own. A submission counts in each competition that it enters, since it gets an answer there.
    """
    return f"{competition.task} on {competition.image_set}" if rules.shared_quota else competition.key


def people_together(session: Session, _rules: PhaseRules, challenge: Challenge, user: User) -> Sequence[User]:
    """Return the people whose submissions count together: those in the person's team now; alone without a team.

    The transaction that accepts a submission holds the lock of the team. A rule over several teams first locks what
    they share: `lock_for_transaction(session, f"quota {challenge.id} {what_they_share}")` if `is_writing(session)`.
    """
    return people_with(session, challenge.id, user)


def counts_after(rules: PhaseRules, now: datetime) -> datetime:
    """Return the time after which submissions were made that count now: the period is a rolling one.

    A submission of exactly this time does not count. For a period that begins at a time of the calendar, return the
    microsecond before it.
    """
    return now - _period(rules)


def allowed_again(rules: PhaseRules, counted: Sequence[datetime], allowed: int) -> datetime:
    """Return when the next submission is allowed to somebody whose quota is used up.

    Args:
        rules: of the phase.
        counted: when the submissions that count now were made, newest first; at least `allowed`.
        allowed: how many may count, including the person's extra quota; fewer by one for each further competition that
            the next submission enters of those that count together.
    """
    # The next one is allowed when one fewer than allowed still count, even after the quota has been lowered.
    return counted[allowed - 1] + _period(rules)


def sentence(rules: PhaseRules, allowed: int | None = None) -> str:
    """Return the rule without a full stop, for pages, errors and the API.

    Args:
        rules: of the phase.
        allowed: how many submissions a person may make, if they have extra quota.
    """
    count, length = rules.quota_count if allowed is None else allowed, _length(_period(rules))
    submissions = f"{count} {'submission' if count == 1 else 'submissions'}"
    if rules.shared_quota:
        return f"{submissions} every {length} in competitions with the same ground truth together"
    return f"{submissions} per competition every {length}"


def _period(rules: PhaseRules) -> timedelta:
    return timedelta(seconds=rules.quota_period_seconds)


def _length(period: timedelta) -> str:
    """Return a period in its largest unit that gives a whole number above 1: it rolls, so "day" would be misread.

    >>> _length(timedelta(days=7)), _length(timedelta(days=1))
    ('7 days', '24 hours')
    """
    for unit, length in _UNITS:
        if period > length and not period % length:
            return f"{period // length} {unit}"
    seconds = int(period.total_seconds())
    return "second" if seconds == 1 else f"{seconds} seconds"


_COUNTS = and_(Submission.quota_returned_at.is_(None), Submission.is_rehearsal.is_(False))


@dataclass(frozen=True, slots=True)
class Quota:
    """The quota of a person, with the person's team, in one competition.

    Attributes:
        used: number of submissions that currently count, also in competitions that share the quota.
        allowed: maximum number.
        allowed_at: when the next submission is allowed; None if it is allowed now.
    """

    used: int
    allowed: int
    allowed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Use:
    """How much of a challenge's quota a person has used, in all competitions.

    Attributes:
        counted: submissions that count, or have counted until the period was over.
        counted_now: of these, those within the current period of their phase.
    """

    counted: int = 0
    counted_now: int = 0


def quotas(session: Session, *, user: User, challenge: Challenge, phase: Phase, now: datetime) -> Mapping[str, Quota]:
    """Return the quota of the person's team in each of the phase's competitions, by key."""
    counted, allowed_at = _counted(session, user, challenge, phase, now)
    allowed = allowed_at(now)

    def quota(times: Sequence[datetime]) -> Quota:
        is_used_up = len(times) >= allowed
        return Quota(len(times), allowed, _again(phase.rules, times, allowed_at, now) if is_used_up else None)

    return {key: quota(counted[key]) for key in phase.competitions}


def check_quota(
    session: Session, *, user: User, challenge: Challenge, phase: Phase, competitions: Iterable[str], now: datetime
) -> None:
    """Check that one submission may enter all of the competitions.

    The result is only reliable while the caller holds the team's lock (see `app.intake.submitting.submit`).

    Raises:
        LimitedError: the quota of any of them is used up, or would be exceeded by those that count together.
        ConflictError: the submission enters more of these than the whole quota.
    """
    counted, allowed_at = _counted(session, user, challenge, phase, now)
    allowed = allowed_at(now)
    together, entered = _counted_together(challenge, phase), defaultdict[str, list[str]](list)
    for key in competitions:
        entered[together(key)].append(key)
    used_up: dict[str, datetime] = {}
    for keys in entered.values():
        if len(keys) > allowed:
            message = f"{', '.join(keys)} share a quota: {sentence(phase.rules, allowed)}. Submit them separately."
            raise ConflictError(message)
        times, others = counted[keys[0]], len(keys) - 1
        if len(times) + others >= allowed:
            used_up |= dict.fromkeys(keys, _again(phase.rules, times, allowed_at, now, others=others))
    if used_up:
        raise LimitedError(_used_up(used_up, allowed, phase), allowed_at=max(used_up.values()))


def check_any_quota_left(session: Session, *, user: User, challenge: Challenge, phase: Phase, now: datetime) -> None:
    """Raise `LimitedError` if the quota of every competition of the phase is used up, whatever is uploaded.

    A check before the upload; `check_quota` decides.
    """
    states = quotas(session, user=user, challenge=challenge, phase=phase, now=now)
    opens_at = [quota.allowed_at for quota in states.values() if quota.allowed_at is not None]
    if opens_at and len(opens_at) == len(states):
        allowed = next(iter(states.values())).allowed
        raise LimitedError(_used_up(states, allowed, phase), allowed_at=min(opens_at))


def quota_uses(
    session: Session, challenge: Challenge, people: Collection[uuid.UUID], *, now: datetime
) -> Mapping[uuid.UUID, Use]:
    """Return what each of these people has used of the quota, by the person's id; without people who have used none.

    A submission of a team counts for everybody who was in it.

    Args:
        challenge: with its phases.
    """
    in_period = [
        and_(Submission.phase_id == phase.id, Submission.created_at > counts_after(phase.rules, now))
        for phase in phases_of(challenge)
    ]
    rows = session.execute(
        select(SubmissionPerson.user_id, func.count(), func.count().filter(or_(*in_period)))
        .join(Submission, Submission.id == SubmissionPerson.submission_id)
        .where(Submission.challenge_id == challenge.id, SubmissionPerson.user_id.in_(people), _COUNTS)
        .group_by(SubmissionPerson.user_id)
    )
    return {user_id: Use(counted, counted_now) for user_id, counted, counted_now in rows}


def _used_up(keys: Iterable[str], allowed: int, phase: Phase) -> str:
    return f"The quota of {', '.join(keys)} is used up: {sentence(phase.rules, allowed)}."


def _counted_together(challenge: Challenge, phase: Phase) -> Callable[[str], str]:
    """Return what gives the same for the keys of all competitions of a phase that count together."""
    known = edition_of_phase(challenge, phase).competitions
    return lambda key: counted_together(phase.rules, known[key]) if key in known else key


def _counted(
    session: Session, user: User, challenge: Challenge, phase: Phase, now: datetime
) -> tuple[defaultdict[str, list[datetime]], Callable[[datetime], int]]:
    """Return what counts for a person's team, and how much may.

    Returns:
        The times of the submissions that count, newest first, by competition: a submission counts once for each
        competition that it enters, there and in those that count together with it. How many submissions may count at an
        instant: the phase's quota, and the largest extra quota of a member that has not ended by then.
    """
    people = people_together(session, phase.rules, challenge, user)

    @cache
    def allowed_at(at: datetime) -> int:
        return phase.rules.quota_count + largest_extra_quota(session, phase, people, at=at)

    of_people = select(SubmissionPerson.submission_id).where(
        SubmissionPerson.user_id.in_([person.id for person in people])
    )
    rows = session.execute(
        select(SubmissionEntry.competition, Submission.created_at)
        .join(Submission, Submission.id == SubmissionEntry.submission_id)
        .where(
            Submission.id.in_(of_people),
            Submission.phase_id == phase.id,
            Submission.created_at > counts_after(phase.rules, now),
            _COUNTS,
        )
        .order_by(Submission.created_at.desc())
    )
    groups: defaultdict[str, list[datetime]] = defaultdict(list)
    together = _counted_together(challenge, phase)
    for competition, created_at in rows:
        groups[together(competition)].append(created_at)
    return defaultdict(list, {key: groups[together(key)] for key in phase.competitions}), allowed_at


def _again(
    rules: PhaseRules, times: Sequence[datetime], allowed_at: Callable[[datetime], int], now: datetime, others: int = 0
) -> datetime:
    """Return when the next submission is allowed, if it enters so many others of those that count together."""
    at, possible = now, None
    while (later := max(allowed_at(at) - others, 1)) != possible:  # some extra quota has ended by then
        at, possible = allowed_again(rules, times, later), later
    return at
