"""The rules of challenges and phases: their forms, and the handlers that create, change and remove them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, timedelta, tzinfo
from itertools import zip_longest
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from markupsafe import Markup
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.people import written_addresses
from vocboard.app.challenges.editions import chosen_edition, edition_of, offered_editions, own_edition
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
from vocboard.app.challenges.queries import challenge_as_it_is, lock_challenge
from vocboard.app.challenges.rules import (
    DATES,
    MAX_DESCRIPTION_LENGTH,
    MAX_PHASE_TITLE_LENGTH,
    AdmissionQuestion,
    ChallengeRules,
    DataLink,
    PhaseRules,
    check_phase_rules,
    check_rules,
    check_slug,
    rules_of,
)
from vocboard.app.errors import ConflictError, InvalidInputError, ServiceError
from vocboard.app.forms import FieldChecks, chosen, instant, whole
from vocboard.app.organising import challenge_changes, phase_changes
from vocboard.app.organising.phase_changes import keeps_frozen_detail, moves_dates
from vocboard.app.pages import formats, untrusted_markdown
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, UploadedEdition, go_to
from vocboard.app.pages.organise.phases import phases_overview, zone_of
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
DATA = ("data_title", "data_url", "data_bytes", "data_sha256")  # columns of one table
QUESTION = ("question", "question_kind", "question_choices", "question_required")  # columns of one table
LISTS = frozenset({"competitions", *DATA, *QUESTION})  # fields with several values
# Which fields of the form of a challenge are saved together, by the names of templates/organise/form.html.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "what": ("title", "summary", "description"),
    "which": ("competitions",),
    "about": (
        *DATA,
        *("organised_by", "website", "contact", "licence", "citation"),
    ),
    "when": ("opens_at", "closes_at"),
    "how": (
        *("quota_count", "quota_days", "shared_quota", "admission", "admission_domains", "min_account_days"),
        *QUESTION,
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
ROUNDED = (*DATES, "teams_until", *TYPED_AS)  # rules that can be stored more exactly than the form has them

CHANGED_MEANWHILE = (
    "This has changed since you opened the page, so nothing was saved. Look in another tab at what is stored now. If "
    "you save again, what you have typed replaces it."
)

Typed = dict[str, Any]  # the fields of a form as they were typed: texts, and lists of texts
Rules = TypeVar("Rules", bound=PhaseRules)


async def _sent(request: Request) -> Typed:
    """Return the fields of a form that are not empty."""
    form = await request.form()
    texts = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    lists = {field: [value for name, value in texts if name == field] for field in LISTS}
    return {name: value for name, value in {**dict(texts), **lists}.items() if value}


Sent = Annotated[Typed, Depends(_sent)]


def as_typed(rules: PhaseRules, zone: tzinfo = UTC) -> Typed:
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


def _tag(fields: Typed, names: Iterable[str]) -> str:
    """Return a tag of fields, which the form sends back: it tells whether they have changed since they were read."""
    return hashlib.sha256(repr([fields[name] for name in names]).encode()).hexdigest()


def _lock(session: Session, challenge: Challenge) -> None:
    """Read the challenge again, which nobody else changes until the transaction ends."""
    lock_challenge(session, challenge.id)
    challenge_as_it_is(session, challenge.id)


def _check_unchanged(form: Typed, tag: str) -> None:
    """Refuse a form that was read before somebody else changed what it would change; when sent again, it may.

    Raises:
        ConflictError: it was.
    """
    if form["read"] not in {"", tag}:
        form["read"] = tag
        raise ConflictError(CHANGED_MEANWHILE)


OF_A_NEW_PHASE = as_typed(PhaseRules()) | {
    "title": "",
    "key": "",
    "image_set": "",
    "own_ground_truth": "",
    "zone": "",  # of the dates; empty for that of the challenge
    "read": "",  # the tag of what the form began with
}


def _phase_fields(form: Typed, wrong: dict[str, str], zone: tzinfo) -> dict[str, Any]:
    """Return what the fields mean, as fields of `PhaseRules`; note every one that is not what it should be.

    Args:
        zone: that of the dates.
    """
    dates = {name: form[name] for name in DATES}
    if form["freeze"] in {Freeze.CLOSING, Freeze.NEVER}:
        dates["freezes_at"] = ""  # the choice beside it does not need it
    return {
        "competitions": tuple(form["competitions"]) or None,
        "quota_count": whole(form["quota_count"], "quota_count", wrong),
        "quota_period_seconds": _days("quota_days", form["quota_days"], wrong),
        "shared_quota": form["shared_quota"] == SHARED,
        "detail": chosen(Detail, form["detail"], "detail", wrong),
        "admission": chosen(Admission, form["admission"], "admission", wrong),
        "admission_domains": tuple(written_addresses(form["admission_domains"])),
        "min_account_days": whole(form["min_account_days"], "min_account_days", wrong),
        "freeze": chosen(Freeze, form["freeze"], "freeze", wrong),
        "ladder_step": _fraction("ladder_percent", form["ladder_percent"], wrong),
        **{name: instant(text, name, wrong, zone) for name, text in dates.items()},
    }


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


def _check_zone(form: Typed, wrong: dict[str, str]) -> None:
    zones = [zone for zone, _ in ZONES]
    if form["zone"] not in zones:
        wrong["zone"] = f"Choose one of these: {', '.join(zones)}."


def choices(edition: Edition) -> dict[str, Any]:
    """Return what the fields of a phase offer, by the names of templates/organise/phase_fields.html."""
    return {
        "competitions": list(edition.competitions.values()),
        "details": DETAILS,
        "admissions": ADMISSIONS,
        "shared_quota": SHARED_QUOTA,
        "freezes": FREEZES,
    }


def _challenge_as_typed(rules: ChallengeRules) -> Typed:
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
        "question_choices": ["\n".join(one.choices) for one in rules.admission_questions],
        "question_required": ["yes" if one.required else "no" for one in rules.admission_questions],
        "decimals": str(rules.decimals),
        "visibility": rules.visibility.value,
        "team_size": str(rules.team_size),
        "teams_until": formats.date_field(rules.teams_until, zone),
        "statistics": SHOWN if rules.statistics else LEFT_OUT,
        "overall_rank": rules.overall_rank.value,
        "zone": EARTH_ZONE if rules.anywhere_on_earth else UTC_ZONE,
    }


OF_A_NEW_CHALLENGE = _challenge_as_typed(ChallengeRules(title="")) | {
    "slug": "",
    "edition": "VOC2012",
    "edition_text": "",  # of an edition file; if there is one, it counts and not `edition`
    "section": "",  # which one is to be saved; all if it is empty
    "read": "",  # the tag of what the section began with
    "preview": "",  # not empty if the description is to be shown, and nothing stored
}


def _data_rows(form: Typed) -> list[tuple[str, ...]]:
    """Return the rows of the links to the data that are not empty: title, address, size and SHA-256."""
    rows = zip_longest(*(form[name] for name in DATA), fillvalue="")
    return [row for row in rows if any(cell.strip() for cell in row)]


def _question_rows(form: Typed) -> list[tuple[str, ...]]:
    """Return the rows of questions that are not empty: question, kind, choices and whether it must be answered."""
    rows = zip_longest(*(form[name] for name in QUESTION), fillvalue="")
    return [row for row in rows if row[0].strip() or row[2].strip()]


def form_of(challenge: Challenge, **changed: Any) -> Typed:
    """Return the form that says what a challenge's rules are now, or with some of them changed."""
    rules = rules_of(challenge).model_copy(update=changed)
    return OF_A_NEW_CHALLENGE | _challenge_as_typed(rules) | {"slug": challenge.slug, "edition": challenge.edition}


