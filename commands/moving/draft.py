"""What is carried over from another server, as the rules of a challenge, and remarks on what is not."""

import re
import unicodedata
from collections import defaultdict
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
DECIMALS, TEAM_SIZE = (ChallengeRules.model_fields[name].default for name in ("decimals", "team_size"))


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
        remarks: sentences on what is not carried over, or differently.
        of_phases: the same of phases: titles by what follows them.
    """

    title: str
    summary: str = ""
    pages: list[tuple[str, str]] = field(default_factory=list)
    terms: str = ""
    contact: str = ""
    phases: list[Phase] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    admission: Admission = Admission.EVERYONE
    domains: Sequence[str] = ()
    has_teams: bool = False
    is_anonymous: bool = False
    decimals: int | None = None
    remarks: list[str] = field(default_factory=list)
    of_phases: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def remark_on(self, phase: Phase, text: str) -> None:
        """Remark on a phase; what is said of several is said once."""
        self.of_phases[text].append(f"“{phase.title}”")

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
        edition: None if it is unknown.
        wrong: gets what is wrong nevertheless.
    """
    phases = (draft.phases or [Phase("", "", None, None, "")])[-MAX_PHASES:]
    if len(draft.phases) > MAX_PHASES:
        draft.remarks.append(f"Only the last {MAX_PHASES} of {len(draft.phases)} phases are carried over.")
    checks = FieldChecks()
    keys, listed, bodies = [MAIN_PHASE], [], []
    for number, one in enumerate(phases, 1):
        _check_dates(draft, one)
        title = _shortened(draft, "name of a phase", one.title, MAX_PHASE_TITLE_LENGTH)
        listed.append((title, _phase_rules(draft, one)))
        if one is phases[-1]:
            break
        check_phase_rules(checks, listed[-1][1], edition)
        checks.line(f"name of phase {number}", title, max_length=MAX_PHASE_TITLE_LENGTH)
        key = slug_of(title, MAX_KEY_LENGTH - 3) or "phase"
        keys.append(key if key not in keys else f"{key}-{number}")
        is_own = one.truth != phases[-1].truth
        if is_own:
            draft.remark_on(one, "was scored with data of its own. Upload its ground truth for it, too.")
        title = title or f"Phase {number}"
        bodies.append({"key": keys[-1], "title": title, "has_own_ground_truth": is_own, **_given(listed[-1][1])})
    if all(one.closes_at is not None and one.closes_at < datetime.now(UTC) for one in phases):
        draft.remarks.append("All phases have ended. Give them new dates before you open the challenge.")
    challenge = ChallengeRules(
        title=_shortened(draft, "title", draft.title, MAX_TITLE_LENGTH),
        summary=_shortened(draft, "summary", draft.summary, MAX_SUMMARY_LENGTH),
        description=_description(draft, [(one.title, one.text) for one in phases if one.text]),
        contact=_contact(draft),
        phase_title=listed[-1][0],
        decimals=DECIMALS if draft.decimals is None else min(max(draft.decimals, 1), MAX_DECIMALS),
        team_size=TEAM_SIZE if draft.has_teams else 1,
        **dict(listed[-1][1]),
    )
    challenge = check_rules(checks, challenge, edition)
    wrong += [f"{name}: {message}" for name, message in checks.messages.items()]
    return Rules(_given(challenge), bodies, _terms(draft), listed)


def _given(rules: PhaseRules) -> dict[str, Any]:
    given = rules.model_dump(mode="json", exclude_defaults=True)
    return {name: value for name, value in given.items() if name != "competitions"}


def _phase_rules(draft: Draft, phase: Phase) -> PhaseRules:
    count, seconds = _quota(draft, phase)
    if phase.is_hidden:
        until = "until the phase closes" if phase.closes_at else "for ever: give it a date"
        draft.remark_on(phase, f"had a hidden leaderboard. Here it is hidden {until}.")
    return PhaseRules(
        opens_at=phase.opens_at,
        closes_at=phase.closes_at,
        quota_count=count,
        quota_period_seconds=seconds,
        detail=Detail.MEAN,
        admission=draft.admission,
        admission_domains=tuple(draft.domains)[:MAX_DOMAINS] if draft.admission is Admission.DOMAIN else (),
        leaderboard_from=(phase.closes_at or LATEST) if phase.is_hidden else None,
        anonymous_until=phase.closes_at if draft.is_anonymous else None,
    )


def _quota(draft: Draft, phase: Phase) -> tuple[int, int]:
    """Return the limit with the shortest period: a quota here has one period, which may be the whole phase."""
    whole = int(MAX_PERIOD.total_seconds())
    if phase.opens_at and phase.closes_at:
        whole = min(whole, max(int((phase.closes_at - phase.opens_at).total_seconds()), DAY))
    limits = (("a day", phase.per_day, DAY), ("a month", phase.per_month, 30 * DAY), ("in all", phase.total, whole))
    given = [(name, min(count, MAX_SUBMISSIONS), seconds) for name, count, seconds in limits if count > 0]
    if not given:
        default = PhaseRules()
        draft.remark_on(phase, "had no limit of submissions. It has the usual quota here, two a week.")
        return default.quota_count, default.quota_period_seconds
    (_, quota, period), *left = given
    if more := [f"{count} {name}" for name, count, seconds in left if count * period < quota * seconds]:
        draft.remark_on(
            phase,
            f"also had a limit of {' and of '.join(more)}. A quota has one period here: choose another one if that "
            "limit matters more.",
        )
    return quota, period


def _check_dates(draft: Draft, phase: Phase) -> None:
    for name in ("opens_at", "closes_at"):
        value = getattr(phase, name)
        if value is not None and not EARLIEST <= value <= LATEST:
            draft.remark_on(phase, f"has {value.date()}, which is left out: years are 2000 to 2199.")
            setattr(phase, name, None)
    if phase.opens_at and phase.closes_at and phase.closes_at <= phase.opens_at:
        draft.remark_on(phase, f"would not end after it begins. The end, {written(phase.closes_at)}, is left out.")
        phase.closes_at = None


def written(moment: datetime) -> str:
    """Return an instant as the report has it."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _shortened(draft: Draft, name: str, text: str, length: int) -> str:
    if len(text) <= length:
        return text
    draft.remarks.append(f"The {name} is cut to {length} characters.")
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
