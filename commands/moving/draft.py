"""What is carried over from another server, as the rules of a challenge, and remarks on what is not."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from vocboard.app.accounts.people import normalised_email
from vocboard.app.challenges.models import MAIN_PHASE, Admission, Detail
from vocboard.app.challenges.rules import (
    EARLIEST,
    LATEST,
    MAX_DECIMALS,
    MAX_DESCRIPTION_LENGTH,
    MAX_DOMAINS,
    MAX_PERIOD,
    MAX_PHASE_TITLE_LENGTH,
    MAX_SLUG_LENGTH,
    MAX_SUBMISSIONS,
    MAX_SUMMARY_LENGTH,
    MAX_TITLE_LENGTH,
    ChallengeRules,
    PhaseRules,
    check_phase_rules,
    check_rules,
)
from vocboard.app.challenges.terms import MAX_LENGTH as MAX_TERMS_LENGTH
from vocboard.app.forms import FieldChecks, character_error, is_address
from vocboard.app.organising.phase_changes import MAX_KEY_LENGTH, MAX_PHASES
from vocboard.commands.moving.bundle import Bundle, FileError
from vocboard.commands.moving.texts import as_markdown, page
from vocboard.evaluator.editions import Edition

DAY = 24 * 3600


@dataclass
class Phase:
    """A phase of a competition there.

    Attributes:
        per_day, per_month, total: submissions of a person; 0 without a limit.
        truth: names the ground truth that it is scored with.
        is_hidden: whether participants do not see its leaderboard.
    """

    title: str
    text: str
    opens_at: datetime | None
    closes_at: datetime | None
    truth: str
    per_day: int = 0
    per_month: int = 0
    total: int = 0
    is_hidden: bool = False


@dataclass
class Column:
    """A column of a leaderboard there; the first one ranks."""

    title: str
    key: str
    is_ascending: bool = False
    is_hidden: bool = False

    @property
    def described(self) -> str:
        """Its title and what is special about it."""
        notes = ["smaller is better"] * self.is_ascending + ["hidden"] * self.is_hidden
        return f"{self.title} ({', '.join(notes)})" if notes else self.title


@dataclass
class Draft:
    """A challenge to create.

    Attributes:
        pages: titles and Markdown.
        picture: name of a file of the bundle.
        remarks: sentences on what is not carried over, or differently.
    """

    title: str
    summary: str = ""
    pages: list[tuple[str, str]] = field(default_factory=list)
    terms: str = ""
    picture: str = ""
    contact: str = ""
    phases: list[Phase] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    admission: Admission = Admission.EVERYONE
    domains: Sequence[str] = ()
    has_teams: bool = False
    is_anonymous: bool = False
    decimals: int | None = None
    remarks: list[str] = field(default_factory=list)

    def add_page(self, bundle: Bundle, title: str, file: str) -> None:
        """Add a page of the bundle to the description."""
        if content := self.markdown(bundle, title, file):
            self.pages.append((title, content))

    def markdown(self, bundle: Bundle, title: str, file: str) -> str:
        """Return a page of the bundle as Markdown; empty if there is none, with a remark if there should be."""
        if not file:
            return ""
        try:
            content, pictures = as_markdown(bundle.text(file), is_html=not file.lower().endswith((".md", ".markdown")))
        except (FileError, ValueError) as error:
            self.remarks.append(f"The page “{title}” is left out: {file} {error}.")
            return ""
        if pictures:
            self.remarks.append(f"Pictures of the page “{title}” are left out ({pictures}): descriptions show none.")
        return content


@dataclass(frozen=True)
class Rules:
    """A draft as the API takes it.

    Attributes:
        phases: all but the main one.
        listed: titles and rules of all of them, to say what they are.
    """

    challenge: dict[str, Any]
    phases: list[dict[str, Any]]
    terms: str
    listed: list[tuple[str, PhaseRules]]


def slug_of(title: str, length: int = MAX_SLUG_LENGTH) -> str:
    """Return a short name for URLs.

    >>> slug_of("Détection – Phase 1!")
    'detection-phase-1'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:length].strip("-")


