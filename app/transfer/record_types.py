"""The types of an export's records: each has a bound, and texts have only characters that can be seen."""

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from vocboard.app.challenges.rules import EARLIEST, LATEST
from vocboard.app.database import Base
from vocboard.app.forms import MAX_LINK_LENGTH, character_error, cleaned, is_address
from vocboard.evaluator.declarations import BUILT_IN


def _visible(text: str) -> str:
    if message := character_error(text, allowed="\n\t"):
        raise ValueError(message)
    return text


def _link(text: str) -> str:
    if text and not is_address(text):
        raise ValueError("Give an http(s) address.")
    return _visible(text)


def _possible(instant: datetime) -> datetime:
    if not EARLIEST <= instant <= LATEST:
        raise ValueError(f"Give a time between {EARLIEST.year} and {LATEST.year}.")
    return instant


Visible: TypeAlias = Annotated[str, AfterValidator(_visible)]
FileName: TypeAlias = Annotated[str, AfterValidator(cleaned)]  # in an upload, where it may have other characters
Link: TypeAlias = Annotated[str, Field(max_length=MAX_LINK_LENGTH), AfterValidator(_link)]
Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(_possible)]
Hash: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# Numbers are numbers: neither texts nor Booleans, and whole ones have no fraction.
Score: TypeAlias = Annotated[float, Field(strict=True, ge=-1.0, le=1.0, allow_inf_nan=False)]  # a fraction
Share: TypeAlias = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]
Seconds: TypeAlias = Annotated[float, Field(strict=True, ge=0.0, le=10.0**9, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
Number: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]  # of a ground truth version
Key: TypeAlias = Annotated[str, Field(max_length=30, pattern=r"^[\w.-]+$")]
PhaseKey: TypeAlias = Annotated[str, Field(max_length=30, pattern=r"^[a-z0-9-]+$")]
Name: TypeAlias = Annotated[Visible, Field(max_length=200)]
MethodName: TypeAlias = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_visible)]
ClassName: TypeAlias = Annotated[Visible, Field(max_length=60)]
FieldName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_Declared: TypeAlias = (
    Annotated[Visible, Field(max_length=20_000)] | Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
)
Declarations: TypeAlias = Annotated[dict[FieldName, _Declared], Field(max_length=100)]  # by name


class Record(BaseModel):
    """Base class of all records."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def same_fields(record: type[Record], row: Base) -> dict[str, Any]:
    """Return the fields of a record that are columns of a row, under the same names."""
    return {name: getattr(row, name) for name in record.model_fields if name in row.__table__.columns}


class DeclaringRecord(Record):
    """A record with the declarations about a method; see `app.submissions.models.Declared`."""

    declarations: Declarations
    flickr_count: Count

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_format(cls, found: Any) -> Any:
        """Up to format 4, each declaration was a field, empty or null if it was not made."""
        if not isinstance(found, dict) or "declarations" in found:
            return found
        declared = {name: found[name] for name in BUILT_IN if found.get(name)}
        return {"declarations": declared, **{name: value for name, value in found.items() if name not in BUILT_IN}}
