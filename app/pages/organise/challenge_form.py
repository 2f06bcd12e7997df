"""The form for a challenge's rules."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from vocboard.app.challenges.models import Challenge, Detail, Visibility
from vocboard.app.challenges.rules import ChallengeRules, rules_of
from vocboard.app.errors import InvalidInputError
from vocboard.app.pages import formats

VISIBILITIES = (
    (Visibility.DRAFT.value, "only its organisers can see it."),
    (Visibility.UNLISTED.value, "anyone who knows the address can see it."),
    (Visibility.PUBLIC.value, "everyone can see it in the list."),
)
DETAILS = (
    (Detail.MEAN.value, "means only."),
    (Detail.CLASSES.value, "also the scores of each class."),
    (Detail.CURVES.value, "also eleven-point curves and confusion matrices, with two decimals."),
    (
        Detail.EVERYTHING.value,
        "exact curves and counts, which reveal the ground truth. Choose this only if the ground truth is public.",
    ),
)
SECONDS_PER_DAY = 86_400
MOST_DIGITS = 9  # of whole numbers; the service checks the actual limits


def _as_typed(rules: ChallengeRules) -> dict[str, Any]:
    """Return the form fields for rules."""
    return {
        "title": rules.title,
        "description": rules.description,
        "competitions": list(rules.competitions or ()),
        "opens_at": formats.date_field(rules.opens_at),
        "closes_at": formats.date_field(rules.closes_at),
        "quota_count": str(rules.quota_count),
        "quota_days": f"{rules.quota_period_seconds / SECONDS_PER_DAY:.10g}",
        "decimals": str(rules.decimals),
        "detail": rules.detail.value,
        "visibility": rules.visibility.value,
    }


OF_A_NEW_CHALLENGE = _as_typed(ChallengeRules(title=""))


class ChallengeForm(BaseModel):
    """The fields as entered; times are UTC."""

    title: str = ""
    slug: str = ""
    description: str = ""
    edition: str = "VOC2012"
    edition_text: str = ""  # content of an edition file, which takes precedence over `edition`
    competitions: list[str] = []
    opens_at: str = ""
    closes_at: str = ""
    quota_count: str = OF_A_NEW_CHALLENGE["quota_count"]
    quota_days: str = OF_A_NEW_CHALLENGE["quota_days"]
    decimals: str = OF_A_NEW_CHALLENGE["decimals"]
    detail: str = OF_A_NEW_CHALLENGE["detail"]
    visibility: str = OF_A_NEW_CHALLENGE["visibility"]

    @classmethod
    def of(cls, challenge: Challenge) -> "ChallengeForm":
        """Return the form with a challenge's current rules."""
        return cls(slug=challenge.slug, edition=challenge.edition, **_as_typed(rules_of(challenge)))

    def rules(self) -> ChallengeRules:
        """Parse the fields.

        Raises:
            InvalidInputError: with every invalid field.
        """
        wrong: dict[str, str] = {}
        rules = ChallengeRules(
            title=self.title,
            description=self.description,
            competitions=tuple(self.competitions) or None,
            opens_at=_instant("opens_at", self.opens_at, wrong),
            closes_at=_instant("closes_at", self.closes_at, wrong),
            quota_count=_whole("quota_count", self.quota_count, wrong),
            quota_period_seconds=_days("quota_days", self.quota_days, wrong),
            visibility=_visibility(self.visibility, wrong),
            decimals=_whole("decimals", self.decimals, wrong),
            detail=_detail(self.detail, wrong),
        )
        if wrong:
            raise InvalidInputError(wrong)
        return rules


def _instant(field: str, text: str, wrong: dict[str, str]) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        wrong[field] = "Give a date and a time, such as 2026-03-01T12:00."
        return None


def _whole(field: str, text: str, wrong: dict[str, str]) -> int:
    stripped = text.strip()
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= MOST_DIGITS:
        return int(stripped)
    wrong[field] = "Give a whole number."
    return 0


def _days(field: str, text: str, wrong: dict[str, str]) -> int:
    """Return the seconds of so many days."""
    try:
        return int(timedelta(days=float(text)).total_seconds())  # rounded to a microsecond before it is cut off
    except (ValueError, OverflowError):  # not a number, infinite
        wrong[field] = "Give a number of days."
        return 0


def _visibility(text: str, wrong: dict[str, str]) -> Visibility:
    try:
        return Visibility(text)
    except ValueError:
        wrong["visibility"] = "Choose who can find the challenge."
        return Visibility.DRAFT


def _detail(text: str, wrong: dict[str, str]) -> Detail:
    try:
        return Detail(text)
    except ValueError:
        wrong["detail"] = "Choose what participants see of a result."
        return Detail.CURVES
