"""Reading lists that the server splits into pages."""

from collections.abc import Iterator, Mapping
from typing import Any

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
    page, seen = 1, 0
    while True:
        answer = connection.get(where, {**(parameters or {}), "page": page, "per_page": PER_PAGE})
        found, total = understood(_page, answer)
        yield from found
        seen, page = seen + len(found), page + 1
        if not found or seen >= total:
            return


def _page(answer: Mapping[str, Any]) -> tuple[list[Any], int]:
    return list(answer["items"]), int(answer["total"])