def _tags(challenge: Challenge) -> dict[str, str]:
    """Return the tag of each section of a challenge's form."""
    fields = form_of(challenge)
    return {section: _tag(fields, ("zone", *names)) for section, names in SECTIONS.items()}


def _tags_of_page(form: Typed, challenge: Challenge) -> dict[str, str]:
    """Return the tags for a page with this form, whose dates are in the zone of the form."""
    shown = form_of(challenge, anywhere_on_earth=form["zone"] == EARTH_ZONE)
    tags = _tags(challenge) | {"when": _tag(shown, ("zone", *SECTIONS["when"]))}
    return tags | ({form["section"]: form["read"]} if form["read"] else {})


def _within(form: Typed, challenge: Challenge) -> Typed:
    """Return the whole form of a challenge, where one is a section of it.

    The time zone is that in which the section was typed, so all dates are said in it.
    """
    if form["section"] not in SECTIONS:
        return form
    whole_form = form_of(challenge, anywhere_on_earth=form["zone"] == EARTH_ZONE)
    own = ("section", "read", "preview", "zone", *SECTIONS[form["section"]])
    return whole_form | {name: form[name] for name in own}


def rules_in(form: Typed, *, is_new: bool = False) -> ChallengeRules:
    """Return what the fields mean.

    Args:
        is_new: whether the form also has the name and the edition of a new challenge.

    Raises:
        InvalidInputError: with every field that is not what it should be.
    """
    wrong: dict[str, str] = {}
    is_on_earth = form["zone"] == EARTH_ZONE
    zone = formats.ANYWHERE_ON_EARTH if is_on_earth else UTC
    _check_zone(form, wrong)
    rules = ChallengeRules(
        **{name: form[name] for name in TEXTS},
        data_links=_data_links(form, wrong),
        admission_questions=tuple(
            AdmissionQuestion(
                question=question,
                kind=chosen(QuestionKind, kind or QuestionKind.LINE, "admission_questions", wrong),
                choices=tuple(each.strip() for each in choices.splitlines() if each.strip()),
                required=required != "no",
            )
            for question, kind, choices, required in _question_rows(form)
        ),
        visibility=chosen(Visibility, form["visibility"], "visibility", wrong),
        decimals=whole(form["decimals"], "decimals", wrong),
        anywhere_on_earth=is_on_earth,
        team_size=whole(form["team_size"], "team_size", wrong),
        teams_until=instant(form["teams_until"], "teams_until", wrong, zone),
        statistics=form["statistics"] == SHOWN,
        overall_rank=chosen(OverallRank, form["overall_rank"], "overall_rank", wrong),
        **_phase_fields(form, wrong, zone),
    )
    if wrong:
        checks, edition = FieldChecks(), None
        if is_new:
            check_slug(checks, form["slug"])
            own = form["edition_text"] or None
            edition = chosen_edition(checks, "" if own else form["edition"], own)
        check_rules(checks, rules, edition)
        raise InvalidInputError(checks.messages | wrong)
    return rules


