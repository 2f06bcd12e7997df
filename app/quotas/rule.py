"""The quota rule: which competitions count together, until when, and the rule as people read it.

Another rule changes the four functions of this module, which everything else calls, and the numbers that organisers
choose, which are fields of `PhaseRules`. `app.quotas.service` decides which submissions count at all, and counts them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from vocboard.app.challenges.rules import PhaseRules
from vocboard.evaluator.editions import Competition

_UNITS = (("days", timedelta(days=1)), ("hours", timedelta(hours=1)), ("minutes", timedelta(minutes=1)))


def counted_together(rules: PhaseRules, competition: Competition) -> str:
    """Return what is the same for all competitions whose submissions count together.

    With a shared quota, these are those with the same ground truth: of one task, on one image set. Otherwise, each
    competition has its own. A submission counts in each competition that it enters, since it gets an answer there.
    """
    return f"{competition.task} on {competition.image_set}" if rules.shared_quota else competition.key


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
