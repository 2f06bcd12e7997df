"""The rules of challenges and phases: their forms, and the handlers that create, change and remove them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, timedelta, tzinfo
from itertools import zip_longest
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from markupsafe import Markup
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts.people import written_addresses
from vocboard.app.challenges.editions import edition_of, offered_editions, own_edition
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Admission,
    Challenge,
    Detail,
    Freeze,
    OverallRank,
    QuestionKind,
    Visibility,
)
from vocboard.app.challenges.phases import Phase, edition_of_phase, phase_named, phases_of
from vocboard.app.challenges.rules import (
    DATES,
    MAX_DESCRIPTION_LENGTH,
    AdmissionQuestion,
    ChallengeRules,
    DataLink,
    PhaseRules,
    rules_of,
)
from vocboard.app.errors import ConflictError, InvalidInputError, ServiceError
from vocboard.app.forms import FieldChecks, chosen, instant, whole
from vocboard.app.organising import challenge_changes, phase_changes
from vocboard.app.organising.phase_changes import keeps_frozen_detail, moves_dates
from vocboard.app.pages import formats, untrusted_markdown
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, UploadedEdition, go_to
from vocboard.app.pages.organise.phases import phases_overview, zone_name, zone_of
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import Creator
from vocboard.app.web.organised import Organised
from vocboard.app.web.routes import Routes
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition

router = Routes("/organise")

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
    (Admission.REQUEST.value, "People who ask to take part, and whom you admit then"),
    (Admission.DOMAIN.value, "People with a confirmed email address of the domains below"),
    (Admission.EARLIER_PHASE.value, "People with a scored submission in an earlier phase"),
)
FREEZES = (
    (Freeze.CLOSING.value, "When it closes"),
    (Freeze.DATE.value, "On a date"),
    (Freeze.NEVER.value, "Never"),
)
SHARED, SEPARATE = "shared", "separate"
OVERALL_RANKS = (
    (OverallRank.NONE.value, "None"),
    (OverallRank.MEAN_RANK.value, "By the mean of the ranks"),
    (OverallRank.MEAN_SCORE.value, "By the mean of the scores, each in per cent of the best on its leaderboard"),
)
SHARED_QUOTA = (
    (SHARED, "Shared by competitions with the same ground truth, such as comp3 and comp4"),
    (SEPARATE, "Each competition has its own"),
)
VISIBILITIES = (
    (Visibility.DRAFT.value, "only its organisers can see it."),
    (
        Visibility.PRIVATE.value,
        "only its organisers can see it, and people whom you admit to one of its phases by email address or domain.",
    ),
    (
        Visibility.UNLISTED.value,
        "everybody who has the address can see it, without signing in.",
    ),
    (Visibility.PUBLIC.value, "everyone can see it in the list."),
)
SHOWN, LEFT_OUT = "shown", "left_out"
STATISTICS = (
    (SHOWN, "Show 95 % intervals, rank ranges, and which methods cannot be distinguished from the first"),
    (LEFT_OUT, "Show scores and ranks only"),
)
UTC_ZONE, EARTH_ZONE = "utc", "aoe"
ZONES = ((UTC_ZONE, "UTC"), (EARTH_ZONE, f"A{formats.ANYWHERE_ON_EARTH_NAME[1:]}"))
TEXTS = (  # rules that are stored as they are typed
    "title",
    "summary",
    "description",
    "website",
    "contact",
    "organised_by",
    "licence",
    "citation",
    "phase_title",
)
SECONDS_PER_DAY = 86_400
QUESTION_KINDS = (
    (QuestionKind.LINE.value, "A line"),
    (QuestionKind.TEXT.value, "A text"),
    (QuestionKind.CHOICE.value, "One of the choices"),
    (QuestionKind.BOX.value, "A box to tick"),
)
EMPTY_QUESTIONS = 2  # rows of the form for further questions
# Which fields of the form of a challenge are saved together, by the names of templates/organise/form.html.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "what": ("title", "summary", "description"),
    "which": ("competitions",),
    "about": (
        *("data_title", "data_url", "data_bytes", "data_sha256"),
        *("organised_by", "website", "contact", "licence", "citation"),
    ),
    "when": ("opens_at", "closes_at"),
    "how": (
        *("quota_count", "quota_days", "shared_quota", "admission", "admission_domains", "min_account_days"),
        *("question", "question_kind", "question_choices", "question_required"),
        *("detail", "ladder_percent", "team_size", "teams_until", "decimals"),
    ),
    "boards": ("leaderboard_from", "anonymous_until", "freeze", "freezes_at", "statistics", "overall_rank"),
    "phase": ("phase_title",),
    "who": ("visibility",),
}
EMPTY_DATA_LINKS = 2  # rows of the form for further links
MAX_SIZE_DIGITS = 15  # of a number of bytes
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
        "admission_domains": ", ".join(rules.admission_domains),
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
    admission_domains: str = ""
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
            "admission_domains": tuple(written_addresses(self.admission_domains)),
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


def choices(edition: Edition) -> dict[str, Any]:
    """Return what the fields of a phase offer, by the names of templates/organise/phase_fields.html."""
    return {
        "competitions": list(edition.competitions.values()),
        "details": DETAILS,
        "admissions": ADMISSIONS,
        "shared_quota": SHARED_QUOTA,
        "freezes": FREEZES,
    }


def _challenge_as_typed(rules: ChallengeRules) -> dict[str, Any]:
    """Return the fields that say these rules."""
    zone = formats.ANYWHERE_ON_EARTH if rules.anywhere_on_earth else UTC
    return {
        **as_typed(rules, zone),
        **{name: getattr(rules, name) for name in TEXTS},
        "data_title": [link.title for link in rules.data_links],
        "data_url": [link.url for link in rules.data_links],
        "data_bytes": ["" if link.bytes is None else str(link.bytes) for link in rules.data_links],
        "data_sha256": [link.sha256 for link in rules.data_links],
        "question": [one.question for one in rules.admission_questions],
        "question_kind": [one.kind.value for one in rules.admission_questions],
        "question_choices": ["; ".join(one.choices) for one in rules.admission_questions],
        "question_required": ["yes" if one.required else "no" for one in rules.admission_questions],
        "decimals": str(rules.decimals),
        "visibility": rules.visibility.value,
        "team_size": str(rules.team_size),
        "teams_until": formats.date_field(rules.teams_until, zone),
        "statistics": SHOWN if rules.statistics else LEFT_OUT,
        "overall_rank": rules.overall_rank.value,
        "zone": EARTH_ZONE if rules.anywhere_on_earth else UTC_ZONE,
    }


OF_A_NEW_CHALLENGE = _challenge_as_typed(ChallengeRules(title=""))


class ChallengeForm(PhaseFields):
    """The fields as they were typed."""

    title: str = ""
    slug: str = ""
    summary: str = ""
    description: str = ""
    website: str = ""
    contact: str = ""
    organised_by: str = ""
    licence: str = ""
    citation: str = ""
    data_title: list[str] = []  # these four are columns of one table
    data_url: list[str] = []
    data_bytes: list[str] = []
    data_sha256: list[str] = []
    question: list[str] = []  # these four are columns of one table
    question_kind: list[str] = []
    question_choices: list[str] = []
    question_required: list[str] = []
    edition: str = "VOC2012"
    edition_text: str = ""  # of an edition file; if there is one, it counts and not `edition`
    decimals: str = OF_A_NEW_CHALLENGE["decimals"]
    visibility: str = OF_A_NEW_CHALLENGE["visibility"]
    phase_title: str = ""
    team_size: str = OF_A_NEW_CHALLENGE["team_size"]
    teams_until: str = ""
    statistics: str = OF_A_NEW_CHALLENGE["statistics"]
    overall_rank: str = OF_A_NEW_CHALLENGE["overall_rank"]
    zone: str = UTC_ZONE
    section: str = ""  # which one is to be saved; all if it is empty
    preview: str = ""  # not empty if the description is to be shown, and nothing stored

    @property
    def data_rows(self) -> list[tuple[str, str, str, str]]:
        """The rows of the links to the data that are not empty: title, address, size and SHA-256."""
        columns = (self.data_title, self.data_url, self.data_bytes, self.data_sha256)
        rows = zip_longest(*columns, fillvalue="")
        return [row for row in rows if any(cell.strip() for cell in row)]

    @property
    def question_rows(self) -> list[tuple[str, str, str, str]]:
        """The rows of questions that are not empty: question, kind, choices and whether it must be answered."""
        columns = (self.question, self.question_kind, self.question_choices, self.question_required)
        return [row for row in zip_longest(*columns, fillvalue="") if row[0].strip() or row[2].strip()]

    @classmethod
    def of(cls, challenge: Challenge) -> "ChallengeForm":
        """The form that says what a challenge's rules are now."""
        return cls(slug=challenge.slug, edition=challenge.edition, **_challenge_as_typed(rules_of(challenge)))

    def within(self, challenge: Challenge) -> "ChallengeForm":
        """The whole form of a challenge, where this is a section of it.

        The time zone is that in which the section was typed, so all dates are said in it.
        """
        if self.section not in SECTIONS:
            return self
        rules = rules_of(challenge).model_copy(update={"anywhere_on_earth": self.zone == EARTH_ZONE})
        typed = {name: getattr(self, name) for name in ("section", "preview", *SECTIONS[self.section])}
        whole_form = ChallengeForm(slug=challenge.slug, edition=challenge.edition, **_challenge_as_typed(rules))
        return whole_form.model_copy(update=typed)

    def rules(self) -> ChallengeRules:
        """What the fields mean.

        Raises:
            InvalidInputError: with every field that is not what it should be.
        """
        wrong: dict[str, str] = {}
        is_on_earth = self.zone == EARTH_ZONE
        zone = formats.ANYWHERE_ON_EARTH if is_on_earth else UTC
        rules = ChallengeRules(
            **{name: getattr(self, name) for name in TEXTS},
            data_links=self._data_links(wrong),
            admission_questions=tuple(
                AdmissionQuestion(
                    question=question,
                    kind=chosen(QuestionKind, kind or QuestionKind.LINE, "admission_questions", wrong),
                    choices=tuple(each.strip() for each in choices.split(";") if each.strip()),
                    required=required != "no",
                )
                for question, kind, choices, required in self.question_rows
            ),
            visibility=chosen(Visibility, self.visibility, "visibility", wrong),
            decimals=whole(self.decimals, "decimals", wrong),
            anywhere_on_earth=is_on_earth,
            team_size=whole(self.team_size, "team_size", wrong),
            teams_until=instant(self.teams_until, "teams_until", wrong, zone),
            statistics=self.statistics == SHOWN,
            overall_rank=chosen(OverallRank, self.overall_rank, "overall_rank", wrong),
            **self.read(wrong, zone),
        )
        if wrong:
            raise InvalidInputError(wrong)
        return rules

    def _data_links(self, wrong: dict[str, str]) -> tuple[DataLink, ...]:
        links = []
        for number, (title, url, size, sha256) in enumerate(self.data_rows, 1):
            digits = "".join(size.split())
            is_size = digits.isascii() and digits.isdigit() and len(digits) <= MAX_SIZE_DIGITS
            if digits and not is_size:
                wrong["data_links"] = f"Link {number}, size: Give the number of bytes."
            links.append(DataLink(title=title, url=url, bytes=int(digits) if is_size else None, sha256=sha256))
        return tuple(links)


