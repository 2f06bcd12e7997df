"""Actions on edition files."""

import argparse
import sys
from pathlib import Path

from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.commands.admin.actions import Actions
from vocboard.commands.tables import Column, render
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, EditionFileError
from vocboard.evaluator.editions.column_names import reserved_name


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser("check-edition", help="check an edition file, and show its competitions")
    action.add_argument("file", type=Path, metavar="FILE", help="see docs/editions/own.md")
    action.set_defaults(do=check_edition)


def check_edition(arguments: argparse.Namespace, _database: Database, _settings: Settings) -> int:
    """Print a file's competitions, or all its errors with their lines."""
    try:
        edition = editions.read(arguments.file)
    except OSError as error:
        print(f"vocboard admin: {arguments.file}: {error.strerror}", file=sys.stderr)
        return 1
    except EditionFileError as error:
        print(error, file=sys.stderr)
        return 1
    if wrong := reserved_name(edition):
        print(f"{arguments.file}: {wrong}", file=sys.stderr)
        return 1
    print(summary(edition))
    return 0


def summary(edition: Edition) -> str:
    """Return an edition's classes, and a table of its competitions."""
    competitions = list(edition.competitions.values())
    table = render(
        [
            Column("competition", [item.key for item in competitions]),
            Column("task", [item.task for item in competitions]),
            Column("trained on", [item.training for item in competitions]),
            Column("metric", [item.rules.metric for item in competitions]),
            Column("result file", [item.result_file for item in competitions]),
            Column("entrants declare", [", ".join(item.declarations) or "nothing" for item in competitions]),
        ]
    )
    return f"{edition.name}: {edition.title}\n{len(edition.classes)} classes: {', '.join(edition.classes)}\n\n{table}"
