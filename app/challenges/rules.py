"""The rules of a challenge: the one type that forms, the API, the command line and the service use, and its checks.

CONTRIBUTING.md, "a rule of challenges or phases", has the steps to add one. `app.submissions.quota` explains
the numbers of the quota. A slug is the name of a challenge in URLs.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from vocboard.app.accounts.people import domain_of, normalised_email
from vocboard.app.challenges.models import (
    Admission,
    Challenge,
    ChallengePhase,
    Detail,
    Freeze,
    OverallRank,
    QuestionKind,
    Visibility,
)
from vocboard.app.forms import MAX_LINK_LENGTH, FieldChecks, Instant, checked_link, is_address
from vocboard.evaluator.editions import Edition

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")  # the name of a challenge in URLs
MAX_SLUG_LENGTH = 60
# /organise/new, /api/v1/challenges/imports and so on are not challenges; a test checks.
RESERVED_SLUGS = frozenset({"import", "imports", "log", "new", "people", "registrations"})
MAX_TITLE_LENGTH = 200
MAX_SUMMARY_LENGTH = 160
MAX_DESCRIPTION_LENGTH = 20_000
MAX_CITATION_LENGTH = 5_000
MAX_ORGANISED_BY_LENGTH = 2_000
MAX_DATA_LINKS, MAX_DATA_TITLE_LENGTH, MAX_DATA_BYTES = 50, 100, 10**15
MAX_SUBMISSIONS = 10_000
MAX_PERIOD = timedelta(days=366)
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)  # of all dates
DATES = ("opens_at", "closes_at", "leaderboard_from", "freezes_at", "anonymous_until")  # of phases
MAX_PHASE_TITLE_LENGTH = 100
MAX_DOMAINS = 50
MAX_QUESTIONS, MAX_ASKED_LENGTH, MAX_CHOICES, MAX_CHOICE_LENGTH = 10, 300, 20, 100  # to people who ask to be admitted
MIN_STEP, MAX_STEP = 0.001, 0.2  # of the Ladder mechanism, fractions
_SPDX = re.compile("[A-Za-z0-9][A-Za-z0-9.+-]{0,59}")
_SHA256 = re.compile("[0-9a-f]{64}")
MAX_TEAM_SIZE = 50
MAX_DECIMALS = 6  # more would only help to reconstruct the ground truth from scores


# What JSON Schema can say of the bounds that `check_rules` checks, by field; also of the fields of new challenges.
_BOUNDS: dict[str, dict[str, Any]] = {
    "slug": {"pattern": f"^{SLUG.pattern}$", "maxLength": MAX_SLUG_LENGTH},
    "title": {"minLength": 1, "maxLength": MAX_TITLE_LENGTH},
    "summary": {"maxLength": MAX_SUMMARY_LENGTH},
    "description": {"maxLength": MAX_DESCRIPTION_LENGTH},
    "website": {"maxLength": MAX_LINK_LENGTH},
    "contact": {"maxLength": MAX_LINK_LENGTH},
    "licence": {"maxLength": MAX_LINK_LENGTH},
    "organised_by": {"maxLength": MAX_ORGANISED_BY_LENGTH},
    "citation": {"maxLength": MAX_CITATION_LENGTH},
    "data_links": {"maxItems": MAX_DATA_LINKS},
    "admission_questions": {"maxItems": MAX_QUESTIONS},
    "phase_title": {"maxLength": MAX_PHASE_TITLE_LENGTH},
    "decimals": {"minimum": 1, "maximum": MAX_DECIMALS},
    "team_size": {"minimum": 1, "maximum": MAX_TEAM_SIZE},
    "quota_count": {"minimum": 1, "maximum": MAX_SUBMISSIONS},
    "quota_period_seconds": {"minimum": 1, "maximum": int(MAX_PERIOD.total_seconds())},
    "min_account_days": {"minimum": 0, "maximum": MAX_PERIOD.days},
    "admission_domains": {"maxItems": MAX_DOMAINS},
    "ladder_step": {"minimum": MIN_STEP, "maximum": MAX_STEP},
}


def with_bounds(schema: dict[str, Any]) -> None:
    """Add the bounds of rules to a JSON schema; the service checks them, and reports all that are not kept at once."""
    for name, field in schema["properties"].items():
        field.update(_BOUNDS.get(name, {}))
        if field.get("default") == "":  # which phases and copies take as none of their own
            field.pop("minLength", None)


class PhaseRules(BaseModel):
    """Rules that may differ from phase to phase: what is open, when, how often, and how much is shown.

    Attributes:
        competitions: keys; None for all of the edition's.
        opens_at: the first instant at which submissions are taken; None if they are taken at once.
        closes_at: the first instant at which they are taken no more; None for never.
        quota_count: submissions that a person may make to a competition in any `quota_period_seconds`.
        shared_quota: whether competitions with the same ground truth count together (`app.submissions.quota`).
        detail: how much of a result participants and visitors see.
        admission: who may submit.
        admission_domains: of confirmed email addresses, for the admission `domain`; subdomains do not match.
        min_account_days: how long ago the address of an account must have been confirmed, in days; not of people whom
            organisers have admitted.
        leaderboard_from: the first instant at which leaderboards and published results can be seen; None for at once.
        freeze: when leaderboards stop changing; later results are then shown separately.
        freezes_at: that date, if `freeze` is `date`.
        anonymous_until: the first instant at which leaderboards show names; None for at once.
        ladder_step: a fraction; until the phase closes, participants see of their scores what the Ladder mechanism
            releases with this step (`app.evaluations.ladder`). None for scores at once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=with_bounds)

    competitions: tuple[str, ...] | None = Field(
        default=None, description="Keys of competitions; null for all competitions of the edition."
    )
    opens_at: Instant | None = Field(default=None, description="When submissions open; null for immediately.")
    closes_at: Instant | None = Field(default=None, description="When submissions close; null for never.")
    quota_count: int = Field(
        default=2,
        description="Number of submissions that a person may make to each competition in `quota_period_seconds`.",
    )
    quota_period_seconds: int = Field(default=7 * 24 * 3600, description="Length of the rolling quota period.")
    shared_quota: bool = Field(
        default=True,
        description="Whether competitions with the same ground truth, such as comp3 and comp4, share one quota. A "
        "submission counts in each competition that it enters.",
    )
    detail: Detail = Detail.CURVES
    admission: Admission = Admission.EVERYONE
    admission_domains: tuple[str, ...] = Field(
        default=(),
        description="Domains of email addresses whose owners may submit, if `admission` is `domain`. Subdomains are "
        "domains of their own.",
    )
    min_account_days: int = Field(
        default=0,
        description="Number of days for which the email address of an account must have been confirmed before it can "
        "submit. People whom organisers have admitted can submit earlier.",
    )
    leaderboard_from: Instant | None = Field(
        default=None, description="When leaderboards and published results become visible; null for immediately."
    )
    freeze: Freeze = Freeze.CLOSING
    freezes_at: Instant | None = Field(
        default=None,
        description="When leaderboards stop changing; only if `freeze` is `date`. Another `freeze` removes it.",
    )
    anonymous_until: Instant | None = Field(
        default=None, description="When leaderboards begin to show names; null for immediately."
    )
    ladder_step: float | None = Field(
        default=None,
        description="Step of the Ladder mechanism, a fraction such as 0.01: until the phase closes, only each person's "
        "new best scores are shown, rounded to this step. null to show all scores immediately.",
    )

    def phase_columns(self) -> dict[str, Any]:
        """Return what `ChallengePhase` has columns for."""
        rules = {name: getattr(self, name) for name in PhaseRules.model_fields if name != "competitions"}
        rules["admission_domains"] = list(self.admission_domains)
        return {**rules, "competition_keys": list(self.competitions or ())}

    @field_validator("admission_domains")
    @classmethod
    def _tidied(cls, domains: tuple[str, ...]) -> tuple[str, ...]:
        names = [domain.strip().lower().removeprefix("@") for domain in domains]
        # As in addresses of accounts: `bücher.example` for `xn--bcher-kva.example`. What is no domain is refused later.
        emails = {name: normalised_email(f"name@{name}") for name in names}
        return tuple(dict.fromkeys(domain_of(email) if email else name for name, email in emails.items()))

    @property
    def chooses_people(self) -> bool:
        """Whether some people may not submit unless organisers admit them."""
        return self.admission is not Admission.EVERYONE or self.min_account_days > 0


