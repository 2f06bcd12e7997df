"""The JSON Schema of exported challenges, for programs that read them."""

from typing import Any, Literal

from pydantic.json_schema import models_json_schema

from vocboard.app.transfer import records
from vocboard.app.transfer.record_types import Record
from vocboard.evaluator.editions.json_schema import DIALECT

_MODE: Literal["validation"] = "validation"  # what imports accept
_REFERENCE = "#/$defs/{model}"


def export_json_schema() -> dict[str, Any]:
    """Return the schema of an archive as one object with a property for each file."""
    records_of_all: tuple[type[Record], ...] = (records.Header, *records.LINES.values())
    references, definitions = models_json_schema([(each, _MODE) for each in records_of_all], ref_template=_REFERENCE)
    properties = {name: {"type": "array", "items": references[kind, _MODE]} for name, kind in records.LINES.items()}
    return {
        "$schema": DIALECT,
        "title": f"Exported challenge, format {records.FORMAT}",
        "description": "The files of records in the archive; in those that end in .jsonl, each line is an item.",
        "type": "object",
        "properties": {records.HEADER: references[records.Header, _MODE], **properties},
        "required": [records.HEADER],
        **definitions,
    }
