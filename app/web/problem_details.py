"""Renders errors: as RFC 9457 problem details for programs, as pages for people.

Source: RFC 9457, "Problem Details for HTTP APIs".
"""

import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import singledispatch
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.accounts.second_factor import SecondFactorRequiredError
from vocboard.app.accounts.terms import ServerTermsNotAcceptedError
from vocboard.app.challenges.terms import TermsNotAcceptedError
from vocboard.app.database import is_conflict, now
from vocboard.app.errors import (
    BusyError,
    IncompleteEntryError,
    InvalidArchiveError,
    InvalidInputError,
    LimitedError,
    NotSignedInError,
    RangeNotSatisfiableError,
    ServiceError,
    WarningsNotAcceptedError,
)
from vocboard.app.forms import no_such_field
from vocboard.app.intake.requests import note_refusal
from vocboard.app.storage.local_files import StoreUnavailableError
from vocboard.app.web.access_log import loggable
from vocboard.app.web.guides import explained
from vocboard.evaluator.editions import EditionFileError, UnknownEditionError

MEDIA_TYPE = "application/problem+json"
SIGN_IN_PATH = "/sign-in"
SECOND_FACTOR_PATH = "/account/second-factor"
TERMS_PATH = "/terms"
RETRY_AFTER_UNAVAILABLE_SECONDS = 5
RETRY_AFTER_STORE_SECONDS = 60

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """An error, ready to be rendered.

    Attributes:
        code: stable error code, the last part of `type`.
        title: the kind of error.
        detail: what happened, and what to do.
        members: additional members of this kind of error: `fields`, `problems`, `groups`, `allowed_at`.
    """

    status: int
    code: str
    title: str
    detail: str
    members: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "type": f"urn:vocboard:error:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            **self.members,
        }


class MalformedJsonError(ServiceError):
    """The body is said to be JSON, and is not."""

    code, title = "malformed_json", "Malformed JSON"


class _Json(JSONResponse):
    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Replace what UTF-8 cannot hold: JSON can send half of a surrogate pair, and messages quote what was sent."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


ErrorPage = Callable[[Request, ProblemDetails], Awaitable[Response]]  # the page for people, which the pages have

_DETAILS = {
    HTTPStatus.NOT_FOUND: "This page does not exist. The link may be old.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not accept this kind of request. To send a form, open its page.",
}
_OF_PROGRAMS = {
    HTTPStatus.NOT_FOUND: "There is nothing at this address. /api/docs lists all operations.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not accept this method. The header Allow names others.",
}


@singledispatch
def details_of(_error: Exception) -> ProblemDetails:
    """Return the public description of an exception, without details of unexpected ones."""
    return ProblemDetails(
        500,
        "internal_error",
        "Server error",
        "Something went wrong on the server. The error has been logged; please try again later.",
    )


@details_of.register
def _(error: ServiceError) -> ProblemDetails:
    members: dict[str, Any] = {}
    headers: dict[str, str] = {}
    match error:
        case NotSignedInError():
            headers["WWW-Authenticate"] = 'Bearer realm="vocboard"'
        case RangeNotSatisfiableError():
            headers["Content-Range"] = f"bytes */{error.byte_count}"
        case InvalidInputError():
            members["fields"] = error.fields
        case InvalidArchiveError() | WarningsNotAcceptedError():
            members["problems"] = [problem.as_json() for problem in error.problems]
            members["groups"] = [explained(group) for group in error.groups]
            if isinstance(error, InvalidArchiveError) and error.fields:
                members["fields"] = error.fields
            if isinstance(error, InvalidArchiveError) and error.not_entered:
                members["not_entered"] = error.not_entered
        case IncompleteEntryError():
            members["not_entered"] = error.not_entered
        case TermsNotAcceptedError() | ServerTermsNotAcceptedError():
            members["version"] = error.version
        case LimitedError():
            members["allowed_at"] = error.allowed_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
            headers["Retry-After"] = str(max(1, math.ceil((error.allowed_at - now()).total_seconds())))
        case BusyError():
            headers["Retry-After"] = str(error.retry_after)
    return ProblemDetails(error.status, error.code, error.title, str(error), members, headers)


@details_of.register
def _(error: HTTPException) -> ProblemDetails:
    status = HTTPStatus(error.status_code)
    detail = error.detail if error.detail != status.phrase else _DETAILS.get(status, status.description)
    code = status.phrase.lower().replace(" ", "_")
    return ProblemDetails(status, code, status.phrase.capitalize(), detail, headers=error.headers or {})


@details_of.register(OperationalError)
@details_of.register(InterfaceError)  # the connection was lost between two statements
def _(error: DBAPIError) -> ProblemDetails:
    happened = "Others changed the same things" if is_conflict(error) else "The database cannot be reached"
    return _unavailable(
        f"{happened}. Nothing was changed; please try again in a moment.", RETRY_AFTER_UNAVAILABLE_SECONDS
    )


