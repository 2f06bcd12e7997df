"""`vocboard schema`: print a JSON Schema."""

import argparse
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from vocboard.commands.reporting import DONE, print_json
from vocboard.evaluator.editions.json_schema import DIALECT, edition_json_schema
from vocboard.evaluator.problem_catalogue import CATALOGUE
from vocboard.evaluator.problems import Problem, Severity

_TYPES = {str: "string", int: "integer", type(None): "null"}


def problem_json_schema() -> dict[str, Any]:
    """Return the schema of a problem in the output of `vocboard validate --json` and in answers of the REST API."""
    properties: dict[str, Any] = {
        each.name: {"type": [_TYPES[of] for of in getattr(each.type, "__args__", (each.type,)) if of in _TYPES]}
        for each in fields(Problem)
    }
    properties["code"] = {"oneOf": [{"const": code, "title": kind.title} for code, kind in CATALOGUE.items()]}
    properties["severity"] = {"enum": [each.value for each in Severity]}
    return {
        "$schema": DIALECT,
        "title": "Problem of an upload",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def export_json_schema() -> dict[str, Any]:
    """Return the schema of exported challenges.

    Raises:
        ModuleNotFoundError: this is a participant's installation, and exports are the server's.
    """
    if find_spec("vocboard.app") is None:
        raise ModuleNotFoundError(name="vocboard_server")
    schema: dict[str, Any] = import_module("vocboard.app.transfer.json_schema").export_json_schema()
    return schema


SCHEMAS = {"edition": edition_json_schema, "problem": problem_json_schema, "export": export_json_schema}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Print the JSON Schema of edition files, of a problem that validate and servers report, or of exported "
        "challenges, which needs the server's packages."
    )
    parser.add_argument("of", choices=SCHEMAS, help="what the schema is of")


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    print_json(SCHEMAS[arguments.of]())
    return DONE
