"""The fields of a phase's rules, which the form of a challenge and that of a further phase share."""

from datetime import UTC, timedelta, tzinfo
from typing import Any

from pydantic import BaseModel

from vocboard.app.challenges.models import Admission, Challenge, Detail, Freeze
from vocboard.app.challenges.phase_changes import keeps_frozen_detail, moves_dates
from vocboard.app.challenges.phases import Phase
from vocboard.app.challenges.rules import DATES, PhaseRules
from vocboard.app.forms import chosen, instant, whole
from vocboard.app.pages import formats
from vocboard.evaluator.editions import Edition

DETAILS = (
    (Detail.MEAN.value, "means only."),
    (Detail.CLASSES.value, "also the scores of each class."),
    (Detail.CURVES.value, "also curves from recall 0.5 on, confusion matrices and shares of errors, rounded."),
    (
        Detail.EVERYTHING.value,
        "exact curves and counts, from which the ground truth can be computed. Choose this only if everybody has it.",
    ),
)
ADMISSIONS = (
    (Admission.EVERYONE.value, "Everyone with an account"),
    (Admission.APPROVED.value, "People whom you admit by email address"),
    (Admission.EARLIER_PHASE.value, "People with a scored submission in an earlier phase"),
)
FREEZES = (
    (Freeze.CLOSING.value, "When it closes"),
    (Freeze.DATE.value, "On a date"),
    (Freeze.NEVER.value, "Never"),
)
SHARED, SEPARATE = "shared", "separate"
SHARED_QUOTA = (
    (SHARED, "Shared by competitions with the same ground truth, such as comp3 and comp4"),
    (SEPARATE, "Each competition has its own"),
)
SECONDS_PER_DAY = 86_400
TYPED_AS = {
    "quota_period_seconds": "quota_days",
    "ladder_step": "ladder_percent",
}  # rules that the form has in another unit


def as_typed(rules: PhaseRules, zone: tzinfo = UTC) -> dict[str, Any]:
    """Return the fields that say these rules."""
    return {
        "competitions": list(rules.competitions or ()),
        "quota_count": str(rules.quota_count),
        "quota_days": f"{rules.quota_period_seconds / SECONDS_PER_DAY:.10g}",
        "shared_quota": SHARED if rules.shared_quota else SEPARATE,
        "detail": rules.detail.value,
        "admission": rules.admission.value,
        "min_account_days": str(rules.min_account_days),
        "freeze": rules.freeze.value,
        "ladder_percent": "" if rules.ladder_step is None else formats.step_percent(rules.ladder_step),
        **{name: formats.date_field(getattr(rules, name), zone) for name in DATES},
    }


_OF_A_NEW_PHASE = as_typed(PhaseRules())


class PhaseFields(BaseModel):
    """The fields as they were typed."""

    competitions: list[str] = []
    opens_at: str = ""
    closes_at: str = ""
    quota_count: str = _OF_A_NEW_PHASE["quota_count"]
    quota_days: str = _OF_A_NEW_PHASE["quota_days"]
    shared_quota: str = _OF_A_NEW_PHASE["shared_quota"]
    detail: str = _OF_A_NEW_PHASE["detail"]
    admission: str = _OF_A_NEW_PHASE["admission"]
    min_account_days: str = _OF_A_NEW_PHASE["min_account_days"]
    leaderboard_from: str = ""
    freeze: str = _OF_A_NEW_PHASE["freeze"]
    freezes_at: str = ""
    anonymous_until: str = ""
    ladder_percent: str = ""

    def read(self, wrong: dict[str, str], zone: tzinfo) -> dict[str, Any]:
        """Return what the fields mean, as fields of `PhaseRules`; note every one that is not what it should be.

        Args:
            zone: that of the dates.
        """
        return {
            "competitions": tuple(self.competitions) or None,
            "quota_count": whole(self.quota_count, "quota_count", wrong),
            "quota_period_seconds": _days("quota_days", self.quota_days, wrong),
            "shared_quota": self.shared_quota == SHARED,
            "detail": chosen(Detail, self.detail, "detail", wrong),
            "admission": chosen(Admission, self.admission, "admission", wrong),
            "min_account_days": whole(self.min_account_days, "min_account_days", wrong),
            "freeze": chosen(Freeze, self.freeze, "freeze", wrong),
            "ladder_step": _fraction("ladder_percent", self.ladder_percent, wrong),
            **{name: instant(self._date(name), name, wrong, zone) for name in DATES},
        }

    def _date(self, name: str) -> str:
        """Return a date as it was typed; nothing of one that the choice beside it does not need."""
        is_unused = name == "freezes_at" and self.freeze in {Freeze.CLOSING, Freeze.NEVER}
        return "" if is_unused else str(getattr(self, name))


def _days(field: str, text: str, wrong: dict[str, str]) -> int:
    """Return the seconds of so many days."""
    try:
        return int(timedelta(days=float(text)).total_seconds())  # rounded to a microsecond before it is cut off
    except (ValueError, OverflowError):  # not a number, infinite
        wrong[field] = "Give a number of days."
        return 0


def _fraction(field: str, text: str, wrong: dict[str, str]) -> float | None:
    """Return the fraction that so many per cent are; None if nothing was typed."""
    if not text.strip():
        return None
    try:
        return round(float(text) / 100, 12)  # 0.7 % is 0.007
    except ValueError:
        wrong[field] = "Give a number of per cent, such as 1, or leave this empty."
        return None


def done_with(challenge: Challenge, before: Phase, rules: PhaseRules) -> str | None:
    """Return the message after a change that has further consequences, or fewer than it seems to; None for others."""
    if keeps_frozen_detail(before, rules):
        return "frozen-detail"
    return "deadline" if moves_dates(challenge, before, rules) else None


def choices(edition: Edition) -> dict[str, Any]:
    """Return what the fields of a phase offer, by the names of templates/organise/phase_fields.html."""
    return {
        "competitions": list(edition.competitions.values()),
        "details": DETAILS,
        "admissions": ADMISSIONS,
        "shared_quota": SHARED_QUOTA,
        "freezes": FREEZES,
    }
