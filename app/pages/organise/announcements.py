"""What organisers tell participants: announcements, and answers to questions."""

import uuid
from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Form
from starlette.responses import Response

from vocboard.app.announcements import announcing, asking, queries
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError, ServiceError
from vocboard.app.pages.announcements import PER_PAGE
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.paging import paginate
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}")
REFUSALS = (ConflictError, InvalidInputError, LimitedError)


@router.get("/announcements")
def announcements_page(organised: Organised) -> Response:
    """The announcements of a challenge."""
    return _announcements_page(organised)


@router.post("/announcements", dependencies=[Depends(protect_form)])
def announce(
    organised: Organised,
    *,
    title: Annotated[str, Form()] = "",
    text: Annotated[str, Form()] = "",
    email: Annotated[bool, Form()] = False,
) -> Response:
    """Announce something."""
    try:
        organised.change(announcing.announce, title=title, text=text, email=email)
    except REFUSALS as error:
        typed = {"title": title, "text": text, "email": email}
        return _announcements_page(organised, errors=FormErrors.of(error), typed=typed)
    return go_to(f"/organise/{organised.slug}/announcements", done="announced")


@router.post("/announcements/{announcement_id}/correct", dependencies=[Depends(protect_form)])
def correct(
    organised: Organised,
    announcement_id: uuid.UUID,
    *,
    title: Annotated[str, Form()] = "",
    text: Annotated[str, Form()] = "",
) -> Response:
    """Change an announcement."""
    try:
        organised.change(announcing.correct, announcement_id=announcement_id, title=title, text=text)
    except REFUSALS as error:
        typed = {"title": title, "text": text}
        return _announcements_page(organised, errors=FormErrors.of(error), typed=typed, corrected=announcement_id)
    return go_to(f"/organise/{organised.slug}/announcements", done="announcement-corrected")


@router.post("/announcements/{announcement_id}/remove", dependencies=[Depends(protect_form)])
def remove(organised: Organised, announcement_id: uuid.UUID) -> Response:
    """Remove an announcement."""
    try:
        organised.change(announcing.remove, announcement_id=announcement_id)
    except ConflictError as error:
        return _announcements_page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/announcements", done="announcement-removed")


@router.get("/questions")
def questions_page(organised: Organised) -> Response:
    """All questions, those without an answer first."""
    return _questions_page(organised)


@router.post("/questions/{question_id}/answer", dependencies=[Depends(protect_form)])
def answer(
    organised: Organised,
    question_id: uuid.UUID,
    *,
    text: Annotated[str, Form()] = "",
    public: Annotated[bool, Form()] = False,
    read: Annotated[str | None, Form()] = None,
) -> Response:
    """Answer a question, or change its answer."""
    try:
        organised.change(asking.answer, question_id=question_id, text=text, public=public, before=read)
    except REFUSALS as error:
        # Saving again after a conflict replaces the answer that is there now; after other errors, it may conflict.
        read = "" if isinstance(error, ConflictError) else read or ""
        return _questions_page(organised, error, question_id, text=text, public=public, read=read)
    return go_to(f"/organise/{organised.slug}/questions", done="answered")


@router.post("/questions/{question_id}/remove", dependencies=[Depends(protect_form)])
def remove_question(organised: Organised, question_id: uuid.UUID) -> Response:
    """Remove a question with its answer."""
    try:
        organised.change(asking.remove, question_id=question_id)
    except ConflictError as error:
        return _questions_page(organised, error)
    return go_to(f"/organise/{organised.slug}/questions", done="question-removed")


def _announcements_page(
    organised: OrganisedChallenge,
    *,
    errors: FormErrors = NO_ERRORS,
    typed: Mapping[str, object] | None = None,
    corrected: uuid.UUID | None = None,
) -> Response:
    """Return the page with its forms.

    Args:
        typed: what was typed in the form that was refused.
        corrected: id of the announcement that this form is about; None for a new one.
    """
    with organised.reading() as (session, challenge):
        found = paginate(
            session, queries.announcements_of(challenge), page=page_number(organised.request), per_page=PER_PAGE
        )
        entrants = len(queries.entrants(session, challenge))
    return render(
        organised.request,
        "organise/announcements.html",
        errors=errors,
        challenge=challenge,
        page=found,
        entrants=entrants,
        typed=typed or {},
        corrected=corrected,
        max_title=announcing.MAX_TITLE_LENGTH,
        max_text=announcing.MAX_TEXT_LENGTH,
    )


def _questions_page(
    organised: OrganisedChallenge,
    error: ServiceError | None = None,
    question_id: uuid.UUID | None = None,
    **typed: str | bool,
) -> Response:
    """Return the page with a form for each question.

    Args:
        error: why an answer was refused.
        question_id: of the question that it is about, for which this was typed.
    """
    with organised.reading() as (session, challenge):
        visible = queries.visible_questions(challenge, organised.user, organises=True)
        found = paginate(session, visible, page=page_number(organised.request), per_page=PER_PAGE)
    return render(
        organised.request,
        "organise/questions.html",
        errors=NO_ERRORS if error is None else FormErrors.of(error),
        challenge=challenge,
        page=found,
        refused=question_id,
        typed=typed,
        max_length=asking.MAX_ANSWER_LENGTH,
        state_of=asking.state_of,
    )
