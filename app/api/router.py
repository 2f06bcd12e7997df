"""What all routes of the API have in common."""

from typing import Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from vocboard.app.api.problems import problem_responses
from vocboard.app.web.bodies import refuse_other_bodies
from vocboard.app.web.idempotency import serve_once
from vocboard.app.web.identity import Credentials, identify
from vocboard.app.web.parameters import refuse_unknown_parameters
from vocboard.app.web.preconditions import note_condition
from vocboard.app.web.routes import Routes

PREFIX = "/api/v1"


class ApiRoutes(Routes):
    """The routes of one part of the API.

    Args:
        prefix: of their paths, after `PREFIX`.
        described: see `fastapi.APIRouter`.
    """

    def __init__(self, prefix: str = "", **described: Any) -> None:
        super().__init__(
            PREFIX + prefix,
            include_in_schema=True,
            responses=problem_responses(422),
            dependencies=[Depends(_check_request)],
            generate_unique_id_function=_operation_name,
            **described,
        )


async def _check_request(request: Request, credentials: Credentials) -> None:
    """Dependency of all routes, before their own. FastAPI spends as much time on a dependency as one check takes."""
    await refuse_unknown_parameters(request)
    await refuse_other_bodies(request)
    await serve_once(request, await identify(request, credentials))
    await note_condition(request)


def _operation_name(route: APIRoute) -> str:
    """Return an operation's id in the document, used by generated clients: the handler's name."""
    return route.name
