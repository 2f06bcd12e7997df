"""What is noted with a request: the address of its client, and why it was refused, for the log."""

from collections.abc import Iterable

from starlette.requests import HTTPConnection, Request


def client_address(connection: HTTPConnection) -> str:
    """Return the client's address for rate limits; `Forwarded` has already resolved the proxy."""
    return connection.client.host if connection.client else "unknown"


REFUSED = "refused"  # key of the request's state: codes of what was wrong with it


def note_refusal(request: Request, codes: Iterable[str]) -> None:
    """Note why a request was refused, for its line; the first reason counts. Codes alone: messages quote uploads."""
    state = request.scope.setdefault("state", {})
    state.setdefault(REFUSED, ",".join(sorted(set(codes))))
