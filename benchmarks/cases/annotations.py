"""Ground truth: a tree of 10,991 annotations read once, and loaded again."""

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Run
from benchmarks.datasets.world import HEIGHT, IMAGES, OBJECTS, WIDTH, World, make_world
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth


def make_tree(directory: Path, scale: float) -> None:
    """Write a development kit tree, and the same stored."""
    world = make_world(max(10, int(IMAGES * scale)), max(40, int(OBJECTS * scale)))
    tree = directory / "tree" / "VOC2012"
    for folder in ("Annotations", "ImageSets/Main"):
        (tree / folder).mkdir(parents=True, exist_ok=True)
    (tree / "ImageSets/Main/test.txt").write_text("".join(f"{image}\n" for image in world.images))
    objects: list[list[int]] = [[] for _ in world.images]
    for number, image in enumerate(world.image.tolist()):
        objects[image].append(number)
    for image, numbers in zip(world.images, objects, strict=True):
        (tree / "Annotations" / f"{image}.xml").write_text(_annotation(world, image, numbers))
    for index, name in enumerate(world.edition.classes):
        labels = {
            world.images[i] for i, c in zip(world.image.tolist(), world.class_index.tolist(), strict=True) if c == index
        }
        lines = (f"{image} {'1' if image in labels else '-1'}\n" for image in world.images)
        (tree / "ImageSets/Main" / f"{name}_test.txt").write_text("".join(lines))
    read_ground_truth(directory / "tree", world.edition).save(directory / "truth.npz")


def _annotation(world: World, image: str, numbers: list[int]) -> str:
    return "\n".join(_annotation_lines(world, image, numbers))


def _annotation_lines(world: World, image: str, numbers: list[int]) -> Iterator[str]:
    yield f"<annotation>\n\t<folder>VOC2012</folder>\n\t<filename>{image}.jpg</filename>"
    yield f"\t<size>\n\t\t<width>{WIDTH}</width>\n\t\t<height>{HEIGHT}</height>\n\t\t<depth>3</depth>\n\t</size>"
    for number in numbers:
        name = world.edition.classes[world.class_index[number]]
        yield f"\t<object>\n\t\t<name>{name}</name>\n\t\t<pose>Unspecified</pose>\n\t\t<truncated>0</truncated>"
        yield f"\t\t<difficult>{int(world.difficult[number])}</difficult>\n\t\t<bndbox>"
        for side, value in zip(("xmin", "ymin", "xmax", "ymax"), world.box[number].tolist(), strict=True):
            yield f"\t\t\t<{side}>{value}</{side}>"
        yield "\t\t</bndbox>\n\t</object>"
    yield "</annotation>\n"


def _ours(directory: Path) -> Run:
    edition = load("VOC2012")
    return lambda: read_ground_truth(directory / "tree", edition)


def _lxml(directory: Path) -> Run:
    files = sorted((directory / "tree/VOC2012/Annotations").glob("*.xml"))
    return lambda: [etree.fromstring(path.read_bytes()).findtext("object/name") for path in files]


TREE = Case(
    name="tree",
    title="ground truth tree of 10,991 XML files",
    make=make_tree,
    implementations={
        "vocboard": Implementation(Kind.OURS, _ours),
        "lxml parses file by file": Implementation(Kind.FLOOR, _lxml),
    },
    goals=(),  # read once; from then on it is loaded, see STORED
)
STORED = Case(
    name="stored",
    title="the same ground truth loaded again",
    make=make_tree,
    implementations={
        "vocboard": Implementation(Kind.OURS, lambda directory: lambda: GroundTruth.load(directory / "truth.npz")),
        "read the bytes": Implementation(Kind.FLOOR, lambda directory: (directory / "truth.npz").read_bytes),
    },
    goals=(Goal(0.030, unit="s"),),
)
