"""Types of values that several schemas use."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.forms import Instant

__all__ = ["Fraction", "Imported", "ImportedScores", "Instant"]

Fraction = Annotated[
    float | None, Field(description="A fraction, rounded to the challenge's decimals; null if undefined.")
]


class ImportedScores(BaseModel):
    """That scores came in an archive, which the server cannot verify."""

    model_config = ConfigDict(from_attributes=True)

    at: Instant
    by: str = Field(description="Name of the organiser who imported it.")


Imported = Annotated[
    ImportedScores | None,
    Field(
        description="When and by whom scores were imported, if any of them have not been computed on this server; "
        "otherwise null."
    ),
]
