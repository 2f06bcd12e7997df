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


def _filter_in_utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("In UTC, this is not between the years 1 and 9999.") from None


FilterInstant = Annotated[datetime, AfterValidator(_filter_in_utc)]  # in a query; without a time zone in UTC
Instant = Annotated[datetime, AfterValidator(_in_utc)]