class DataLink(BaseModel):
    """A link to data of a challenge, such as its images.

    Attributes:
        title: of the file or the page.
        url: http(s).
        bytes: size of the file; None if it is not given.
        sha256: of the file, in hexadecimal; empty if it is not given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(
        examples=["Training and validation images"],
        json_schema_extra={"minLength": 1, "maxLength": MAX_DATA_TITLE_LENGTH},
    )
    url: str = Field(json_schema_extra={"maxLength": MAX_LINK_LENGTH})
    bytes: int | None = Field(
        default=None,
        description="Size of the file; null if it is not given.",
        json_schema_extra={"minimum": 0, "maximum": MAX_DATA_BYTES},
    )
    sha256: str = Field(default="", description="SHA-256 of the file in hexadecimal; empty if it is not given.")


class AdmissionQuestion(BaseModel):
    """A question to people who ask to be admitted.

    Attributes:
        choices: what can be chosen; for the kind `choice` alone.
        required: whether it must be answered, or the box be ticked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(
        examples=["Where do you work?"], json_schema_extra={"minLength": 1, "maxLength": MAX_ASKED_LENGTH}
    )
    kind: QuestionKind = QuestionKind.LINE
    choices: tuple[str, ...] = Field(default=(), description="What can be chosen, if `kind` is `choice`.")
    required: bool = Field(
        default=True, description="Whether it must be answered; of a box, whether it must be ticked."
    )