def _exact(rules: Rules, before: Rules, form: Typed, unchanged: Typed) -> Rules:
    """Return the rules in a form, but as they are where nothing was changed: the form has dates without seconds.

    Args:
        before: the current rules.
        unchanged: the form that says these.
    """
    fields = {name: TYPED_AS.get(name, name) for name in ROUNDED if getattr(rules, name, None) is not None}
    kept = [name for name, field in fields.items() if form[field] == unchanged[field]]
    return rules.model_copy(update={name: getattr(before, name) for name in kept})


def _data_links(form: Typed, wrong: dict[str, str]) -> tuple[DataLink, ...]:
    links = []
    for number, (title, url, size, sha256) in enumerate(_data_rows(form), 1):
        digits = "".join(size.split())
        is_size = digits.isascii() and digits.isdigit() and len(digits) <= MAX_SIZE_DIGITS
        if digits and not is_size:
            wrong["data_links"] = f"Link {number}, size: Give the number of bytes."
        links.append(DataLink(title=title, url=url, bytes=int(digits) if is_size else None, sha256=sha256))
    return tuple(links)


def _phase_rules_in(form: Typed, challenge: Challenge, *, is_new: bool = False) -> PhaseRules:
    """Return what the fields of a further phase mean.

    Args:
        is_new: whether the form also has its name and image set.

    Raises:
        InvalidInputError: with every field that is not what it should be.
    """
    wrong: dict[str, str] = {}
    if form["zone"]:
        _check_zone(form, wrong)
    rules = PhaseRules(**_phase_fields(form, wrong, _zone_in(form, challenge)))
    if wrong:
        checks = FieldChecks()
        checks.line("title", form["title"], max_length=MAX_PHASE_TITLE_LENGTH, required=True)
        if is_new:
            image_set = form["image_set"].strip() or None
            phase_changes.check_new_phase(checks, challenge, key=form["key"], image_set=image_set)
        check_phase_rules(checks, rules, None)
        raise InvalidInputError(checks.messages | wrong)
    return rules


