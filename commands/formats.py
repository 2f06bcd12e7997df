"""The options by which commands print tables for people, or JSON, CSV and LaTeX."""

import argparse

TABLE = "table"


def add_format_arguments(parser: argparse.ArgumentParser, *formats: str) -> None:
    """Add --format, and an option for each format, such as --json; `arguments.format` has the choice.

    Args:
        parser: the command's parser.
        formats: besides the table: `json`, `csv`, `latex`.
    """
    choices = (TABLE, *formats)
    parser.add_argument("--format", choices=choices, default=TABLE, help="what to print (default: table)")
    for name in formats:
        same = f"the same as --format {name}"
        parser.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=same)