def rules_of(draft: Draft, edition: Edition | None, wrong: list[str]) -> Rules:
    """Return the rules of a draft. What they do not allow is left out or shortened, with a remark.

    The last phase is the main one: it has the test set of the edition.

    Args:
        wrong: gets what is wrong nevertheless.
    """
    remarks = draft.remarks
    phases = draft.phases or [Phase("", "", None, None, "")]
    if len(phases) > MAX_PHASES:
        remarks.append(f"Only the last {MAX_PHASES} of {len(phases)} phases are carried over.")
        del phases[:-MAX_PHASES]
    *others, main = phases
    for one in phases:
        _check_dates(one, remarks)
    if all(one.closes_at is not None and one.closes_at < datetime.now(UTC) for one in phases):
        remarks.append("All phases have ended. Give them new dates before you open the challenge.")
    challenge = ChallengeRules(
        title=_shortened("title", draft.title, MAX_TITLE_LENGTH, remarks),
        summary=_shortened("summary", draft.summary, MAX_SUMMARY_LENGTH, remarks),
        description=_description(draft, [(one.title, one.text) for one in phases if one.text]),
        contact=_contact(draft),
        phase_title=_shortened("name of the main phase", main.title, MAX_PHASE_TITLE_LENGTH, remarks),
        decimals=min(max(draft.decimals, 1), MAX_DECIMALS) if draft.decimals is not None else 2,
        team_size=ChallengeRules.model_fields["team_size"].default if draft.has_teams else 1,
        **dict(_phase_rules(draft, main)),
    )
    checks = FieldChecks()
    challenge = check_rules(checks, challenge, edition)
    further: list[dict[str, Any]] = []
    listed: list[tuple[str, PhaseRules]] = []
    used = {MAIN_PHASE}
    for number, one in enumerate(others, 1):
        key = slug_of(one.title, MAX_KEY_LENGTH) or f"phase-{number}"
        key = key if key not in used else f"{key[: MAX_KEY_LENGTH - 4]}-{number}"
        used.add(key)
        rules = _phase_rules(draft, one)
        check_phase_rules(checks, rules, edition)
        title = _shortened("name of a phase", one.title, MAX_PHASE_TITLE_LENGTH, remarks) or f"Phase {number}"
        own = one.truth != main.truth
        further.append({"key": key, "title": title, "has_own_ground_truth": own, **_given(rules)})
        listed.append((checks.line(f"name of phase {number}", title, max_length=MAX_PHASE_TITLE_LENGTH), rules))
        if own:
            remarks.append(f"The phase “{title}” was scored with data of its own: upload its ground truth for it, too.")
    wrong += [f"{name}: {message}" for name, message in checks.messages.items()]
    return Rules(_given(challenge), further, _terms(draft), [*listed, (challenge.phase_title, challenge)])


def _given(rules: PhaseRules) -> dict[str, Any]:
    given = rules.model_dump(mode="json", exclude_defaults=True)
    return {name: value for name, value in given.items() if name != "competitions"}


def _phase_rules(draft: Draft, phase: Phase) -> PhaseRules:
    count, seconds = _quota(phase, draft.remarks)
    hidden_until = phase.closes_at or LATEST if phase.is_hidden else None
    if phase.is_hidden:
        until = f"until {written(phase.closes_at)}" if phase.closes_at else "for ever: give it a date"
        draft.remarks.append(f"The leaderboard of “{phase.title}” was hidden. Here it is {until}.")
    return PhaseRules(
        opens_at=phase.opens_at,
        closes_at=phase.closes_at,
        quota_count=count,
        quota_period_seconds=seconds,
        detail=Detail.MEAN,
        admission=draft.admission,
        admission_domains=tuple(draft.domains)[:MAX_DOMAINS] if draft.admission is Admission.DOMAIN else (),
        leaderboard_from=hidden_until,
        anonymous_until=phase.closes_at if draft.is_anonymous else None,
    )