@router.get("/new")
def new_challenge_page(request: Request, _: Creator) -> Response:
    """Show the form for a new challenge."""
    return _challenge_form(request, OF_A_NEW_CHALLENGE, None, NO_ERRORS)


@router.post("/new", dependencies=[Depends(protect_form)])
def create_challenge(
    request: Request, database: DatabaseDep, user: Creator, sent: Sent, edition_file: UploadedEdition
) -> Response:
    """Create a challenge, or show the description as its page will."""
    form = OF_A_NEW_CHALLENGE | sent
    form["edition_text"] = edition_file or form["edition_text"].strip()
    if form["preview"]:
        return _preview(request, form, None)
    own = form["edition_text"] or None
    try:
        rules = rules_in(form, is_new=True)
        edition = "" if own else form["edition"]
        with database.writing() as session:
            challenge = challenge_changes.create(
                session, organiser=user, slug=form["slug"], edition=edition, edition_file=own, rules=rules
            )
    except (ConflictError, InvalidInputError) as error:
        return _challenge_form(request, form, None, FormErrors.of(error))
    return go_to(f"/organise/{challenge.slug}", done="created")


@router.get("/{slug}/edit")
def edit_page(organised: Organised) -> Response:
    """Show the form to edit a challenge."""
    challenge = organised.load()
    return _challenge_form(organised.request, form_of(challenge), challenge, NO_ERRORS)


@router.post("/{slug}/edit", dependencies=[Depends(protect_form)])
def edit(organised: Organised, sent: Sent) -> Response:
    """Change a challenge, or show the description as its page will."""
    form = OF_A_NEW_CHALLENGE | sent
    if form["preview"]:
        challenge = organised.load()
        return _preview(organised.request, _within(form, challenge), challenge)
    try:
        with organised.writing() as (session, challenge):
            _lock(session, challenge)
            form = _within(form, challenge)
            _check_unchanged(form, _tags(challenge).get(form["section"], ""))
            unchanged = form_of(challenge, anywhere_on_earth=form["zone"] == EARTH_ZONE)
            rules = _exact(rules_in(form), rules_of(challenge), form, unchanged)
            if form["section"] not in {"", "when"}:  # the others have it to show their dates
                rules = rules.model_copy(update={"anywhere_on_earth": challenge.anywhere_on_earth})
            done = done_with(challenge, phase_named(challenge, MAIN_PHASE), rules) or "saved"
            challenge_changes.update(session, challenge=challenge, user=organised.user, rules=rules)
    except (ConflictError, InvalidInputError) as error:
        return _challenge_form(organised.request, form, organised.load(), FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}{'/edit' if form['section'] else ''}", done=done)


@router.get("/{slug}/new-phase")
def new_phase_page(organised: Organised) -> Response:
    """The form to add a phase: it begins where the last one ends, with its rules."""
    challenge = organised.load()
    last = phases_of(challenge)[-1].rules
    freeze = Freeze.CLOSING if last.freeze is Freeze.DATE else last.freeze  # the date is not this phase's
    rules = PhaseRules(
        **{**dict(last), "opens_at": last.closes_at, "closes_at": None, "freeze": freeze, "freezes_at": None}
    )
    return _phase_form(organised, None, OF_A_NEW_PHASE | as_typed(rules, zone_of(challenge)) | _zone_of_form(challenge))


