"""Types of values that several schemas use."""

from typing import Annotated

from pydantic import Field

from vocboard.app.forms.instants import Instant

__all__ = ["Fraction", "Instant"]

Fraction = Annotated[
    float | None, Field(description="A fraction, rounded to the challenge's decimals; null if undefined.")
]
