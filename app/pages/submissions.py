"""Pages of submissions: the user's list, and details with actions."""

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError
from vocboard.app.evaluations.results import incomplete_results, visible_means
from vocboard.app.moderation import submissions as moderation
from vocboard.app.pages import wording
from vocboard.app.pages.board_state import PER_PAGE
from vocboard.app.pages.declarations import needed
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import stored
from vocboard.app.pages.result_comparison import Sort, compare
from vocboard.app.pages.results import result_view
from vocboard.app.pages.submission_actions import actions_of, organisers_actions
from vocboard.app.submissions import publishing, queries, service
from vocboard.app.submissions.downloading import download
from vocboard.app.submissions.forms import statements
from vocboard.app.submissions.models import State, Submission
from vocboard.app.submissions.queue import queue_position
from vocboard.app.web.attachments import attachment
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep, StoreDep, services_of
from vocboard.app.web.identity import CurrentIdentity, SignedIn
from vocboard.app.web.shown_once import forget, show_once, shown_once

router = APIRouter()


def _chosen(
    competitions: Annotated[tuple[str, ...], Form()] = (), is_choice: Annotated[bool, Form()] = False
) -> tuple[str, ...] | None:
    """The ticked competitions of a form that lists them; None if it lists none."""
    return competitions if is_choice else None


ChosenCompetitions = Annotated[tuple[str, ...] | None, Depends(_chosen)]


@router.get("/submissions")
def my_submissions(request: Request, database: DatabaseDep, user: SignedIn, page: int = 1) -> Response:
    """List the user's own submissions."""
    with database.reading() as session:
        found = queries.mine(session, user=user, page=page)
        means = visible_means(session, found.items, for_organisers=False)
        incomplete = incomplete_results(session, found.items)
    return render(request, "submissions.html", page=found, means=means, incomplete=incomplete)


@router.get("/submissions/{submission_id}")
def submission_page(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    identity: CurrentIdentity,
    submission_id: uuid.UUID,
    competition: str | None = None,
    sort: str = Sort.CLASS,
    curve: Annotated[tuple[str, ...], Query()] = (),
) -> Response:
    """One submission."""
    address = shown_once(request, settings)
    response = show(
        request,
        database,
        identity.user,
        submission_id,
        competition=competition,
        sort=sort,
        curves=curve,
        anonymous_address=address,
    )
    if address is not None:
        forget(response, settings)
    return response


@router.post("/submissions/{submission_id}/publish", dependencies=[Depends(protect_form)])
def publish(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    chosen: ChosenCompetitions,
    replace: Annotated[bool, Form()] = False,
) -> Response:
    """Publish the result on the leaderboards."""
    change = partial(publishing.publish, competitions=chosen, replace=replace)
    return act(request, database, user, submission_id, change, done="replaced" if replace else "published")