class PhaseForm(PhaseFields):
    """The form of a further phase, as it was typed."""

    title: str = ""
    key: str = ""
    image_set: str = ""
    own_ground_truth: bool = False

    def rules(self, challenge: Challenge) -> PhaseRules:
        """What the fields mean.

        Raises:
            InvalidInputError: with every field that is not what it should be.
        """
        wrong: dict[str, str] = {}
        rules = PhaseRules(**self.read(wrong, zone_of(challenge)))
        if wrong:
            raise InvalidInputError(wrong)
        return rules


@router.get("/new")
def new_challenge_page(request: Request, _: Creator) -> Response:
    """Show the form for a new challenge."""
    return _challenge_form(request, ChallengeForm(), None, NO_ERRORS)


@router.post("/new", dependencies=[Depends(protect_form)])
def create_challenge(
    request: Request,
    database: DatabaseDep,
    user: Creator,
    form: Annotated[ChallengeForm, Form()],
    edition_file: UploadedEdition,
) -> Response:
    """Create a challenge, or show the description as its page will."""
    form.edition_text = edition_file or form.edition_text.strip()
    if form.preview:
        return _preview(request, form, None)
    own = form.edition_text or None
    try:
        rules = form.rules()
        edition = "" if own else form.edition
        with database.writing() as session:
            challenge = challenge_changes.create(
                session, organiser=user, slug=form.slug, edition=edition, edition_file=own, rules=rules
            )
    except (ConflictError, InvalidInputError) as error:
        return _challenge_form(request, form, None, FormErrors.of(error))
    return go_to(f"/organise/{challenge.slug}", done="created")


