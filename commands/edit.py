"""`vocboard edit`: change what is said about a submission and its method."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from vocboard.client.answers import submission, understood
from vocboard.client.editing import FIELDS, changes_body
from vocboard.client.errors import MisuseError
from vocboard.client.paths import path
from vocboard.client.terminal import printable
from vocboard.commands import changing
from vocboard.commands.connecting import connect
from vocboard.commands.declarations import add_declaration_arguments
from vocboard.commands.names import submission_id
from vocboard.commands.reporting import DONE, print_json

STANDARD_INPUT = "-"
MULTILINE = ("description", "note")  # what standard input may give


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Change what is said about a submission and its method: the description, the people, the links, the "
        "declarations and your private note. Without options, show it. An empty text removes a value."
    )
    changing.configure(parser)
    parser.add_argument("--method", metavar="NAME", help="name of the method, for all of its versions")
    parser.add_argument(
        "--description", metavar="TEXT", help="description of the method; - reads it from standard input"
    )
    parser.add_argument("--contributors", metavar="NAMES", help="names of the authors")
    parser.add_argument("--affiliation", metavar="TEXT", help="affiliation of the authors")
    parser.add_argument("--paper-url", metavar="URL", help="link to the paper, for all versions of the method")
    parser.add_argument("--code-url", metavar="URL", help="link to the code, for all versions of the method")
    parser.add_argument(
        "--note", metavar="TEXT", help="private note, visible only to you and your team; - reads it from standard input"
    )
    parser.add_argument("--training-data", metavar="TEXT", help="what the method was trained on")
    add_declaration_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the changes, or show the current values if there are none."""
    changes = _changes(arguments)
    with connect(arguments.server) as connection:
        where = path("submissions", submission_id(connection, arguments.submission))
        answer = connection.patch(where, changes) if changes else connection.get(where)
    found = understood(submission, answer)
    if arguments.json:
        print_json(answer)
    elif changes:
        print(f"{printable(found.method)} ({printable(found.id)}) is changed.")
    else:
        print("\n".join(understood(lambda content: list(_lines(content, connection.address)), answer)))
    return DONE


def _changes(arguments: argparse.Namespace) -> dict[str, str]:
    given: Any = {name: getattr(arguments, name) for name in FIELDS}
    from_input = [name for name in MULTILINE if given[name] == STANDARD_INPUT]
    if len(from_input) > 1:
        raise MisuseError("only one of --description and --note can be read from standard input")
    for name in from_input:
        given[name] = sys.stdin.read().rstrip("\n")
    return changes_body(**given, declarations=dict(arguments.declare))


def _lines(answer: Mapping[str, Any], server: str) -> Iterator[str]:
    """Yield one line for each value; further lines of a text are indented like the first.

    Args:
        server: its address, for that of the method's page.
    """
    method = answer["method"]
    values = {
        "Method": method["name"],
        "Page": changing.method_page(answer, server),
        "Description": method["description"],
        "Contributors": method["contributors"],
        "Affiliation": method["affiliation"],
        "Paper": method["paper_url"],
        "Code": method["code_url"],
        "Training data": method["training_data"],
        "Annotation": method["training_annotation"],
        "flickr images": method["flickr_images"],
        **{name: value for name, value in method["declarations"].items() if name not in FIELDS},
        "Private note": answer["note"],
    }
    for label, value in values.items():
        first, *others = ("" if value is None else str(value)).split("\n")
        yield f"{label + ':':<17}{printable(first)}".rstrip()
        for line in others:
            yield f"{'':<17}{printable(line)}".rstrip()
