"""The REST API. Handlers parse the request, call one service function, and return its result."""

from fastapi import APIRouter, Depends, Request
from starlette.routing import Match
from starlette.types import Scope

from vocboard.app.api import (
    accounts,
    administration,
    admission,
    announcements,
    challenge_files,
    challenges,
    events,
    exports,
    ground_truth,
    leaderboards,
    moderation,
    notifications,
    organisers,
    overall,
    overview,
    phases,
    reported,
    rescores,
    statistics,
    submissions,
    teams,
    transfer,
    uploads,
    webhooks,
)
from vocboard.app.api.problems import problem_responses
from vocboard.app.web.bodies import refuse_other_bodies
from vocboard.app.web.idempotency import serve_once
from vocboard.app.web.identity import Credentials, identify
from vocboard.app.web.parameters import refuse_unknown_parameters
from vocboard.app.web.preconditions import note_condition

PREFIX = "/api/v1"


class Api(APIRouter):
    """A router that checks the path prefix before it searches its routes, because most requests are for pages."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a route of the API matches a request."""
        return super().matches(scope) if scope["path"].startswith(PREFIX) else (Match.NONE, {})


async def _check_request(request: Request, credentials: Credentials) -> None:
    """Dependency of all routes, before their own. FastAPI spends as much time on a dependency as one check takes."""
    await refuse_unknown_parameters(request)
    await refuse_other_bodies(request)
    await serve_once(request, await identify(request, credentials))
    await note_condition(request)


router = Api(
    prefix=PREFIX,
    responses=problem_responses(422),
    dependencies=[Depends(_check_request)],
)
# Routes are tried in this order, at some microseconds each: what is requested most comes first.
_PARTS = (
    leaderboards,
    submissions,
    exports,
    events,
    challenges,
    challenge_files,
    uploads,
    phases,
    reported,
    moderation,
    overview,
    overall,
    statistics,
    announcements,
    admission,
    organisers,
    teams,
    transfer,
    ground_truth,
    rescores,
    notifications,
    webhooks,
    accounts,
    administration,
)
for _part in _PARTS:
    router.include_router(_part.router)