@router.get("/{slug}/edit")
def edit_page(organised: Organised) -> Response:
    """Show the form to edit a challenge."""
    challenge = organised.load()
    return _challenge_form(organised.request, ChallengeForm.of(challenge), challenge, NO_ERRORS)


@router.post("/{slug}/edit", dependencies=[Depends(protect_form)])
def edit(organised: Organised, form: Annotated[ChallengeForm, Form()]) -> Response:
    """Change a challenge, or show the description as its page will."""
    if form.preview:
        challenge = organised.load()
        return _preview(organised.request, form.within(challenge), challenge)
    try:
        with organised.writing() as (session, challenge):
            form = form.within(challenge)
            rules = form.rules()
            done = done_with(challenge, phase_named(challenge, MAIN_PHASE), rules) or "saved"
            challenge_changes.update(session, challenge=challenge, user=organised.user, rules=rules)
    except (ConflictError, InvalidInputError) as error:
        return _challenge_form(organised.request, form, organised.load(), FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}{'/edit' if form.section else ''}", done=done)


@router.get("/{slug}/phases/new")
def new_phase_page(organised: Organised) -> Response:
    """The form to add a phase: it begins where the last one ends, with its rules."""
    challenge = organised.load()
    last = phases_of(challenge)[-1].rules
    freeze = Freeze.CLOSING if last.freeze is Freeze.DATE else last.freeze  # the date is not this phase's
    rules = PhaseRules(
        **{**dict(last), "opens_at": last.closes_at, "closes_at": None, "freeze": freeze, "freezes_at": None}
    )
    return _phase_form(organised, None, PhaseForm(**as_typed(rules, zone_of(challenge))))


