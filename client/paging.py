"""Reading lists that the server splits into pages."""

from collections.abc import Iterator, Mapping

from vocboard.client.answers import understood
from vocboard.client.connection import Answer, Connection

PER_PAGE = 200  # the maximum that servers allow


def items(connection: Connection, where: str, parameters: Mapping[str, str] | None = None) -> Iterator[Answer]:
    """Yield the items of all pages of a list.

    Args:
        parameters: filters of the list.

    Raises:
        ClientError: see `client.errors`.
    """
    wanted: Mapping[str, str | int] | None = {**(parameters or {}), "per_page": PER_PAGE}
    while wanted is not None:
        answer, following = connection.get_page(where, wanted)
        found = understood(lambda page: list(page["items"]), answer)
        yield from found
        wanted = following if found else None
