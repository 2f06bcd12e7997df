"""Refuses bodies that a route would take as something else than was sent, such as "1" as a number, or not at all."""

from collections.abc import Iterator
from email.message import Message
from typing import Any

from fastapi import Request

from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.web.csrf import SAFE_METHODS

# JSON types of Python values; numbers of both kinds are one type.
_TYPES = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}


class NotJsonError(ServiceError):
    """The body is not said to be JSON."""

    status, code, title = 415, "unsupported_media_type", "Not JSON"


async def refuse_other_bodies(request: Request) -> None:
    """Check the body of a request, unless its route reads it while it arrives.

    The route itself refuses values that it cannot take and fields that it does not have.

    Raises:
        NotJsonError: the body has another media type.
        InvalidInputError: values have other types than the fields, or the route takes no body.
    """
    route = request.scope["route"]
    if request.method in SAFE_METHODS or "requestBody" in (route.openapi_extra or {}):
        return
    body = await request.body()
    if route.body_field is None:
        if body.strip() not in {b"", b"{}"}:
            raise InvalidInputError({"body": "This request takes no body."})
        return
    if not body:
        return
    if not _is_json(request.headers.get("content-type", "")):
        raise NotJsonError("Send JSON, with the header Content-Type: application/json.")
    sent = await request.json()
    if sent is None:  # a route whose body can be left out would accept it
        raise InvalidInputError({"body": "Send an object instead of null."})
    taken, errors = route.body_field.validate(sent)
    if not errors:
        others = dict(_of_other_type(sent, route.body_field.serialize(taken)))
        if others:
            raise InvalidInputError(others)


def _is_json(content_type: str) -> bool:
    """Whether a media type is JSON.

    >>> [_is_json(given) for given in ("application/json; charset=utf-8", "application/a+json", "text/plain", "")]
    [True, True, False, False]
    """
    message = Message()
    message["Content-Type"] = content_type
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))


def _of_other_type(sent: Any, taken: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places of values that were taken as another JSON type, each with a message.

    >>> list(_of_other_type({"count": "1", "step": 1}, {"count": 1, "step": 1.0}))
    [('count', 'Send a number instead of a string.')]
    >>> list(_of_other_type({"dates": [5], "until": None}, {"dates": ["2026"], "until": None}))
    [('dates.0', 'Send a string instead of a number.')]
    """
    if isinstance(sent, dict) and isinstance(taken, dict):
        for name in sent.keys() & taken.keys():
            yield from _of_other_type(sent[name], taken[name], f"{place}.{name}" if place else name)
    elif isinstance(sent, list) and isinstance(taken, list):
        for number, (one, other) in enumerate(zip(sent, taken, strict=False)):
            yield from _of_other_type(one, other, f"{place}.{number}" if place else str(number))
    elif sent is not None and taken is not None and _TYPES.get(type(sent)) != _TYPES.get(type(taken)):
        yield place or "body", f"Send {_TYPES[type(taken)]} instead of {_TYPES[type(sent)]}."