@router.post("/submissions/{submission_id}/unpublish", dependencies=[Depends(protect_form)])
def unpublish(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    chosen: ChosenCompetitions,
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Remove the result from the leaderboards: temporarily if it is the user's own, otherwise permanently."""
    with database.reading() as session:
        is_own = queries.get_for(session, submission_id, user).user_id == user.id
    done = "unpublished" if is_own else "held-back"
    change = partial(moderation.unpublish, competitions=chosen)
    return act(request, database, user, submission_id, change, done=done, reason=reason)


@router.get("/submissions/{submission_id}/withdraw")
def withdrawal_page(
    request: Request, settings: SettingsDep, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID
) -> Response:
    """Say what withdrawing the submission means, and ask."""
    try:
        with database.reading() as session:
            submission, found = service.consequences(
                session, submission_id, user, archive_kept_for=settings.withdrawn_archives_kept_for
            )
    except ConflictError as error:
        return show(request, database, user, submission_id, message=str(error), status=error.status)
    return render(request, "withdraw.html", submission=submission, consequences=found)


@router.post("/submissions/{submission_id}/withdraw", dependencies=[Depends(protect_form)])
def withdraw(request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Withdraw the submission."""
    return act(request, database, user, submission_id, service.withdraw, done="withdrawn")


@router.post("/submissions/{submission_id}/anonymous-link", dependencies=[Depends(protect_form)])
def create_anonymous_link(
    request: Request, settings: SettingsDep, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID
) -> Response:
    """Create an anonymous link, which the submission's page shows once."""
    try:
        with database.writing() as session:
            token = service.create_anonymous_link(session, submission_id=submission_id, user=user)
    except ConflictError as error:
        return show(request, database, user, submission_id, message=str(error), status=error.status)
    path = f"/submissions/{submission_id}"
    response = go_to(path)
    show_once(response, request, settings, page=path, secret=service.anonymous_address(settings.public_url, token))
    return response


@router.post("/submissions/{submission_id}/anonymous-link/revoke", dependencies=[Depends(protect_form)])
def revoke_anonymous_link(
    request: Request, database: DatabaseDep, settings: SettingsDep, user: SignedIn, submission_id: uuid.UUID
) -> Response:
    """Revoke the anonymous link."""
    response = act(request, database, user, submission_id, service.revoke_anonymous_link, done="link-revoked")
    forget(response, settings)
    return response


@router.get("/submissions/{submission_id}/archive")
def archive(database: DatabaseDep, store: StoreDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Return the archive as it was uploaded, for the owner and the organisers."""
    return attachment(download(database, store, submission_id=submission_id, user=user))


def act(
    request: Request,
    database: Database,
    user: User,
    submission_id: uuid.UUID,
    action: Callable[..., Any],
    *,
    done: str,
    **given: str,
) -> Response:
    """Do something with a submission and show its page again."""
    try:
        with database.writing() as session:
            action(session, submission_id=submission_id, user=user, **given)
    except InvalidInputError as error:
        return show(request, database, user, submission_id, message=wording.fields_in_words(error), status=error.status)
    except (ConflictError, LimitedError) as error:
        return show(request, database, user, submission_id, message=str(error), status=error.status)
    return go_to(f"/submissions/{submission_id}", done=done)


def show(
    request: Request,
    database: Database,
    user: User | None,
    submission_id: uuid.UUID,
    *,
    competition: str | None = None,
    sort: str = Sort.CLASS,
    curves: Sequence[str] = (),
    message: str | None = None,
    anonymous_address: str | None = None,
    status: int = 200,
) -> Response:
    """Return the page of a submission.

    Args:
        competition: whose result is shown; by default the first.
        sort: how its classes are sorted; what is unknown is ignored.
        curves: classes whose curves are in one plot.
        message: why something that was asked for was not done.
        anonymous_address: a link that was just created, and is shown only now.
    """
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, user)
        own = user is not None and submission.user_id == user.id
        organised = queries.is_organised_by(session, submission, user)
        context: dict[str, Any] = {
            "submission": submission,
            "own": own,
            "managed": own or organised,
            "organised": organised,
            "actions": actions_of(submission, queries.replaceable_by(session, submission)) if own else [],
            "shown_competitions": queries.visible_competitions(session, submission, user),
            "organisers_actions": organisers_actions(
                submission, is_on_frozen_board=moderation.is_on_frozen_board(session, submission)
            )
            if organised
            else [],
            "copies": queries.copies_of(session, submission) if organised else [],
            "position": queue_position(session, submission),
            "declared": statements(
                submission.declared, needed(submission, queries.visible_competitions(session, submission, user))
            ),
            "warning_groups": stored(submission.warnings),
            **_results(session, submission, competition, user, curves),
        }
    if context["view"] is not None:
        context["view"], context["comparison"] = compare(
            database,
            services_of(request).boards,
            submission,
            context["view"],
            user,
            is_managed=context["managed"],
            sort=Sort(sort) if sort in set(Sort) else Sort.CLASS,
        )
    return render(
        request,
        "submission.html",
        status=status,
        message=message,
        anonymous_address=anonymous_address,
        per_page=PER_PAGE,
        **context,
    )


def _results(
    session: Session, submission: Submission, competition: str | None, viewer: User | None, curves: Sequence[str]
) -> dict[str, Any]:
    competitions = challenges.edition_of(submission.challenge).competitions
    evaluation, view = (
        result_view(session, submission, competitions, competition, viewer, curves=curves)
        if submission.state in {State.SCORED, State.DISQUALIFIED}
        else (None, None)
    )
    return {"evaluation": evaluation, "view": view, "competitions": competitions}
