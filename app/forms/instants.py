"""Parses times in forms and requests, and converts them to UTC."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        return value  # the service rejects it, with the field's name
    try:
        return value.astimezone(UTC)
    except OverflowError:  # the service rejects dates far from now
        return value.replace(tzinfo=UTC)


Instant = Annotated[datetime, AfterValidator(_in_utc)]
