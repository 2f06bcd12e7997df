"""A result without names, for double-blind review."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from vocboard.app.challenges import service as challenges
from vocboard.app.pages.rendering import render
from vocboard.app.pages.results import result_view
from vocboard.app.submissions import queries
from vocboard.app.web.dependencies import DatabaseDep

router = APIRouter()


@router.get("/anonymous/{token}")
def anonymous_page(
    request: Request,
    database: DatabaseDep,
    token: str,
    competition: str | None = None,
    curve: Annotated[tuple[str, ...], Query()] = (),
) -> Response:
    """Show the scores of an anonymous link, regardless of who is signed in."""
    with database.reading() as session:
        submission = queries.by_anonymous_token(session, token)
        competitions = challenges.edition_of(submission.challenge).competitions
        evaluation, view = result_view(
            session, submission, competitions, competition, viewer=None, curves=curve, is_by_link=True
        )
    response = render(
        request,
        "anonymous.html",
        challenge_title=submission.challenge.title,
        evaluation=evaluation,
        competitions=competitions,
        view=view,
    )
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
