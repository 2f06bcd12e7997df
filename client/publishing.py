"""Competitions to publish, in the API's format."""

from collections.abc import Sequence
from typing import Any


def publish_body(competitions: Sequence[str] | None, *, replace: bool = False) -> dict[str, Any]:
    """Return the body of a request to publish or unpublish.

    What is not asked for is left out, so that servers that do not know it answer as before.

    >>> publish_body(None), publish_body(["comp1"], replace=True)
    ({}, {'competitions': ['comp1'], 'replace': True})
    """
    body: dict[str, Any] = {} if competitions is None else {"competitions": list(competitions)}
    return {**body, "replace": True} if replace else body