@router.post("/{slug}/new-phase", dependencies=[Depends(protect_form)])
def add_phase(organised: Organised, sent: Sent) -> Response:
    """Add a phase."""
    form = OF_A_NEW_PHASE | sent
    try:
        with organised.writing() as (session, challenge):
            phase_changes.add_phase(
                session,
                challenge=challenge,
                user=organised.user,
                key=form["key"],
                title=form["title"],
                rules=_phase_rules_in(form, challenge, is_new=True),
                image_set=form["image_set"].strip() or None,
                has_own_truth=form["own_ground_truth"] == "true",
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
    return _phase_form(organised, key, _form_of_phase(challenge, phase))


@router.post("/{slug}/phases/{key}", dependencies=[Depends(protect_form)])
def change_phase(organised: Organised, key: str, sent: Sent) -> Response:
    """Change a further phase."""
    form = OF_A_NEW_PHASE | sent
    try:
        with organised.writing() as (session, challenge):
            _lock(session, challenge)
            before = phase_named(challenge, key)
            _check_unchanged(form, _form_of_phase(challenge, before)["read"])
            unchanged = as_typed(before.rules, _zone_in(form, challenge))
            rules = _exact(_phase_rules_in(form, challenge), before.rules, form, unchanged)
            done = done_with(challenge, before, rules) or "phase-saved"
            phase_changes.update_phase(
                session, challenge=challenge, user=organised.user, key=key, title=form["title"], rules=rules
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


def _form_of_phase(challenge: Challenge, phase: Phase) -> Typed:
    """Return the form that says what a further phase's rules are now."""
    form = OF_A_NEW_PHASE | as_typed(phase.rules, zone_of(challenge)) | _zone_of_form(challenge)
    form["title"] = phase.title
    return form | {"read": _tag(form, form)}


def _zone_of_form(challenge: Challenge) -> Typed:
    return {"zone": EARTH_ZONE if challenge.anywhere_on_earth else UTC_ZONE}


def _zone_in(form: Typed, challenge: Challenge) -> tzinfo:
    """Return the zone in which the dates of a phase's form were typed: another organiser may have changed it since."""
    zones = {EARTH_ZONE: formats.ANYWHERE_ON_EARTH, UTC_ZONE: UTC}
    return zones.get(form["zone"], zone_of(challenge))


def done_with(challenge: Challenge, before: Phase, rules: PhaseRules) -> str | None:
    """Return the message after a change that has further consequences, or fewer than it seems to; None for others."""
    if keeps_frozen_detail(before, rules):
        return "frozen-detail"
    return "deadline" if moves_dates(challenge, before, rules) else None


def _preview(request: Request, form: Typed, challenge: Challenge | None) -> Response:
    """Return the form as it was typed, with the description as the page will show it."""
    checks = FieldChecks()
    text = checks.text("description", form["description"], max_length=MAX_DESCRIPTION_LENGTH)
    try:
        checks.finish()
    except InvalidInputError as error:
        return _challenge_form(request, form, challenge, FormErrors.of(error))
    return _challenge_form(request, form, challenge, NO_ERRORS, preview=untrusted_markdown.rendered(text))


def _challenge_form(
    request: Request,
    form: Typed,
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
        form=form,
        tags=_tags_of_page(form, challenge) if challenge else {},
        question_rows=[*_question_rows(form), *[("", "line", "", "yes")] * EMPTY_QUESTIONS],
        question_kinds=QUESTION_KINDS,
        data_rows=[*_data_rows(form), *[("",) * 4] * EMPTY_DATA_LINKS],
        preview=preview,
        editions=offered_editions(),
        visibilities=VISIBILITIES,
        zones=ZONES,
        statistics=STATISTICS,
        overall_ranks=OVERALL_RANKS,
        **choices(edition_of(challenge) if challenge else _edition_of(form)),
    )


def _edition_of(form: Typed) -> Edition:
    """The edition that was chosen; the default one while there is none that can be read."""
    try:
        return own_edition(form["edition_text"]) if form["edition_text"] else editions.load(form["edition"])
    except (editions.EditionFileError, editions.UnknownEditionError):
        return editions.load(OF_A_NEW_CHALLENGE["edition"])


def _phase_form(organised: Organised, key: str | None, form: Typed, error: ServiceError | None = None) -> Response:
    challenge = organised.load()
    phase = None if key is None else phase_named(challenge, key)
    edition = edition_of(challenge) if phase is None else edition_of_phase(challenge, phase)
    is_on_earth = _zone_in(form, challenge) is formats.ANYWHERE_ON_EARTH
    return render(
        organised.request,
        "organise/phase.html",
        errors=_as_in_form(FormErrors.of(error) if error else NO_ERRORS),
        challenge=challenge,
        phase=phase,
        form=form,
        zone_name=formats.ANYWHERE_ON_EARTH_NAME if is_on_earth else "UTC",
        **choices(edition),
    )


def _as_in_form(errors: FormErrors) -> FormErrors:
    """Return the errors by the names that the form's fields have."""
    return replace(errors, wrong={TYPED_AS.get(name, name): text for name, text in errors.wrong.items()})
