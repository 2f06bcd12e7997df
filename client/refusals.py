"""Error responses as exceptions: RFC 9457 problem details from the server, or any response of a proxy."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from vocboard.client.answers import problem, problem_group, understood
from vocboard.client.errors import (
    InvalidArchiveError,
    InvalidFieldsError,
    LimitedError,
    MisdirectedError,
    RefusedError,
    WarningsNotAcceptedError,
)
from vocboard.client.terminal import duration, instant, printable

WARNINGS_NOT_ACCEPTED = "warnings_not_accepted"


def refusal(answer: httpx.Response, address: str) -> RefusedError:
    """Return the exception for a response with a 4xx or 5xx status.

    Args:
        answer: the response, read completely.
        address: of the server, for the message.
    """
    details = _details(answer)
    status = answer.status_code
    code = _text(details, "code")
    detail = printable(_text(details, "detail") or _text(details, "title"))
    if status == 422:
        return _unprocessable(details, code, detail)
    if status == 429:
        return _limited(answer, details, code, detail)
    if status == 401:
        why = (detail or "Create a new one on the Account page").removesuffix(".")
        message = f"{address} does not accept the token: {why}. Then run `vocboard login {address}`"
        return RefusedError(message, status=status, code=code, detail=detail)
    if status in (403, 404, 405, 409, 410, 413, 415):
        message = {
            403: detail or "this token does not permit the request",
            404: detail or "not found on the server",
            413: detail or "the archive is larger than the server allows",
        }.get(status, detail or f"the server rejected the request (status {status})")
        return MisdirectedError(message, status=status, code=code, detail=detail)
    if status >= 500:
        message = f"{address} reported a server error (status {status}): {detail or 'try again later'}"
        if status == 507 and detail:  # its disk is full
            message = f"{address}: {detail}"
        return RefusedError(message, status=status, code=code, detail=detail)
    return RefusedError(
        detail or f"{address} rejected the request (status {status})", status=status, code=code, detail=detail
    )


def retry_after(answer: httpx.Response, now: datetime | None = None) -> float | None:
    """Return the seconds to wait according to the `Retry-After` header; None if it is missing or malformed.

    Source: RFC 9110, section 10.2.3: a number of seconds or a date.
    """
    value = answer.headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _unprocessable(details: Mapping[str, Any], code: str, detail: str) -> RefusedError:
    fields = details.get("fields")
    texts: dict[str, str] = {}
    if isinstance(fields, Mapping):
        texts = {printable(str(field)): printable(str(message)) for field, message in fields.items()}
    if details.get("problems"):
        problems = understood(lambda items: [problem(item) for item in items], details["problems"])
        groups = None  # from a server without groups
        if details.get("groups"):
            groups = understood(lambda items: [problem_group(item, problems) for item in items], details["groups"])
        message = detail or "the archive has problems"
        kind = WarningsNotAcceptedError if code == WARNINGS_NOT_ACCEPTED else InvalidArchiveError
        return kind(
            message,
            problems=problems,
            groups=groups,
            fields=texts,
            documentation=_documentation(details.get("groups")),
            code=code,
        )
    if texts:
        message = "; ".join(f"{field.replace('_', ' ')}: {text}" for field, text in texts.items())
        return InvalidFieldsError(message, fields=texts, code=code)
    return MisdirectedError(detail or "the server could not process the request", status=422, code=code)


def _documentation(groups: Any) -> str | None:
    """Return the path of the page that explains problems, without the code of one; None if the server has none."""
    for group in groups if isinstance(groups, list) else ():
        address = group.get("documentation") if isinstance(group, Mapping) else None
        if isinstance(address, str) and re.fullmatch(r"/[\w/-]+#\w+", address, re.ASCII):
            return address.partition("#")[0]
    return None


def _limited(answer: httpx.Response, details: Mapping[str, Any], code: str, detail: str) -> LimitedError:
    now = datetime.now(UTC)
    seconds = retry_after(answer, now)
    allowed_at: datetime | None
    try:
        allowed_at = datetime.fromisoformat(_text(details, "allowed_at"))
    except ValueError:
        allowed_at = None if seconds is None else now + timedelta(seconds=seconds)
    message = (detail or "too many requests").rstrip(".")
    if allowed_at is not None:
        if allowed_at.tzinfo is None:
            allowed_at = allowed_at.replace(tzinfo=UTC)
        if seconds is None:
            seconds = max(0.0, (allowed_at - now).total_seconds())
        left = duration(timedelta(seconds=seconds))
        message += f"; the next one is allowed at {instant(allowed_at)}, in {left}"
    return LimitedError(message, allowed_at=allowed_at, wait_seconds=seconds, code=code)


def _details(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        content = answer.json()
    except (ValueError, RecursionError):  # a proxy's page
        return {}
    return content if isinstance(content, Mapping) else {}


def _text(details: Mapping[str, Any], key: str) -> str:
    value = details.get(key)
    return value if isinstance(value, str) else ""
