"""Infers the edition of a development kit tree from the name of its folder."""

from pathlib import Path

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import names

_LOOKED_AT = 1_000  # members of an archive to inspect: every name starts with the folder


class UnclearEditionError(ValueError):
    """A tree does not say of which one edition it is; the message says what it has instead."""


def edition_name_of_tree(tree: Path) -> str:
    """Return the name of the one edition that a tree has a folder of.

    Raises:
        UnclearEditionError: it has none, or several.
        OSError: the tree cannot be read.
    """
    found = editions_of_tree(tree)
    if len(found) == 1:
        return found[0]
    if found:
        raise UnclearEditionError(f"{tree} has {', '.join(found)}")
    raise UnclearEditionError(f"{tree} has no folder of an edition ({', '.join(names())}) with ImageSets/ in it")


def editions_of_tree(tree: Path) -> tuple[str, ...]:
    """Return the editions for which a tree has a folder, in order; several for trees with several years.

    Args:
        tree: directory or archive. The folder `VOC<year>/` is at the top, below `VOCdevkit/`, or is the tree itself.

    Raises:
        OSError: the tree cannot be read.
    """
    if tree.is_dir():
        found = {
            name
            for name in names()
            for place in (tree / name, tree / "VOCdevkit" / name)
            if (place / "ImageSets").is_dir()
        }
        own = tree.resolve().name
        if not found and own in names() and (tree / "ImageSets").is_dir():
            found = {own}
    else:
        found = _in_archive(tree)
    return tuple(name for name in names() if name in found)


def _in_archive(tree: Path) -> set[str]:
    found: set[str] = set()
    try:
        for number, member in enumerate(members(tree, TREE_LIMITS, lambda _: None)):
            parts = member.name.split("/")
            found.update(parts[:1] if parts[0] != "VOCdevkit" else parts[1:2])
            if number > _LOOKED_AT:
                break
    except ArchiveError:
        return set()
    return found & set(names())
