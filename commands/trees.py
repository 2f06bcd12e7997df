"""Shared code of the commands that take a development kit tree: its arguments and its edition."""

import argparse
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.offline import chosen_edition
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth.edition_of_tree import UnclearEditionError, edition_name_of_tree


def add_tree_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the tree and its edition."""
    parser.add_argument("tree", metavar="TREE", type=Path, help="development kit tree: directory or archive")
    parser.add_argument(
        "--edition",
        help="edition of the tree, or edition file (.toml) (default: the edition that its folder is named after)",
    )


def edition_of(tree: Path, name: str | None) -> Edition:
    """Return the named edition, or else the one that the tree's folder is named after.

    Raises:
        MisuseError: there is no such edition, or it cannot be inferred from the tree.
        OSError: the tree cannot be read.
    """
    if name is not None:
        return chosen_edition(name)
    try:
        return chosen_edition(edition_name_of_tree(tree))
    except UnclearEditionError as error:
        raise MisuseError(f"{error}; name its edition with --edition") from error