@router.post("/{slug}/phases/new", dependencies=[Depends(protect_form)])
def add_phase(organised: Organised, form: Annotated[PhaseForm, Form()]) -> Response:
    """Add a phase."""
    try:
        with organised.writing() as (session, challenge):
            phase_changes.add_phase(
                session,
                challenge=challenge,
                user=organised.user,
                key=form.key,
                title=form.title,
                rules=form.rules(challenge),
                image_set=form.image_set.strip() or None,
                has_own_truth=form.own_ground_truth,
            )
    except (ConflictError, InvalidInputError) as error:
        return _phase_form(organised, None, form, error)
    return go_to(f"/organise/{organised.slug}/phases", done="phase-added")


@router.get("/{slug}/phases/{key}")
def phase_page(organised: Organised, key: str) -> Response:
    """The form to change a further phase; the main one changes with the challenge."""
    if key == MAIN_PHASE:
        return go_to(f"/organise/{organised.slug}/edit")
    challenge = organised.load()
    phase = phase_named(challenge, key)
    return _phase_form(
        organised, key, PhaseForm(title=phase.title, key=key, **as_typed(phase.rules, zone_of(challenge)))
    )


@router.post("/{slug}/phases/{key}", dependencies=[Depends(protect_form)])
def change_phase(organised: Organised, key: str, form: Annotated[PhaseForm, Form()]) -> Response:
    """Change a further phase."""
    try:
        with organised.writing() as (session, challenge):
            rules = form.rules(challenge)
            done = done_with(challenge, phase_named(challenge, key), rules) or "phase-saved"
            phase_changes.update_phase(
                session, challenge=challenge, user=organised.user, key=key, title=form.title, rules=rules
            )
    except (ConflictError, InvalidInputError) as error:
        return _phase_form(organised, key, form, error)
    return go_to(f"/organise/{organised.slug}/phases", done=done)


