"""The REST API: parse, call one service function, answer."""

from fastapi import APIRouter
from starlette.routing import Match
from starlette.types import Scope

from vocboard.app.api import (
    accounts,
    challenges,
    events,
    ground_truth,
    leaderboards,
    registrations,
    rescores,
    submission_changes,
    submissions,
)
from vocboard.app.api.problems import problem_responses

PREFIX = "/api/v1"


class Api(APIRouter):
    """Looks at the beginning of an address before it looks through all of its routes: most addresses are pages'."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether a route of the API answers a request."""
        return super().matches(scope) if scope["path"].startswith(PREFIX) else (Match.NONE, {})


router = Api(prefix=PREFIX, responses=problem_responses(422))
_PARTS = (
    challenges,
    submissions,
    submission_changes,
    events,
    leaderboards,
    ground_truth,
    rescores,
    accounts,
    registrations,
)
for _part in _PARTS:
    router.include_router(_part.router)
