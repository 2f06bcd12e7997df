"""What several schemas use: the bases of requests and of what is read from objects, and types of values."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from vocboard.app.challenges.rules import with_bounds
from vocboard.app.forms import Instant

__all__ = [
    "ChallengeName",
    "CompetitionKey",
    "Count",
    "Fraction",
    "FromObject",
    "Given",
    "Imported",
    "ImportedScores",
    "Instant",
    "Sha256",
]

# Of responses: said, and not enforced, because an answer is better than none. Tests compare answers with it.
Count = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0})]
Sha256 = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})]
ChallengeName = Annotated[str, Field(description="Short name of the challenge, as in URLs.", examples=["voc2012"])]
CompetitionKey = Annotated[str, Field(description="Key of the competition.", examples=["comp3"])]
Fraction = Annotated[
    float | None, Field(description="A fraction, rounded to the challenge's decimals; null if undefined.")
]


class Given(BaseModel):
    """What a request has in its body; other fields than these are errors."""

    model_config = ConfigDict(extra="forbid")


class FromObject(BaseModel):
    """A schema whose `model_validate` also takes an object with attributes of the same names.

    Fields that are elsewhere in the object name the place by `validation_alias`.
    """

    model_config = ConfigDict(from_attributes=True, validate_by_name=True)

    @classmethod
    def of(cls, found: object, **given: Any) -> Self:
        """Return the fields that are given here, and all others with the object's values of the same names."""
        return cls(**{name: getattr(found, name) for name in cls.model_fields if name not in given}, **given)


def of_changes(schema: dict[str, Any]) -> None:
    """Complete the JSON schema of changes of rules."""
    with_bounds(schema)
    without_defaults(schema)


def without_defaults(schema: dict[str, Any]) -> None:
    """Remove the defaults from the JSON schema of changes, of which omitted fields are unchanged."""
    for field in schema["properties"].values():
        field.pop("default", None)


class ImportedScores(FromObject):
    """That scores came in an archive, which the server cannot verify."""

    at: Instant
    by: str = Field(description="Name of the organiser who imported it.")


Imported = Annotated[
    ImportedScores | None,
    Field(
        description="When and by whom scores were imported, if any of them have not been computed on this server; "
        "otherwise null."
    ),
]
