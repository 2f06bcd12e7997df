"""`vocboard check-edition`: check an edition file as a server does."""

import argparse
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.reporting import DONE, PROBLEMS, print_json
from vocboard.evaluator import editions
from vocboard.evaluator.editions import EditionFileError
from vocboard.evaluator.editions.column_names import reserved_name


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Check an edition file (docs/editions/own.md), and list all that is wrong with it. Exit status: 0 valid, "
        "1 errors found, 2 usage error."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="edition file, in TOML")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Read the file, and print its errors, or what it defines."""
    found: list[dict[str, str | int | None]] = []
    lines: list[str] = []
    try:
        edition = editions.read(arguments.file)
    except EditionFileError as error:
        found = [{"line": each.line, "message": each.message} for each in error.mistakes]
        lines = [str(error)]
    except OSError as error:
        raise MisuseError(f"{arguments.file}: {error.strerror}") from error
    else:
        if wrong := reserved_name(edition):
            found = [{"line": None, "message": wrong}]
            lines = [f"{arguments.file.name}: {wrong}"]
        else:
            held = ", ".join(edition.competitions)
            lines = [f"Valid: {edition.name}, {edition.title}. Classes: {len(edition.classes)}. Competitions: {held}."]
    if arguments.json:
        print_json({"valid": not found, "errors": found})
    else:
        print("\n".join(lines))
    return PROBLEMS if found else DONE
