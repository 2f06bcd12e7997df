"""The client of a request."""

from starlette.requests import HTTPConnection


def client_address(connection: HTTPConnection) -> str:
    """The address that limits count by; behind a proxy the server has already put in the real one."""
    return connection.client.host if connection.client else "unknown"
