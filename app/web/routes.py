"""Routers whose routes an application takes as they are.

`FastAPI.include_router` would analyse each handler again, and look for the route of each request twice.
"""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Match, compile_path
from starlette.types import Scope

_NO_MATCH: tuple[Match, Scope] = Match.NONE, {}


class _Route(APIRoute):
    """A route whose handler is analysed with the first request to it: hundreds would delay the start of a process.

    It first compares the fixed beginning of its path, because most requests are for others.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        self.path, self.endpoint, self.methods = path, endpoint, set(described["methods"])
        self.name = described["name"] or endpoint.__name__
        self.include_in_schema, self.responses = described["include_in_schema"], described["responses"]
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self._beginning = path.partition("{")[0]
        self._described = described

    def __getattr__(self, name: str) -> Any:
        known = vars(self)
        if "app" not in known and "_described" in known:  # which is set last
            super().__init__(self.path, self.endpoint, **self._described)
        if name not in known:
            raise AttributeError(name)
        return known[name]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if scope["path"].startswith(self._beginning) else _NO_MATCH


class Routes(APIRouter):
    """The routes of one module.

    Args:
        prefix: of their paths.
        include_in_schema: whether they are in the API's document.
        described: see `fastapi.APIRouter`.
    """

    def __init__(self, prefix: str = "", *, include_in_schema: bool = False, **described: Any) -> None:
        super().__init__(prefix=prefix, include_in_schema=include_in_schema, route_class=_Route, **described)


def install(application: FastAPI, parts: Iterable[ModuleType]) -> None:
    """Add the routes of each module's `router`. They are tried in this order, most in less than 1 µs."""
    for part in parts:
        application.router.routes.extend(part.router.routes)