class ChallengeRules(PhaseRules):
    """All that organisers choose of a challenge, and may change later.

    Types are checked here, so that forms and the API say what is not a number or a date. What a rule may be, and what
    fits together, is checked by `check_rules` when the service stores the rules.

    Attributes:
        summary: a sentence for lists and for the head of the challenge's page.
        description: Markdown; see `app.pages.untrusted_markdown`.
        website: address of the challenge's own site.
        contact: email address or URL for questions of participants.
        organised_by: names that the page shows, one a line. Who may organise the challenge is not a rule.
        licence: of the data, an SPDX name such as `CC-BY-4.0`, or the address of a text.
        citation: what to cite, in BibTeX or as text.
        data_links: where the data can be downloaded.
        decimals: places to which scores (fractions) are rounded wherever they are shown.
        phase_title: what the main phase is called where there are several.
        anywhere_on_earth: whether dates are also shown, and typed, in the time zone UTC-12.
        admission_questions: what people answer who ask to be admitted to a phase with admission `request`.
        team_size: the largest number of members of a team; 1 if everybody takes part alone.
        teams_until: when teams can change for the last time; None for as long as the challenge is not archived.
        statistics: whether leaderboards show intervals, rank ranges and which differences are larger than chance.
        overall_rank: how methods are ranked over all leaderboards (`app.leaderboards.participation`).
    """

    title: str
    summary: str = Field(default="", description="What the challenge is about, in one sentence.")
    description: str = Field(default="", description="Markdown without HTML and pictures.")
    website: str = Field(default="", description="Address of the challenge's own site.")
    contact: str = Field(default="", description="Email address or URL for questions.")
    organised_by: str = Field(
        default="", description="Who organises the challenge, as its page shows it: one person or institution a line."
    )
    licence: str = Field(
        default="", description="Licence of the data: an SPDX name such as `CC-BY-4.0`, or the address of its text."
    )
    citation: str = Field(default="", description="What to cite: BibTeX or text.")
    data_links: tuple[DataLink, ...] = Field(default=(), description="Where the data can be downloaded.")
    visibility: Visibility = Visibility.DRAFT
    decimals: int = 2
    phase_title: str = ""
    anywhere_on_earth: bool = False
    admission_questions: tuple[AdmissionQuestion, ...] = Field(
        default=(), description="What people answer when they ask to be admitted."
    )
    team_size: int = Field(
        default=10, description="Largest number of members of a team; 1 if everybody takes part alone."
    )
    teams_until: Instant | None = Field(default=None, description="When teams can change for the last time.")
    statistics: Annotated[bool, Field(description="Whether leaderboards show intervals and rank ranges.")] = True
    overall_rank: OverallRank = Field(
        default=OverallRank.NONE, description="How methods are ranked over all leaderboards of a phase."
    )

    def challenge_columns(self) -> dict[str, Any]:
        """Return what `Challenge` has columns for; the others are in the row of the main phase."""
        columns = {name: getattr(self, name) for name in _OF_CHALLENGE}
        return {
            **columns,
            "data_links": [link.model_dump() for link in self.data_links],
            "admission_questions": [one.model_dump(mode="json") for one in self.admission_questions],
        }


