"""Entity tags, and changes on the condition that nobody else has changed the same thing in the meantime (`If-Match`).

What the API returns at a path that takes `PATCH`, `PUT` or `DELETE`, too, has a tag of its content. A change with a tag
calls the handler of the `GET` again, inside its own transaction, after it has locked what it changes: see
`require_match`. So the tag covers all that is returned, and no table needs a version.

Source: RFC 9110, sections 8.8.3 and 13.1.1.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request
from fastapi.dependencies.utils import solve_dependencies
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.database import Database
from vocboard.app.errors import ServiceError
from vocboard.app.web.dependencies import services_of

HEADER = "If-Match"
CHANGING = frozenset({"PATCH", "PUT", "DELETE"})
_WITHOUT = "/uploads/"  # resumable uploads: the protocol has `Upload-Offset` instead
_TAGGED, _CONDITION = "is_tagged", "condition"  # in the state of a request
_readers: dict[Callable[..., Any], APIRoute] = {}  # by endpoint; routes do not change


class PreconditionFailedError(ServiceError):
    """What a request would change is not what the client has read."""

    status, code, title = 412, "precondition_failed", "Changed in the meantime"

    def __init__(self) -> None:
        super().__init__(
            "What you want to change is no longer as you have read it. Nothing was changed now. Get it again; if you "
            "still want the change, repeat it with the new ETag."
        )


def readers(routes: list[BaseRoute]) -> dict[Callable[..., Any], APIRoute]:
    """Return the `GET` routes whose responses have tags, by their own handlers and those of changes at their paths."""
    found: dict[Callable[..., Any], APIRoute] = {}
    known = [route for route in routes if isinstance(route, APIRoute)]
    changes = [route for route in known if CHANGING.intersection(route.methods or ())]
    for read in known:
        # Files have the tag of their content already, which never changes.
        if "GET" in (read.methods or ()) and 304 not in read.responses and _WITHOUT not in read.path:
            related = [route for route in changes if route.path == read.path]
            found |= {route.endpoint: read for route in (read, *related) if related}
    return found


@dataclass(frozen=True, slots=True)
class _Condition:
    """Tags that a client sent, and how to read what they are compared with."""

    tags: frozenset[str]
    database: Database
    reader: APIRoute
    given: dict[str, Any]

    def is_met(self, session: Session) -> bool:
        seen = self.database.within(session)
        given = {name: seen if value is self.database else value for name, value in self.given.items()}
        return bool(self.tags & {"*", tag(self._content(self.reader.endpoint(**given)))})

    def _content(self, returned: Any) -> bytes:
        if isinstance(returned, Response):
            return bytes(returned.body)
        field = self.reader.response_field
        assert field is not None  # noqa: S101  # handlers that return no response have a model
        content: bytes = field.serialize_json(field.validate(returned, {}, loc=("response",))[0])
        return content


def tag(content: bytes) -> str:
    """Return the strong entity tag of a content."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


async def note_condition(request: Request) -> None:
    """Prepare what `require_match` compares with a request to the API, and let `EntityTags` add a tag."""
    if not _readers:
        _readers.update(readers(request.app.routes))
    reader = _readers.get(request.scope["endpoint"])
    if reader is None:
        return
    state = request.scope["state"]
    if request.method not in CHANGING:
        state[_TAGGED] = True
    elif HEADER in request.headers:
        stack = request.scope["fastapi_inner_astack"]
        # Without the first dependency, which checks every request and is calling this.
        own = replace(reader.dependant, dependencies=reader.dependant.dependencies[1:])
        solved = await solve_dependencies(
            request=request, dependant=own, async_exit_stack=stack, embed_body_fields=False
        )
        tags = frozenset(one.strip() for one in request.headers[HEADER].split(","))
        state[_CONDITION] = _Condition(tags, services_of(request).database, reader, solved.values)


def require_match(request: Request, session: Session, lock: Callable[[], object]) -> bool:
    """Let a change go on if it has no condition, or if that is met; call it first in the transaction.

    Returns whether it has one. What the session has read before the lock is forgotten then.

    Args:
        lock: locks what is about to be changed against other changes until the end of the transaction.

    Raises:
        PreconditionFailedError: somebody else has changed it.
    """
    condition: _Condition | None = request.scope.get("state", {}).pop(_CONDITION, None)
    if condition is None:
        return False
    lock()
    if not condition.is_met(session):
        raise PreconditionFailedError
    session.expire_all()
    return True


class EntityTags:
    """Middleware that adds a tag to the responses that `note_condition` has chosen."""

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(self._path):
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        start: Message = {}
        body = b""

        async def send_with_tag(message: Message) -> None:
            nonlocal start, body
            if _TAGGED not in state or message.get("status", 200) != 200 or (not start and "status" not in message):
                await send(message)
                return
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                MutableHeaders(scope=start)["ETag"] = tag(body)
                await send(start)
                await send({"type": "http.response.body", "body": body})

        await self._app(scope, receive, send_with_tag)