@details_of.register
def _(_error: StoreUnavailableError) -> ProblemDetails:
    return _unavailable(
        "The server cannot reach the storage of its archives. Nothing was changed, and no quota was used. Please try "
        "again in a few minutes. If it still fails, tell the operators of this server.",
        RETRY_AFTER_STORE_SECONDS,
    )


@details_of.register(EditionFileError)
@details_of.register(UnknownEditionError)
def _(_error: Exception) -> ProblemDetails:
    """Describe the failure of reading a stored edition; one that somebody uploads is an invalid field instead."""
    return _unavailable(
        "This server cannot read the rules of this challenge. They need an extension of vocboard that it does not "
        "load, or another version. Nothing was changed. Please tell the operators of this server.",
        RETRY_AFTER_STORE_SECONDS,
    )


def _unavailable(detail: str, seconds: int) -> ProblemDetails:
    headers = {"Retry-After": str(seconds)}
    return ProblemDetails(503, "unavailable", "Temporarily unavailable", detail, headers=headers)


def wants_json(request: Request) -> bool:
    """Whether the response is for a program: API routes, and scripts that accept JSON."""
    accept = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or ("json" in accept and "text/html" not in accept)


async def render(request: Request, error: Exception, error_page: ErrorPage) -> Response:
    """Return an error as a response."""
    if isinstance(error.__cause__, ServiceError):  # the framework wraps exceptions raised while reading a body
        error = error.__cause__
    if isinstance(error, RequestValidationError):
        error = _of_request(error, request)
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # The framework names the methods of the first route at the path alone.
        routes = (route for route in request.app.routes if isinstance(route, Route))
        allowed = {
            method for route in routes if route.path_regex.match(request.url.path) for method in route.methods or ()
        }
        if allowed:  # not a static file
            error.headers = {"Allow": ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))}
    details = details_of(error)
    if request.url.path.startswith("/api/") and details.detail in _DETAILS.values():
        details = replace(details, detail=_OF_PROGRAMS[HTTPStatus(details.status)])
    note_refusal(request, [details.code])
    if wants_json(request):
        return _Json(details.as_json(), details.status, dict(details.headers))
    if isinstance(error, NotSignedInError):
        wanted = request.url.path if request.method == "GET" else "/"
        if request.method == "GET" and request.url.query:
            wanted += f"?{request.url.query}"
        return RedirectResponse(f"{SIGN_IN_PATH}?{urlencode({'next': wanted})}", 303)
    if isinstance(error, SecondFactorRequiredError):
        return RedirectResponse(SECOND_FACTOR_PATH, 303)
    if isinstance(error, ServerTermsNotAcceptedError):
        return RedirectResponse(TERMS_PATH, 303)
    return await error_page(request, details)


def _of_request(error: RequestValidationError, request: Request) -> Exception:
    """Return what a request that is not as its route declares gets; names the nearest known field of an unknown one."""
    problems = error.errors()
    if any(problem["loc"][0] == "path" for problem in problems):  # a malformed identifier
        return HTTPException(404)
    if any(problem["type"] == "json_invalid" for problem in problems):
        return MalformedJsonError("The body is not JSON.")
    body = getattr(getattr(request.scope.get("route"), "body_field", None), "field_info", None)
    known = list(getattr(getattr(body, "annotation", None), "model_fields", ()))
    fields = {}
    for problem in problems:
        *_, name = problem["loc"]
        message = problem["msg"]
        if problem["type"] == "extra_forbidden":
            message = no_such_field(str(name), known if len(problem["loc"]) == 2 else [])
        fields[".".join(str(part) for part in problem["loc"][1:] if part != "[key]") or "body"] = message
    return InvalidInputError(fields)


class ErrorResponses:
    """Middleware that renders unhandled exceptions, so that headers and logging are always applied."""

    def __init__(self, app: ASGIApp, *, error_page: ErrorPage) -> None:
        self._app = app
        self._error_page = error_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_noting_start(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, send_noting_start)
        except ClientDisconnect:
            _log.info("%s %s: the client disconnected", scope["method"], loggable(scope["path"]))
        except Exception as error:
            if isinstance(error, EditionFileError | UnknownEditionError):
                _log.error("%s %s: %s", scope["method"], loggable(scope["path"]), error)
            elif not isinstance(error, ServiceError):
                _log.exception("%s %s failed", scope["method"], loggable(scope["path"]))
            if started:
                raise
            response = await render(Request(scope, receive), error, self._error_page)
            await response(scope, receive, send)


def install(app: FastAPI, *, error_page: ErrorPage) -> None:
    """Install this module as the error handler of `app`."""

    async def handler(request: Request, error: Exception) -> Response:
        return await render(request, error, error_page)

    for kind in (ServiceError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, handler)
