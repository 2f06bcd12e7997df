"""Rules of a challenge: checks of what its form says."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from vocboard.app.challenges.editions import own_edition
from vocboard.app.challenges.models import Detail, Visibility
from vocboard.app.forms.fields import FieldChecks
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_SLUG = 60
RESERVED_SLUGS = frozenset({"new", "registrations"})  # /organise/new and /organise/registrations are pages
LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 20_000
MOST_SUBMISSIONS = 10_000
LONGEST_PERIOD = timedelta(days=366)
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)  # of opening and closing
MOST_DECIMALS = 6  # more would help those who reconstruct the truth from scores, and nobody else


def check_slug(checks: FieldChecks, slug: str) -> None:
    """Check what shall be a challenge's part of the address."""
    if not (SLUG.fullmatch(slug) and len(slug) <= LONGEST_SLUG):
        checks.fail("slug", f"Use at most {LONGEST_SLUG} lower-case letters, digits and single hyphens.")
    elif slug in RESERVED_SLUGS:
        checks.fail("slug", "This name is reserved. Choose another one.")


def chosen_edition(checks: FieldChecks, name: str, file: str | None) -> Edition | None:
    """Return the edition of this name, or that of an organiser's own file; or note what is wrong.

    Args:
        name: of an edition that comes with vocboard; beside a file empty, or the name that the file gives.
        file: text of an edition file; None for one of vocboard's.
    """
    if file is None:
        try:
            return editions.load(name)
        except editions.UnknownEditionError as error:
            checks.fail("edition", str(error))
            return None
    try:
        edition = own_edition(file)
    except editions.EditionFileError as error:
        checks.fail("edition_file", str(error))
        return None
    if edition.name.lower() in map(str.lower, editions.names()):
        checks.fail("edition_file", f"{edition.name} is an edition that comes with vocboard. Choose another name.")
    if name and name != edition.name:
        checks.fail("edition", f"The edition file names it {edition.name!r}. Leave this empty.")
    return edition


def ordered_keys(checks: FieldChecks, edition: Edition, chosen: Sequence[str] | None) -> tuple[str, ...]:
    """Check the chosen competitions and return their keys in the edition's order."""
    if chosen is None:
        return tuple(edition.competitions)
    if unknown := [key for key in chosen if key not in edition.competitions]:
        checks.fail("competitions", f"{edition.title} has no {', '.join(unknown)}.")
    if not chosen:
        checks.fail("competitions", "Choose at least one competition.")
    return tuple(key for key in edition.competitions if key in chosen)


def checked_rules(
    checks: FieldChecks,
    *,
    title: str,
    description: str,
    opens_at: datetime | None,
    closes_at: datetime | None,
    quota_count: int,
    quota_period: timedelta,
    visibility: Visibility,
    decimals: int,
    detail: Detail,
) -> dict[str, Any]:
    """Check the rules of a challenge and return its columns' values."""
    for name, instant in (("opens_at", opens_at), ("closes_at", closes_at)):
        if instant is not None and instant.tzinfo is None:
            checks.fail(name, "Give a time zone.")
        elif instant is not None and not EARLIEST <= instant <= LATEST:
            checks.fail(name, f"Choose a date between {EARLIEST.year} and {LATEST.year}.")
    if not checks.messages.keys() & {"opens_at", "closes_at"} and opens_at and closes_at and closes_at <= opens_at:
        checks.fail("closes_at", "The closing date must be after the opening date.")
    if not 1 <= quota_count <= MOST_SUBMISSIONS:
        checks.fail("quota_count", f"Choose between 1 and {MOST_SUBMISSIONS}.")
    if not timedelta(seconds=1) <= quota_period <= LONGEST_PERIOD:
        checks.fail("quota_period", f"Choose between a second and {LONGEST_PERIOD.days} days.")
    if not 1 <= decimals <= MOST_DECIMALS:
        checks.fail("decimals", f"Choose between 1 and {MOST_DECIMALS}.")
    return {
        "title": checks.line("title", title, longest=LONGEST_TITLE, required=True),
        "description": checks.text("description", description, longest=LONGEST_DESCRIPTION),
        "opens_at": opens_at,
        "closes_at": closes_at,
        "quota_count": quota_count,
        "quota_period_seconds": int(quota_period.total_seconds()),
        "visibility": visibility,
        "decimals": decimals,
        "detail": detail,
    }
