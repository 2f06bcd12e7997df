"""Kinds of values that many answers have."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, Field


def _in_utc(value: datetime) -> datetime:
    return value.astimezone(UTC) if value.tzinfo else value  # one without zone is the service's to refuse


Instant = Annotated[datetime, AfterValidator(_in_utc)]
Fraction = Annotated[float | None, Field(description="Rounded to the challenge's decimals; null where undefined.")]