_OF_CHALLENGE = tuple(ChallengeRules.model_fields.keys() - PhaseRules.model_fields.keys() - {"phase_title"})


def rules_of_phase(row: ChallengePhase) -> PhaseRules:
    """Return the current rules of a phase, which were checked when they were stored."""
    columns = {name: getattr(row, name) for name in PhaseRules.model_fields if name != "competitions"}
    columns["admission_domains"] = tuple(row.admission_domains)
    return PhaseRules.model_construct(competitions=tuple(row.competition_keys), **columns)


def rules_of(challenge: Challenge) -> ChallengeRules:
    """Return the current rules of a challenge whose phases are loaded, and of its main phase."""
    main = challenge.main_phase
    own = {name: getattr(challenge, name) for name in _OF_CHALLENGE}
    return ChallengeRules(**own, phase_title=main.title, **dict(rules_of_phase(main)))


def given_rules(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of rules by name: without a date for another `freeze` than `date`, unless they give one.

    >>> given_rules({"freeze": "never"}), given_rules({"freeze": "date"})
    ({'freezes_at': None, 'freeze': 'never'}, {'freeze': 'date'})
    """
    needs_date = changes.get("freeze", Freeze.DATE) == Freeze.DATE
    return dict(changes) if needs_date else {"freezes_at": None, **changes}


def check_rules(checks: FieldChecks, rules: ChallengeRules, edition: Edition | None) -> ChallengeRules:
    """Check the rules of a challenge, and note everything that is wrong under the names of their fields.

    Args:
        edition: None if it is unknown; then competitions are not checked.

    Returns:
        The rules as they are stored: texts tidied, and the competitions in the edition's order.
    """
    keys = check_phase_rules(checks, rules, edition)
    if not 1 <= rules.decimals <= MAX_DECIMALS:
        checks.fail("decimals", f"Choose between 1 and {MAX_DECIMALS}.")
    if not 1 <= rules.team_size <= MAX_TEAM_SIZE:
        checks.fail("team_size", f"Choose between 1 and {MAX_TEAM_SIZE}.")
    _check_date(checks, "teams_until", rules.teams_until)
    tidied = {
        "title": checks.line("title", rules.title, max_length=MAX_TITLE_LENGTH, required=True),
        "summary": checks.line("summary", rules.summary, max_length=MAX_SUMMARY_LENGTH),
        "description": checks.text("description", rules.description, max_length=MAX_DESCRIPTION_LENGTH),
        "website": checked_link(checks, "website", rules.website),
        "contact": _checked_contact(checks, rules.contact),
        "licence": _checked_licence(checks, rules.licence),
        "organised_by": checks.text("organised_by", rules.organised_by, max_length=MAX_ORGANISED_BY_LENGTH),
        "citation": checks.text("citation", rules.citation, max_length=MAX_CITATION_LENGTH),
        "data_links": _checked_data_links(checks, rules.data_links),
        "admission_questions": _checked_questions(checks, rules.admission_questions),
        "phase_title": checks.line("phase_title", rules.phase_title, max_length=MAX_PHASE_TITLE_LENGTH),
        "competitions": keys,
    }
    return rules.model_copy(update=tidied)


def _checked_contact(checks: FieldChecks, contact: str) -> str:
    contact = checks.line("contact", contact, max_length=MAX_LINK_LENGTH)
    if contact and not is_address(contact) and normalised_email(contact) is None:
        checks.fail("contact", "Give an email address, or a whole address that begins with https:// or http://.")
    return contact


def _checked_licence(checks: FieldChecks, licence: str) -> str:
    licence = checks.line("licence", licence, max_length=MAX_LINK_LENGTH)
    if licence and not (_SPDX.fullmatch(licence) or is_address(licence)):
        checks.fail("licence", "Give an SPDX name, such as CC-BY-4.0, or a whole address that begins with https://.")
    return licence


def licence_address(licence: str) -> str:
    """Return where the text of a licence is.

    >>> licence_address("CC-BY-4.0"), licence_address("https://lab.example/terms")
    ('https://spdx.org/licenses/CC-BY-4.0', 'https://lab.example/terms')
    """
    return f"https://spdx.org/licenses/{licence}" if _SPDX.fullmatch(licence) else licence


def _checked_data_links(checks: FieldChecks, links: Sequence[DataLink]) -> tuple[DataLink, ...]:
    """Return the links, tidied; note the first thing that is wrong, with the number of its link."""
    if len(links) > MAX_DATA_LINKS:
        checks.fail("data_links", f"Give at most {MAX_DATA_LINKS} links.")
    return tuple(_checked_data_link(checks, number, link) for number, link in enumerate(links, 1))


def _checked_data_link(checks: FieldChecks, number: int, link: DataLink) -> DataLink:
    own = FieldChecks()
    tidied = DataLink(
        title=own.line("title", link.title, max_length=MAX_DATA_TITLE_LENGTH, required=True),
        url=checked_link(own, "address", link.url),
        bytes=link.bytes,
        sha256=link.sha256.strip().lower(),
    )
    if not tidied.url:
        own.fail("address", "Required.")
    if tidied.bytes is not None and not 0 <= tidied.bytes <= MAX_DATA_BYTES:
        own.fail("size", "Give the number of bytes.")
    if tidied.sha256 and not _SHA256.fullmatch(tidied.sha256):
        own.fail("SHA-256", "Give 64 hexadecimal digits.")
    for name, message in own.messages.items():
        checks.fail("data_links", f"Link {number}, {name}: {message}")
    return tidied


def _checked_questions(checks: FieldChecks, questions: Sequence[AdmissionQuestion]) -> tuple[AdmissionQuestion, ...]:
    """Return the questions, tidied; note the first thing that is wrong, with the number of its question."""
    if len(questions) > MAX_QUESTIONS:
        checks.fail("admission_questions", f"Ask at most {MAX_QUESTIONS} questions.")
    found: list[AdmissionQuestion] = []
    for number, one in enumerate(questions, 1):
        own = FieldChecks()
        question = own.line("question", one.question, max_length=MAX_ASKED_LENGTH, required=True)
        choices = tuple(own.line("choices", each, max_length=MAX_CHOICE_LENGTH, required=True) for each in one.choices)
        if one.kind is QuestionKind.CHOICE and not 2 <= len(set(choices)) == len(choices) <= MAX_CHOICES:
            own.fail("choices", f"Give between 2 and {MAX_CHOICES} different choices.")
        if one.kind is not QuestionKind.CHOICE and choices:
            own.fail("choices", "Leave them empty, or let people choose.")
        if question in {each.question for each in found}:
            own.fail("question", "It is asked twice.")
        for name, message in own.messages.items():
            checks.fail("admission_questions", f"Question {number}, {name}: {message}")
        found.append(one.model_copy(update={"question": question, "choices": choices}))
    return tuple(found)


def check_phase_rules(checks: FieldChecks, rules: PhaseRules, edition: Edition | None) -> tuple[str, ...]:
    """Check the rules of a phase, note everything that is wrong, and return its competitions in the edition's order."""
    _check_dates(checks, rules)
    if not 1 <= rules.quota_count <= MAX_SUBMISSIONS:
        checks.fail("quota_count", f"Choose between 1 and {MAX_SUBMISSIONS}.")
    if not 1 <= rules.quota_period_seconds <= MAX_PERIOD.total_seconds():
        checks.fail("quota_period_seconds", f"Choose between a second and {MAX_PERIOD.days} days.")
    if not 0 <= rules.min_account_days <= MAX_PERIOD.days:
        checks.fail("min_account_days", f"Choose between 0 and {MAX_PERIOD.days} days.")
    if wrong := [domain[:100] for domain in rules.admission_domains if normalised_email(f"name@{domain}") is None]:
        checks.fail("admission_domains", f"These are not domains: {', '.join(wrong[:MAX_DOMAINS])}.")
    elif rules.admission is Admission.DOMAIN and not 1 <= len(rules.admission_domains) <= MAX_DOMAINS:
        checks.fail("admission_domains", f"Give between 1 and {MAX_DOMAINS} domains, such as lab.example.")
    if rules.freeze is Freeze.DATE and rules.freezes_at is None:
        checks.fail("freezes_at", "Give the date on which the leaderboards freeze.")
    if rules.freeze is not Freeze.DATE and rules.freezes_at is not None:
        checks.fail("freezes_at", "Leave this empty, or choose that the leaderboards freeze on a date.")
    _check_ladder(checks, rules)
    return _ordered_keys(checks, edition, rules.competitions) if edition else ()


def _check_ladder(checks: FieldChecks, rules: PhaseRules) -> None:
    if rules.ladder_step is None:
        return
    if not MIN_STEP <= rules.ladder_step <= MAX_STEP:  # also without NaN
        bounds = f"{100 * MIN_STEP:g} and {100 * MAX_STEP:g} per cent ({MIN_STEP:g} and {MAX_STEP:g} as a fraction)"
        checks.fail("ladder_step", f"Choose between {bounds}.")
    elif rules.detail is Detail.EVERYTHING:
        checks.fail("ladder_step", "Choose another detail level than everything, which shows exact results at once.")


def _check_dates(checks: FieldChecks, rules: PhaseRules) -> None:
    for name in DATES:
        _check_date(checks, name, getattr(rules, name))
    if checks.messages.keys() & {"opens_at", "closes_at"} or rules.opens_at is None or rules.closes_at is None:
        return
    if rules.closes_at <= rules.opens_at:
        checks.fail("closes_at", "The closing date must be after the opening date.")


def _check_date(checks: FieldChecks, name: str, instant: datetime | None) -> None:
    if instant is not None and instant.tzinfo is None:
        checks.fail(name, "Give a time zone.")
    elif instant is not None and not EARLIEST <= instant <= LATEST:
        checks.fail(name, f"Choose a date between {EARLIEST.year} and {LATEST.year}.")


def _ordered_keys(checks: FieldChecks, edition: Edition, chosen: Sequence[str] | None) -> tuple[str, ...]:
    if chosen is None:
        return tuple(edition.competitions)
    if unknown := [key for key in chosen if key not in edition.competitions]:
        checks.fail("competitions", f"{edition.title} has no {', '.join(unknown)}.")
    if not chosen:
        checks.fail("competitions", "Choose at least one competition.")
    return tuple(key for key in edition.competitions if key in chosen)


def check_slug(checks: FieldChecks, slug: str) -> None:
    """Check the slug of a new challenge."""
    if not (SLUG.fullmatch(slug) and len(slug) <= MAX_SLUG_LENGTH):
        checks.fail("slug", f"Use at most {MAX_SLUG_LENGTH} lower-case letters, digits and single hyphens.")
    elif slug in RESERVED_SLUGS:
        checks.fail("slug", "This name is reserved. Choose another one.")
