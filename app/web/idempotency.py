"""Idempotency keys: a POST to the API that is repeated with its key gets its first answer, and nothing is done again.

A key is claimed before the handler begins, in a transaction of its own, so of two requests at once one is served. The
answer of a request that has succeeded is kept for a day; after an error, the key is free again. If the server stops
before it has kept the answer, nobody knows whether the request was served: the key stays claimed.

An answer can have a secret that is shown once, such as the link of an invitation, and a request a password. The answer
and the hash of the request are kept encrypted, with a key that is made of the server's secret and of the idempotency
key, of which the database has a hash alone: only who knows the idempotency key can read them, from this server.

Uploads of results have their keys in `app.submissions.idempotency`, in the transaction that accepts them.

Source: IETF draft "The Idempotency-Key HTTP Header Field", version 07.
"""

import base64
import hashlib
import json
import logging
import re
import uuid
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Header
from fastapi.routing import APIRoute
from nacl.exceptions import CryptoError
from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.accounts.models import KeptAnswer, User
from vocboard.app.accounts.secret_tokens import box
from vocboard.app.accounts.viewer import Identity
from vocboard.app.database import Database, insert_into, now
from vocboard.app.errors import BusyError, InvalidInputError, ServiceError
from vocboard.app.intake.body_limit import raise_limit
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.multipart import FIELDS_LIMIT_BYTES
from vocboard.app.intake.receiving import upload_in_progress
from vocboard.app.submissions.idempotency import KEPT_FOR, MAX_KEY_LENGTH
from vocboard.app.web.dependencies import services_of

HEADER, REPLAYED = "Idempotency-Key", "Idempotent-Replayed"
KEY_PATTERN = "^[!-~]+$"
KEPT_PER_PERSON = 1000  # the oldest are forgotten first
_STATE = "idempotency"
_BOUNDARY = re.compile(r'boundary="?([^";,]+)', re.IGNORECASE)  # another one in each request
_NEVER_KEPT = frozenset({"set-cookie", "content-length", "x-request-id"})

_log = logging.getLogger(__name__)


class KeyInUseError(BusyError):
    """A request with the key has not been answered yet."""

    status, code, title = 409, "idempotency_key_in_use", "The same request is in progress"

    def __init__(self) -> None:
        super().__init__(
            "A request with this idempotency key is in progress. Repeat it in a moment. If this lasts for minutes, the "
            "server was stopped while it served the request: look whether it was done, and use a new key.",
            retry_after=1,
        )


class OtherRequestError(ServiceError):
    """The key was used for another request."""

    status, code, title = 422, "idempotency_key_reused", "The idempotency key was used before"

    def __init__(self) -> None:
        super().__init__("This idempotency key was used for another request. Nothing was done now. Use a new key.")


class _Replayed(Exception):  # noqa: N818  # no error: ends the request before its handler
    def __init__(self, response: Response) -> None:
        self.response = response


class _Exchange:
    """A request with a key, and the answer to it.

    Attributes:
        claimed_by: whose key it is, once it is claimed for this request.
        given: what counts of the request beside target and body: the scopes of its token, and headers.
    """

    def __init__(self, scope: Scope, key: str, server_key: str) -> None:
        self.key, self.server_key = key, server_key
        self.claimed_by: uuid.UUID | None = None
        self.given: list[Any] = []
        self._digest = hashlib.sha256()
        boundary = _BOUNDARY.search(Headers(scope=scope).get("content-type", ""))
        self._boundary, self._rest = (boundary[1].encode() if boundary else b""), b""
        self._target = [scope["method"], scope["path"], scope["query_string"].decode("latin-1")]

    def received(self, piece: bytes) -> None:
        """Add to the body: its boundaries do not count, which may be spread over two pieces."""
        if not self._boundary:
            self._digest.update(piece)
            return
        piece = (self._rest + piece).replace(self._boundary, b"")
        keep = len(self._boundary) - 1
        cut = max(len(piece) - keep, 0)
        self._digest.update(piece[:cut])
        self._rest = piece[cut:]

    @property
    def sha256(self) -> str:
        """Of what is requested; the body has been read."""
        body = self._digest.copy()
        body.update(self._rest)
        return hashlib.sha256(json.dumps([*self._target, *self.given, body.hexdigest()]).encode()).hexdigest()

    @property
    def key_sha256(self) -> bytes:
        return hashlib.sha256(self.key.encode()).digest()

    def keep(self, start: Message, body: bytes, database: Database) -> None:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
        kept = [(name, value) for name, value in headers if name.lower() not in _NEVER_KEPT]
        content = [self.sha256, start["status"], kept, base64.b64encode(body).decode()]
        sealed = bytes(box(self.key, server_key=self.server_key).encrypt(json.dumps(content).encode()))
        try:
            with database.writing() as session:
                session.execute(update(KeptAnswer).where(*self._row()).values(answer=sealed))
        except SQLAlchemyError:
            _log.exception("the answer to a request with an idempotency key could not be kept")

    def give_back(self, database: Database) -> None:
        with database.writing() as session:
            session.execute(delete(KeptAnswer).where(*self._row()))

    def _row(self) -> tuple[ColumnElement[bool], ...]:
        return KeptAnswer.user_id == self.claimed_by, KeptAnswer.key_sha256 == self.key_sha256

    def opened(self, sealed: bytes) -> Response:
        """Return the answer, if it is to this request.

        Raises:
            OtherRequestError: it is to another one.
            CryptoError: the server's secret has changed.
        """
        sha256, status, headers, body = json.loads(box(self.key, server_key=self.server_key).decrypt(sealed))
        if sha256 != self.sha256:
            raise OtherRequestError
        response = Response(base64.b64decode(body), status)
        for name, value in [*headers, (REPLAYED, "true")]:
            response.headers[name] = value
        return response


