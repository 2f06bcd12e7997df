"""Instants that people and programs give: in UTC once read."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        return value  # the service refuses it, with the field's name
    try:
        return value.astimezone(UTC)
    except OverflowError:  # the service refuses dates long before such years
        return value.replace(tzinfo=UTC)


Instant = Annotated[datetime, AfterValidator(_in_utc)]
