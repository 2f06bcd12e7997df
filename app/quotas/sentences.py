"""The quota rule as people read it: in pages, errors and the API. Every display of the rule calls `rule`."""

from datetime import timedelta

_UNITS = (("days", timedelta(days=1)), ("hours", timedelta(hours=1)), ("minutes", timedelta(minutes=1)))


def rule(count: int, period: timedelta) -> str:
    """Return the rule without a full stop.

    Args:
        count: number of submissions that a person may make to a competition in any period of this length.

    >>> rule(2, timedelta(days=7)), rule(1, timedelta(days=1))
    ('2 submissions per competition every 7 days', '1 submission per competition every 24 hours')
    """
    return f"{count} {'submission' if count == 1 else 'submissions'} per competition every {_length(period)}"


def _length(period: timedelta) -> str:
    """Return a period in its largest unit that gives a whole number above 1: it rolls, so "day" would be misread."""
    for unit, length in _UNITS:
        if period > length and not period % length:
            return f"{period // length} {unit}"
    seconds = int(period.total_seconds())
    return "second" if seconds == 1 else f"{seconds} seconds"