def takes_key(route: Any) -> bool:
    """Whether the key of a request to a route is for this module: it may be a stream, or know keys itself."""
    if not isinstance(route, APIRoute) or "POST" not in (route.methods or ()):
        return False
    response_class = getattr(route.response_class, "value", route.response_class)
    knows_keys = any(field.alias == HEADER for field in get_flat_params(route.dependant))
    return not knows_keys and not (isinstance(response_class, type) and issubclass(response_class, StreamingResponse))


async def serve_once(request: Request, identity: Identity) -> None:
    """Claim the key of a request to the API, or end it with the answer that is kept.

    Raises:
        InvalidInputError: the key is too long, or has characters that are not allowed.
        KeyInUseError: another request with the key is in progress.
        OtherRequestError: the key was used for another request.
    """
    exchange: _Exchange | None = request.scope["state"].get(_STATE)
    route = request.scope["route"]
    if exchange is None or identity.user is None or not takes_key(route):
        return
    if len(exchange.key) > MAX_KEY_LENGTH or not re.fullmatch(KEY_PATTERN, exchange.key):
        raise InvalidInputError({HEADER: f"Send 1 to {MAX_KEY_LENGTH} characters of ASCII, without spaces."})
    user, database = identity.user, services_of(request).database
    headers = [field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, Header)]
    exchange.given = [sorted(identity.scopes), {name: request.headers.get(name) for name in headers}]

    def claim() -> KeptAnswer | None:
        with database.writing() as session:
            return _claimed(session, user.id, exchange.key_sha256)

    kept = await to_thread.run_sync(claim)
    if kept is None:
        exchange.claimed_by = user.id
        return
    if kept.answer is None:
        raise KeyInUseError
    await _read_body(request, user)
    try:
        answer = exchange.opened(kept.answer)
    except CryptoError:  # something was done, but nobody can read the answer any more
        raise OtherRequestError from None
    raise _Replayed(answer)


async def _read_body(request: Request, user: User) -> None:
    """Let the middleware see all of a body that a handler would read while it arrives."""
    services = services_of(request)
    if "requestBody" not in (request.scope["route"].openapi_extra or {}):
        await request.body()
        return
    async with upload_in_progress(
        request, user=user, kind=UploadKind.GROUND_TRUTH, database=services.database, settings=services.settings
    ) as upload:
        raise_limit(request, file=services.settings.ground_truth_limit_bytes, fields=FIELDS_LIMIT_BYTES)
        async with upload.pace.enforced():
            async for _ in upload.pace.stream(request.stream()):
                pass


class IdempotentRequests:
    """Middleware that keeps the answers of requests whose keys `serve_once` has claimed."""

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_post = scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(self._path)
        key = Headers(scope=scope).get(HEADER) if is_post else None
        if key is None:
            await self._app(scope, receive, send)
            return
        services = services_of(HTTPConnection(scope))
        exchange = _Exchange(scope, key, services.settings.secret_key.get_secret_value())
        scope.setdefault("state", {})[_STATE] = exchange
        start: Message = {}
        body = b""
        is_settled = False

        async def receive_hashing() -> Message:
            message = await receive()
            exchange.received(message.get("body", b""))
            return message

        async def settle(how: Callable[[Database], None]) -> None:
            """Keep the answer or give the key back, once: before the client has the answer and may repeat the request.

            What has been done is not done again if its answer cannot be kept.
            """
            nonlocal is_settled
            is_settled = True
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(how, services.database)

        async def send_when_settled(message: Message) -> None:
            nonlocal start, body
            if exchange.claimed_by is None or is_settled:
                await send(message)
            elif message["type"] == "http.response.start":
                start = message
                if not 200 <= message["status"] < 300:
                    await settle(exchange.give_back)
                    await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    await settle(partial(exchange.keep, start, body))
                    await send(start)
                    await send({"type": "http.response.body", "body": body})

        try:
            await self._app(scope, receive_hashing, send_when_settled)
        except _Replayed as found:
            await found.response(scope, receive, send)
        finally:
            if exchange.claimed_by is not None and not is_settled:
                await settle(exchange.give_back)


def _claimed(session: Session, user_id: uuid.UUID, key_sha256: bytes) -> KeptAnswer | None:
    """Claim a key; if that was done before, return what is known of it.

    Raises:
        KeyInUseError: the request that had claimed it has failed in this moment.
    """
    is_own = KeptAnswer.user_id == user_id
    session.execute(delete(KeptAnswer).where(is_own, KeptAnswer.created_at <= _oldest()))
    new = {"user_id": user_id, "key_sha256": key_sha256, "created_at": now()}
    adding = insert_into(session, KeptAnswer).values(new).on_conflict_do_nothing().returning(KeptAnswer.key_sha256)
    if session.scalar(adding) is None:
        kept = session.get(KeptAnswer, (user_id, key_sha256))
        if kept is None:  # given back between the two statements, on PostgreSQL
            raise KeyInUseError
        return kept
    newest = select(KeptAnswer.created_at).where(is_own).order_by(KeptAnswer.created_at.desc())
    surplus = newest.offset(KEPT_PER_PERSON).limit(1).scalar_subquery()
    session.execute(delete(KeptAnswer).where(is_own, KeptAnswer.created_at <= surplus))
    return None


def _oldest() -> datetime:
    return now() - KEPT_FOR
