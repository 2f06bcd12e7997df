"""Where the page finds the tree's pictures and segmentations: linked to, or copied out of an archive."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.viewing.scenes import Scenes

_PICTURES = (("JPEGImages", ".jpg"), ("PNGImages", ".png"))
_SEGMENTATIONS = "SegmentationClass"


@dataclass(frozen=True, slots=True)
class Places:
    """Where pictures and true segmentations are, from the page, and the images that have them."""

    pictures: str
    suffix: str
    segmentations: str
    shown: set[str]
    maps: set[str]

    def as_json(self, images: tuple[str, ...]) -> dict[str, Any]:
        """Return what the page reads: folders, and for each image whether it has a file there."""
        there = [int(image in self.shown) for image in images]
        maps = [int(image in self.maps) for image in images]
        return {
            "pictures": {"folder": self.pictures, "suffix": self.suffix, "there": there},
            "truthMaps": {"folder": self.segmentations, "there": maps},
        }


def find_pictures(tree: Path, edition: Edition, scenes: Scenes, directory: Path, output: Path) -> Places:
    """Return where pictures and true segmentations are, from the page; copy them if the tree is an archive."""
    if tree.is_dir():
        tops = (tree / edition.name, tree / "VOCdevkit" / edition.name, tree)
        top = next((each for each in tops if (each / "ImageSets").is_dir()), tree)
        base = Path(os.path.relpath(top.resolve(), output.resolve())).as_posix()
        folder, suffix = next((each for each in _PICTURES if (top / each[0]).is_dir()), _PICTURES[0])
        shown = {path.name.removesuffix(suffix) for path in _listing(top / folder)}
        maps = {path.name.removesuffix(".png") for path in _listing(top / _SEGMENTATIONS)}
        return Places(f"{base}/{folder}", suffix, f"{base}/{_SEGMENTATIONS}", shown, maps)
    wanted = set(scenes.images)
    shown, maps = set(), set()
    suffix = ".jpg"
    try:
        for member in members(tree, TREE_LIMITS, lambda _: None):
            *_, folder, file = ("", *member.name.split("/"))
            stem, dot, kind = file.rpartition(".")
            is_picture = (folder, dot + kind) in _PICTURES
            if stem in wanted and (is_picture or (folder, kind) == (_SEGMENTATIONS, "png")):
                (directory / folder).mkdir(exist_ok=True)
                (directory / folder / file).write_bytes(member.read())
                (shown if is_picture else maps).add(stem)
                suffix = dot + kind if is_picture else suffix
    except ArchiveError:
        pass  # it has been read once: only pictures can be damaged, and are then not shown
    folder = {kind: name for name, kind in _PICTURES}[suffix]
    return Places(folder, suffix, _SEGMENTATIONS, shown, maps)


def _listing(folder: Path) -> list["os.DirEntry[str]"]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return list(entries)
