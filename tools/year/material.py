"""The files of the people in the story: trees of ground truth, with mistakes and without, and results."""

import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.examples import mislabelled
from vocboard.commands.demo.methods import Method, results_archive
from vocboard.commands.demo.scenes import World, draw_world
from vocboard.commands.demo.seeding import EDITIONS
from vocboard.evaluator.editions import Edition, for_image_set, read_text

EDITION_FILE = EDITIONS / "harbour.toml"
FINAL = "final"  # image set of the second phase
IMAGES, FINAL_IMAGES, FIRST_FINAL_IMAGE = 160, 80, 3001


@dataclass(frozen=True)
class Trees:
    """Archives of development kit trees.

    Attributes:
        malformed: two annotations cannot be read.
        misspelt: a class has a capital letter in some images.
        first: can be used; dinghies in some images are labelled as barges.
        corrected: they are labelled as dinghies.
        final: of the second phase.
    """

    malformed: Path
    misspelt: Path
    first: Path
    corrected: Path
    final: Path


@dataclass(frozen=True)
class Material:
    """All files of the story."""

    edition: Edition
    trees: Trees
    world: World

    def results(self, method: Method, directory: Path) -> Path:
        """Write the results of a method, and return the archive."""
        path = directory / f"{method.name.lower().replace(' ', '-')}.tar.gz"
        path.write_bytes(results_archive(method, self.world, self.edition, self.edition.competitions))
        return path


def prepare(directory: Path) -> Material:
    """Write the trees."""
    edition = read_text(EDITION_FILE.read_text(encoding="utf-8"), EDITION_FILE.name)
    final = for_image_set(edition, FINAL)
    world = draw_world(edition, seed=2027, main=IMAGES)
    last = draw_world(final, seed=2028, main=FINAL_IMAGES, first=FIRST_FINAL_IMAGE)
    wrong = mislabelled(world, "dinghy", "barge")

    def write(name: str, drawn: World, drawn_on: Edition = edition) -> Path:
        return write_development_kit(drawn, drawn_on, directory / name)

    malformed, misspelt = write("malformed", wrong), write("misspelt", wrong)
    annotations = sorted((malformed / "Annotations").iterdir())
    _change(annotations[3], "<xmin>", "<xmin>left of ")
    _change(annotations[7], "</annotation>", "")
    for path in sorted((misspelt / "Annotations").iterdir())[:9]:
        _change(path, "<name>ferry</name>", "<name>Ferry</name>")
    trees = Trees(
        malformed=_packed(malformed, directory / "harbour-2027.tar.gz"),
        misspelt=_packed(misspelt, directory / "harbour-2027-b.tar.gz"),
        first=_packed(write("first", wrong), directory / "harbour-2027-c.tar.gz"),
        corrected=_packed(write("corrected", world), directory / "harbour-2027-d.tar.gz"),
        final=_packed(write("final", last, final), directory / "harbour-2027-final.tar.gz"),
    )
    return Material(edition, trees, world)


def copied(method: Method) -> Method:
    """Return the same method under another name; its results are to be taken from the first."""
    return replace(method, name="Harbour master")


def _change(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def _packed(tree: Path, archive: Path) -> Path:
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tree, arcname=tree.name)
    return archive
