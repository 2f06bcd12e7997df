"""The client of a request."""

from starlette.requests import HTTPConnection


def client_address(connection: HTTPConnection) -> str:
    """Return the client's address for rate limits; `Forwarded` has already resolved the proxy."""
    return connection.client.host if connection.client else "unknown"
