"""What a person does to take part in a challenge: ask its organisers, and accept its terms."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import admission_requests, phase_people, terms
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE, Admission
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.rules import MAX_QUESTIONS, rules_of
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, LimitedError
from vocboard.app.pages.challenges import read_challenge, shown_on_all_tabs
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.participating import admission
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import CurrentIdentity, SignedIn
from vocboard.app.web.routes import Routes

router = Routes("/challenges/{slug}/take-part")
REFUSALS = (ConflictError, ForbiddenError, InvalidInputError, LimitedError)


async def _answers(request: Request) -> Mapping[str, str]:
    """Return the answers of the form by question: the form repeats each question, which may have changed since."""
    form = await request.form()
    fields = [(f"question-{number}", f"answer-{number}") for number in range(1, MAX_QUESTIONS + 1)]
    return {str(form[question]): str(form.get(answer, "")) for question, answer in fields if question in form}


@router.get("")
def taking_part_page(request: Request, database: DatabaseDep, identity: CurrentIdentity, slug: str) -> Response:
    """The terms of a challenge, and the form to ask its organisers."""
    return _page(request, database, slug, identity.user)


@router.post("/terms", dependencies=[Depends(protect_form)])
def accept_terms(
    request: Request, database: DatabaseDep, user: SignedIn, slug: str, version: Annotated[int, Form()] = 0
) -> Response:
    """Accept the terms."""
    try:
        with database.writing() as session:
            challenge = challenges.get_visible(session, slug, user)
            admission.accept_terms(session, challenge=challenge, user=user, version=version)
    except REFUSALS as error:
        return _page(request, database, slug, user, errors=FormErrors.of(error))
    return go_to(f"/challenges/{slug}/take-part", done="terms-accepted")


@router.post("/request", dependencies=[Depends(protect_form)])
def ask(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    slug: str,
    answers: Annotated[Mapping[str, str], Depends(_answers)],
    phase: Annotated[str, Form()] = MAIN_PHASE,
) -> Response:
    """Ask to be admitted to a phase."""
    try:
        with database.writing() as session:
            challenge = challenges.get_visible(session, slug, user)
            admission.ask(session, challenge=challenge, phase_key=phase, user=user, answers=answers)
    except REFUSALS as error:
        return _page(request, database, slug, user, errors=FormErrors.of(error), asked=phase, answers=answers)
    return go_to(f"/challenges/{slug}/take-part", done="admission-asked")


@router.post("/withdraw", dependencies=[Depends(protect_form)])
def withdraw(
    request: Request, database: DatabaseDep, user: SignedIn, slug: str, phase: Annotated[str, Form()] = MAIN_PHASE
) -> Response:
    """Withdraw a request."""
    try:
        with database.writing() as session:
            challenge = challenges.get_visible(session, slug, user)
            admission.withdraw(session, challenge=challenge, phase_key=phase, user=user)
    except REFUSALS as error:
        return _page(request, database, slug, user, errors=FormErrors.of(error))
    return go_to(f"/challenges/{slug}/take-part", done="request-withdrawn")


def _page(
    request: Request,
    database: Database,
    slug: str,
    user: User | None,
    *,
    errors: FormErrors = NO_ERRORS,
    asked: str = "",
    answers: Mapping[str, Any] | None = None,
) -> Response:
    """Return the page.

    Args:
        asked: key of the phase whose request was refused.
        answers: of that request.
    """
    read = read_challenge(database, slug, user)
    challenge = read.challenge
    questions = rules_of(challenge).admission_questions
    with database.reading() as session:
        requests = admission_requests.own_requests(session, challenge.id, user) if user else {}
        on_request = [
            (phase, requests.get(phase.id), user is not None and phase_people.is_admitted(session, phase, user))
            for phase in phases_of(challenge)
            if phase.rules.admission is Admission.REQUEST
        ]
        current = terms.current(session, challenge.id)
        acceptance = terms.accepted(session, challenge.id, user) if user else None
    return render(
        request,
        "take_part.html",
        errors=errors,
        user=user,
        terms=current,
        acceptance=acceptance,
        on_request=on_request,
        questions=questions,
        labels={"answers": "Answers"} | {f"answer-{number}": one.question for number, one in enumerate(questions, 1)},
        asked=asked,
        answers=answers or {},
        max_line=admission.MAX_LINE_LENGTH,
        max_text=admission.MAX_TEXT_LENGTH,
        **shown_on_all_tabs(read, now()),
    )