@router.post("/{slug}/phases/{key}/remove", dependencies=[Depends(protect_form)])
def remove_phase(organised: Organised, key: str) -> Response:
    """Remove a phase that nothing has been submitted to."""
    try:
        organised.change(phase_changes.remove_phase, key=key)
    except (ConflictError, InvalidInputError) as error:
        return phases_overview(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/phases", done="phase-removed")


def done_with(challenge: Challenge, before: Phase, rules: PhaseRules) -> str | None:
    """Return the message after a change that has further consequences, or fewer than it seems to; None for others."""
    if keeps_frozen_detail(before, rules):
        return "frozen-detail"
    return "deadline" if moves_dates(challenge, before, rules) else None


def _preview(request: Request, form: ChallengeForm, challenge: Challenge | None) -> Response:
    """Return the form as it was typed, with the description as the page will show it."""
    checks = FieldChecks()
    text = checks.text("description", form.description, max_length=MAX_DESCRIPTION_LENGTH)
    try:
        checks.finish()
    except InvalidInputError as error:
        return _challenge_form(request, form, challenge, FormErrors.of(error))
    return _challenge_form(request, form, challenge, NO_ERRORS, preview=untrusted_markdown.rendered(text))


def _challenge_form(
    request: Request,
    form: ChallengeForm,
    challenge: Challenge | None,
    errors: FormErrors,
    *,
    preview: Markup | None = None,
) -> Response:
    return render(
        request,
        "organise/form.html",
        errors=_as_in_form(errors),
        challenge=challenge,
        form=form.model_dump(),
        question_rows=[*form.question_rows, *[("", "line", "", "yes")] * EMPTY_QUESTIONS],
        question_kinds=QUESTION_KINDS,
        data_rows=[*form.data_rows, *[("",) * 4] * EMPTY_DATA_LINKS],
        preview=preview,
        editions=offered_editions(),
        visibilities=VISIBILITIES,
        zones=ZONES,
        statistics=STATISTICS,
        overall_ranks=OVERALL_RANKS,
        **choices(edition_of(challenge) if challenge else _edition_of(form)),
    )


def _edition_of(form: ChallengeForm) -> Edition:
    """The edition that was chosen; the default one while there is none that can be read."""
    try:
        return own_edition(form.edition_text) if form.edition_text else editions.load(form.edition)
    except (editions.EditionFileError, editions.UnknownEditionError):
        return editions.load(ChallengeForm().edition)


def _phase_form(organised: Organised, key: str | None, form: PhaseForm, error: ServiceError | None = None) -> Response:
    challenge = organised.load()
    phase = None if key is None else phase_named(challenge, key)
    edition = edition_of(challenge) if phase is None else edition_of_phase(challenge, phase)
    return render(
        organised.request,
        "organise/phase.html",
        errors=_as_in_form(FormErrors.of(error) if error else NO_ERRORS),
        challenge=challenge,
        phase=phase,
        form=form.model_dump(),
        zone_name=zone_name(challenge),
        **choices(edition),
    )


def _as_in_form(errors: FormErrors) -> FormErrors:
    """Return the errors by the names that the form's fields have."""
    return replace(errors, wrong={TYPED_AS.get(name, name): text for name, text in errors.wrong.items()})