def _quota(phase: Phase, remarks: list[str]) -> tuple[int, int]:
    """Return the most frequent of its limits: a quota here has one period, which may be the whole phase."""
    whole = int(MAX_PERIOD.total_seconds())
    if phase.opens_at and phase.closes_at:
        whole = min(whole, max(int((phase.closes_at - phase.opens_at).total_seconds()), DAY))
    limits = {"a day": (phase.per_day, DAY), "a month": (phase.per_month, 30 * DAY), "in all": (phase.total, whole)}
    given = {name: (min(limit[0], MAX_SUBMISSIONS), limit[1]) for name, limit in limits.items() if limit[0] > 0}
    if not given:
        default = PhaseRules()
        remarks.append(f"“{phase.title}” had no limit of submissions. It has the usual quota here, two a week.")
        return default.quota_count, default.quota_period_seconds
    (_, quota), *left = given.items()
    if more := [f"{count} {name}" for name, (count, seconds) in left if count * quota[1] < quota[0] * seconds]:
        remarks.append(
            f"“{phase.title}” also had a limit of {' and of '.join(more)}. A quota has one period here: choose another "
            "one if that limit matters more."
        )
    return quota


def _check_dates(phase: Phase, remarks: list[str]) -> None:
    for name in ("opens_at", "closes_at"):
        value = getattr(phase, name)
        if value is not None and not EARLIEST <= value <= LATEST:
            remarks.append(f"“{phase.title}”: {value.date()} is left out, since years are 2000 to 2199.")
            setattr(phase, name, None)
    if phase.opens_at and phase.closes_at and phase.closes_at <= phase.opens_at:
        remarks.append(
            f"“{phase.title}” would not end after it begins. Its end, {written(phase.closes_at)}, is left out."
        )
        phase.closes_at = None


def written(moment: datetime) -> str:
    """Return an instant as the report has it."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _shortened(name: str, text: str, length: int, remarks: list[str]) -> str:
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    remarks.append(f"The {name} is cut to {length} characters.")
    return f"{text[: length - 2].rsplit(' ', 1)[0]} …"


def _description(draft: Draft, of_phases: Sequence[tuple[str, str]]) -> str:
    """Return the pages one below the other, as many as a description has room for."""
    pages = [(title, page(title, content)) for title, content in draft.pages]
    if of_phases:
        pages.append(("Phases", "# Phases\n\n" + "\n\n".join(f"**{title}**: {text}" for title, text in of_phases)))
    room, taken = MAX_DESCRIPTION_LENGTH, []
    for title, content in pages:
        if character_error(content, allowed="\n\t"):
            draft.remarks.append(f"The page “{title}” is left out: it has letters with too many marks.")
        elif len(content) + 2 > room:
            draft.remarks.append(
                f"The page “{title}” is left out: its {len(content):,} characters do not fit into the "
                f"{MAX_DESCRIPTION_LENGTH:,} of a description. Put it on a site of yours, or into a file to download."
            )
        else:
            room -= len(content) + 2
            taken.append(content)
    return "\n\n".join(taken)


def _terms(draft: Draft) -> str:
    checks = FieldChecks()
    checks.text("text", draft.terms, max_length=MAX_TERMS_LENGTH)
    if not checks.messages:
        return draft.terms
    draft.remarks.append(f"The terms are left out. {checks.messages['text']}")
    return ""


def _contact(draft: Draft) -> str:
    if not draft.contact or normalised_email(draft.contact) or is_address(draft.contact):
        return draft.contact
    draft.remarks.append("The contact is left out: it is no email address.")
    return ""


def ends_at_next(phases: Sequence[Phase], last: datetime | None) -> None:
    """Let each phase end when the next one begins, where phases have no end of their own."""
    for one, after in zip(phases, [*phases[1:], None], strict=False):
        one.closes_at = one.closes_at or (after.opens_at if after else last)
