"""The time zone in which organisers type the dates of a challenge."""

from datetime import UTC, tzinfo

from vocboard.app.challenges.models import Challenge
from vocboard.app.pages import formats


def zone_of(challenge: Challenge) -> tzinfo:
    """Return the time zone in which organisers type the dates of a challenge."""
    return formats.ANYWHERE_ON_EARTH if challenge.anywhere_on_earth else UTC


def zone_name(challenge: Challenge) -> str:
    """Name the time zone in which the dates of a challenge are typed."""
    return "UTC" if zone_of(challenge) is UTC else formats.ANYWHERE_ON_EARTH_NAME
