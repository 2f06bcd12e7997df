"""The audit log of a challenge for its organisers, and of the whole server for administrators."""

import uuid
from datetime import UTC, datetime

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database
from vocboard.app.organising import audit_log as export
from vocboard.app.organising.audit_log import Filters
from vocboard.app.pages.filters import address_with, day, day_after, page_number
from vocboard.app.pages.rendering import render
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import Administrator
from vocboard.app.web.organised import Organised
from vocboard.app.web.routes import Routes

router = Routes("/organise")


@router.get("/log")
def server_log(request: Request, database: DatabaseDep, _: Administrator) -> Response:
    """Everything that was done on this server."""
    return _page(request, database, None)


@router.get("/log.csv")
def server_log_file(request: Request, database: DatabaseDep, _: Administrator) -> Response:
    """The same as a file."""
    return _file(request, database, None)


@router.get("/{slug}/log")
def challenge_log(organised: Organised) -> Response:
    """Everything that was done in a challenge."""
    return _page(organised.request, organised.database, organised.load())


@router.get("/{slug}/log.csv")
def challenge_log_file(organised: Organised) -> Response:
    """The same as a file."""
    return _file(organised.request, organised.database, organised.load())


def _page(request: Request, database: Database, challenge: Challenge | None) -> Response:
    given = request.query_params
    challenge_id = challenge.id if challenge else None
    with database.reading() as session:
        found = export.page_of_log(
            session, challenge_id=challenge_id, filters=_filters(request), page=page_number(request)
        )
        people = export.people_in_log(session, challenge_id, who=given.get("who", ""))
        concerned = {event.challenge_id for event in found.items if event.challenge_id}
        named = {} if challenge else challenge_queries.challenges_by_id(session, concerned)
    return render(
        request,
        "organise/log.html",
        challenge=challenge,
        challenges=named,
        page=found,
        people=people,
        actions=[name for name in export.actions() if challenge is None or not name.startswith(("user.", "token."))],
        given=given,
        is_filtered=any(given.get(name) for name in ("who", "action", "about", "since", "until")),
        file=address_with(f"{request.url.path}.csv", given, {"page": None}),
    )


def _file(request: Request, database: Database, challenge: Challenge | None) -> Response:
    name = challenge.slug if challenge else "vocboard"
    pieces = export.as_csv(database, challenge_id=challenge.id if challenge else None, filters=_filters(request))
    headers = {"Content-Disposition": f'attachment; filename="{name}-log-{datetime.now(UTC):%Y-%m-%d}.csv"'}
    return StreamingResponse(pieces, media_type="text/csv", headers=headers)


def _filters(request: Request) -> Filters:
    given = request.query_params
    try:
        about = uuid.UUID(given.get("about", ""))
    except ValueError:
        about = None
    return Filters(
        who=given.get("who", ""),
        action="".join(filter(str.isprintable, given.get("action", ""))),
        about=about,
        since=day(given.get("since", "")),
        until=day_after(given.get("until", "")),
    )
