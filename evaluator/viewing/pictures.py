"""Finds the tree's images and segmentations for the page, or copies them from an archive."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth.tree import folder_of, path_in_folder
from vocboard.evaluator.viewing.scenes import Scenes

_PICTURES = (("JPEGImages", ".jpg"), ("PNGImages", ".png"))
_SEGMENTATIONS = ("SegmentationClass", "SegmentationObject")


@dataclass(frozen=True, slots=True)
class Places:
    """Addresses of images and true segmentations relative to the page, and which images have them.

    Attributes:
        base: address of the tree's folder relative to the page, ending in `/`; empty for the page's own folder.
        pictures: folder of the image files.
        suffix: suffix of the image files.
        shown: images with an image file.
        maps: images with a segmentation, by folder.
    """

    base: str
    pictures: str
    suffix: str
    shown: set[str]
    maps: Mapping[str, set[str]]

    def picture(self, image: str) -> str | None:
        """Return the address of an image relative to the page; None if it has no file."""
        return self.base + quote(f"{self.pictures}/{image}{self.suffix}") if image in self.shown else None

    def as_json(self, images: tuple[str, ...]) -> dict[str, Any]:
        """Return the data for the page: folders, and whether each image has a file there."""

        def there(found: set[str]) -> list[int]:
            return [int(image in found) for image in images]

        return {
            "pictures": {"folder": self.base + self.pictures, "suffix": self.suffix, "there": there(self.shown)},
            "truthMaps": {
                folder: {"folder": self.base + folder, "there": there(found)}
                for folder, found in self.maps.items()
                if found
            },
        }


def find_pictures(tree: Path, edition: Edition, scenes: Scenes, directory: Path, output: Path) -> Places:
    """Find images and true segmentations; copy them if the tree is an archive.

    Args:
        tree: directory or archive.
        edition: edition of the tree.
        scenes: images of the page.
        directory: directory to copy into.
        output: final path of the page.
    """
    if not tree.is_dir():
        return _copied(tree, edition, set(scenes.images), directory)
    top = folder_of(tree, edition.name)
    try:
        base = quote(Path(os.path.relpath(top.resolve(), output.resolve())).as_posix())
    except ValueError:  # they are on two drives of Windows
        base = top.resolve().as_uri()
    folder, suffix = next((each for each in _PICTURES if (top / each[0]).is_dir()), _PICTURES[0])
    maps = {name: _stems(top / name, ".png") for name in _SEGMENTATIONS}
    return Places(f"{base}/", folder, suffix, _stems(top / folder, suffix), maps)


def _copied(tree: Path, edition: Edition, wanted: set[str], directory: Path) -> Places:
    pictures = _PICTURES[0]
    shown: set[str] = set()
    maps: dict[str, set[str]] = {name: set() for name in _SEGMENTATIONS}
    try:
        for member in members(tree, TREE_LIMITS, lambda _: None):
            folder, _, file = path_in_folder(member.name, edition.name).rpartition("/")
            stem, dot, kind = file.rpartition(".")
            is_picture = (folder, dot + kind) in _PICTURES
            if stem in wanted and (is_picture or (folder in maps and kind == "png")):
                (directory / folder).mkdir(exist_ok=True)
                (directory / folder / file).write_bytes(member.read())
                (shown if is_picture else maps[folder]).add(stem)
                pictures = (folder, dot + kind) if is_picture else pictures
    except ArchiveError:
        pass  # the rest of the archive has been read before; damaged images are not shown
    return Places("", *pictures, shown, maps)


def _stems(folder: Path, suffix: str) -> set[str]:
    return {entry.name.removesuffix(suffix) for entry in _listing(folder)}


def _listing(folder: Path) -> list["os.DirEntry[str]"]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return list(entries)
