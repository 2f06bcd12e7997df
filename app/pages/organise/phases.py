"""Adding, changing and removing the further phases of a challenge."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, Freeze
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.challenges.service import Phase
from vocboard.app.database import Database
from vocboard.app.errors import ForbiddenError, InvalidInputError, NotFoundError, ServiceError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.organise.phase_fields import TYPED_AS, PhaseFields, as_typed, choices, done_with
from vocboard.app.pages.organise.phase_people import phases_overview
from vocboard.app.pages.organise.zones import zone_name, zone_of
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import Organiser

router = APIRouter(prefix="/organise/{slug}")


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


@router.get("/phases/new")
def new_phase_page(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """The form to add a phase: it begins where the last one ends, with its rules."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
    last = challenges.phases_of(challenge)[-1].rules
    freeze = Freeze.CLOSING if last.freeze is Freeze.DATE else last.freeze  # the date is not this phase's
    rules = PhaseRules(
        **{**dict(last), "opens_at": last.closes_at, "closes_at": None, "freeze": freeze, "freezes_at": None}
    )
    return _form_page(request, challenge, None, PhaseForm(**as_typed(rules, zone_of(challenge))), NO_ERRORS)


@router.post("/phases/new", dependencies=[Depends(protect_form)])
def add_phase(
    request: Request, database: DatabaseDep, user: Organiser, slug: str, form: Annotated[PhaseForm, Form()]
) -> Response:
    """Add a phase."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            challenges.add_phase(
                session,
                challenge=challenge,
                user=user,
                key=form.key,
                title=form.title,
                rules=form.rules(challenge),
                image_set=form.image_set.strip() or None,
                has_own_truth=form.own_ground_truth,
            )
    except (ForbiddenError, NotFoundError):
        raise
    except ServiceError as error:
        return _refused_form(request, database, user, slug, None, form, error)
    return go_to(f"/organise/{slug}/phases", done="phase-added")


@router.get("/phases/{key}")
def phase_page(request: Request, database: DatabaseDep, user: Organiser, slug: str, key: str) -> Response:
    """The form to change a further phase; the main one changes with the challenge."""
    if key == MAIN_PHASE:
        return go_to(f"/organise/{slug}/edit")
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        phase = challenges.phase_named(challenge, key)
    form = PhaseForm(title=phase.title, key=key, **as_typed(phase.rules, zone_of(challenge)))
    return _form_page(request, challenge, phase, form, NO_ERRORS)


@router.post("/phases/{key}", dependencies=[Depends(protect_form)])
def change_phase(
    request: Request, database: DatabaseDep, user: Organiser, slug: str, key: str, form: Annotated[PhaseForm, Form()]
) -> Response:
    """Change a further phase."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            rules = form.rules(challenge)
            done = done_with(challenge, challenges.phase_named(challenge, key), rules) or "phase-saved"
            challenges.update_phase(session, challenge=challenge, user=user, key=key, title=form.title, rules=rules)
    except (ForbiddenError, NotFoundError):
        raise
    except ServiceError as error:
        return _refused_form(request, database, user, slug, key, form, error)
    return go_to(f"/organise/{slug}/phases", done=done)


@router.post("/phases/{key}/remove", dependencies=[Depends(protect_form)])
def remove_phase(request: Request, database: DatabaseDep, user: Organiser, slug: str, key: str) -> Response:
    """Remove a phase that nothing has been submitted to."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            challenges.remove_phase(session, challenge=challenge, user=user, key=key)
    except (ForbiddenError, NotFoundError):
        raise
    except ServiceError as error:
        return phases_overview(request, database, user, slug, errors=FormErrors.of(error))
    return go_to(f"/organise/{slug}/phases", done="phase-removed")


def _refused_form(
    request: Request, database: Database, user: User, slug: str, key: str | None, form: PhaseForm, error: ServiceError
) -> Response:
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
    phase = None if key is None else challenges.phase_named(challenge, key)
    return _form_page(request, challenge, phase, form, FormErrors.of(error))


def _form_page(
    request: Request, challenge: Challenge, phase: Phase | None, form: PhaseForm, errors: FormErrors
) -> Response:
    edition = challenges.edition_of(challenge) if phase is None else challenges.edition_of_phase(challenge, phase)
    return render(
        request,
        "organise/phase.html",
        status=errors.status,
        challenge=challenge,
        phase=phase,
        form=form.model_dump(),
        wrong={TYPED_AS.get(name, name): text for name, text in errors.wrong.items()},
        message=errors.message,
        zone_name=zone_name(challenge),
        **choices(edition),
    )
