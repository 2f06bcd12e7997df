"""Lists the image sets of a development kit tree, for error messages."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth.tree import folder_of, path_in_folder
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.tasks.definitions import TASKS

_LISTS = re.compile(r"ImageSets/(?:(?P<folder>[A-Za-z]+)/)?(?P<name>[^/]+)\.txt$")


def available_image_sets(tree: Path, edition: Edition) -> Mapping[str, tuple[str, ...]]:
    """Return the sorted names of the image sets by folder of `ImageSets/` (`""` without folders).

    Lists of single classes and actions (`car_val.txt`) are skipped.

    Args:
        tree: directory or archive; a damaged archive is read as far as possible.
        edition: defines the folder, and the classes whose lists are skipped.
    """
    found: dict[str, set[str]] = {}
    for path in _paths(tree, edition):
        match = _LISTS.match(path)
        if match:
            found.setdefault(match["folder"] or "", set()).add(match["name"])
    with_lists = [definition.needed_names or "classes" for definition in TASKS.values() if definition.has_class_lists]
    per_class = tuple(f"{name}_" for key in with_lists for name in getattr(edition, key))
    return {
        folder: tuple(sorted(name for name in names if not _is_of_one_class(name, names, per_class)))
        for folder, names in sorted(found.items())
    }


def describe_image_sets(available: Mapping[str, tuple[str, ...]]) -> str:
    """Say in words which image sets there are.

    >>> describe_image_sets({"Main": ("train", "val")})
    'it has train, val (Main)'
    """
    if not available:
        return "it has no image sets at all"
    return "it has " + "; ".join(
        ", ".join(names) + (f" ({folder})" if folder else "") for folder, names in available.items()
    )


def _is_of_one_class(name: str, names: Collection[str], per_class: tuple[str, ...]) -> bool:
    """Whether a list is `<class>_<set>`, including VOC2011's `other_val`, although no competition has that action."""
    return name.startswith(per_class) or name.partition("_")[2] in names


def _paths(tree: Path, edition: Edition) -> Iterator[str]:
    if tree.is_dir():
        top = folder_of(tree, edition.name)
        yield from (path.relative_to(top).as_posix() for path in (top / "ImageSets").rglob("*.txt"))
        return
    try:
        yield from (path_in_folder(member.name, edition.name) for member in members(tree, TREE_LIMITS, _ignore))
    except ArchiveError:
        return


def _ignore(_: Problem) -> None:
    """Ignore problems of the archive, which are reported when it is read."""
