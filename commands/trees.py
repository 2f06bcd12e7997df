"""What the commands share that take a development kit tree of one's own: its edition, and what is wrong with it."""

import argparse
from pathlib import Path

from vocboard.commands.offline import MisuseError, chosen_edition
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth.edition_of_tree import UnclearEditionError, edition_name_of_tree


def add_tree_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tree and its edition."""
    parser.add_argument("tree", metavar="TREE", type=Path, help="development kit tree: directory or archive")
    parser.add_argument(
        "--edition", help="edition, or edition file (.toml), of the tree (default: the one whose name its folder bears)"
    )


def edition_of(tree: Path, name: str | None) -> Edition:
    """Return the edition that is named, or else the one whose folder the tree has.

    Raises:
        MisuseError: there is no such edition, or the tree does not say which it is of.
        OSError: the tree cannot be read.
    """
    if name is not None:
        return chosen_edition(name)
    try:
        return chosen_edition(edition_name_of_tree(tree))
    except UnclearEditionError as error:
        raise MisuseError(f"{error}; name its edition with --edition") from error
