"""Write a made-up world as a development kit tree, as an organiser would have it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw

from commands.demo.scenes import Scene, SceneObject, World
from evaluator.editions import Edition, LayoutProtocol, Task

VOID = 255
BORDER_PIXELS = 5


def write_development_kit(world: World, edition: Edition, directory: Path) -> Path:
    """Write `directory/<edition>/` with image sets, annotations and segmentations; return that path."""
    tree = directory / edition.name
    for folder in ("Annotations", "SegmentationClass", *(f"ImageSets/{name}" for name in _set_names(world))):
        (tree / folder).mkdir(parents=True)
    for scene in world.scenes:
        (tree / "Annotations" / f"{scene.image}.xml").write_text(_annotation(scene, edition.name))
    for scene in world.segmented:
        palette_image(paint(scene, scene.objects, edition, void_border=True)).save(
            tree / "SegmentationClass" / f"{scene.image}.png"
        )
    _write_image_sets(world, edition, tree / "ImageSets")
    return tree


def paint(scene: Scene, objects: Iterable[SceneObject], edition: Edition, *, void_border: bool = False) -> Image.Image:
    """Draw each object as an ellipse with its class's index; later objects cover earlier ones."""
    labels = Image.new("L", (scene.width, scene.height), 0)
    draw = ImageDraw.Draw(labels)
    for thing in objects:
        left, top, right, bottom = thing.box
        if right <= left or bottom <= top:
            continue
        index = VOID if thing.difficult else edition.classes.index(thing.class_name) + 1
        draw.ellipse(
            (left - 1, top - 1, right - 1, bottom - 1),
            fill=index,
            outline=VOID if void_border else index,
            width=BORDER_PIXELS if void_border else 1,
        )
    return labels


def palette_image(labels: Image.Image) -> Image.Image:
    """Turn a map of labels into an indexed image with the VOC colour map."""
    image = Image.frombytes("P", labels.size, labels.tobytes())
    image.putpalette(_colour_map())
    return image


def _colour_map() -> bytes:
    """The VOC colour map: bits of the index spread over the channels (VOClabelcolormap)."""
    colours = bytearray()
    for index in range(256):
        red = green = blue = 0
        rest = index
        for bit in range(7, -1, -1):
            red |= (rest & 1) << bit
            green |= (rest >> 1 & 1) << bit
            blue |= (rest >> 2 & 1) << bit
            rest >>= 3
        colours += bytes((red, green, blue))
    return bytes(colours)


def _set_names(world: World) -> tuple[str, ...]:
    return ("Main", "Segmentation", "Layout", *(("Action",) if world.action else ()))


def _write_image_sets(world: World, edition: Edition, image_sets: Path) -> None:
    _write_lines(image_sets / "Main/test.txt", (scene.image for scene in world.main))
    _write_lines(image_sets / "Segmentation/test.txt", (scene.image for scene in world.segmented))
    for name in edition.classes:
        _write_lines(image_sets / f"Main/{name}_test.txt", (f"{s.image} {_label(s, name):2d}" for s in world.main))
    layout = next(c.rules.layout_protocol for c in edition.competitions.values() if c.task is Task.LAYOUT)
    if layout is LayoutProtocol.WHOLE_PERSON_BY_BOX:
        _write_lines(image_sets / "Layout/test.txt", (scene.image for scene in world.layout))
    else:
        _write_lines(image_sets / "Layout/test.txt", _person_lines(world.layout))
    if world.action:
        _write_lines(image_sets / "Action/test.txt", _person_lines(world.action))
        for name in edition.actions:
            _write_lines(image_sets / f"Action/{name}_test.txt", _person_lines(world.action, _performs(name)))


def _label(scene: Scene, class_name: str) -> int:
    """1 with an ordinary object of the class, 0 with difficult ones alone, -1 without any."""
    difficult = [thing.difficult for thing in scene.objects if thing.class_name == class_name]
    if not difficult:
        return -1
    return 0 if all(difficult) else 1


def _performs(action: str) -> Callable[[SceneObject], str]:
    return lambda person: " 1" if action in person.actions else "-1"


def _person_lines(scenes: Iterable[Scene], last: Callable[[SceneObject], str] | None = None) -> Iterable[str]:
    for scene in scenes:
        for index, thing in enumerate(scene.objects, start=1):
            yield f"{scene.image} {index}" + (f" {last(thing)}" if last else "")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def _annotation(scene: Scene, folder: str) -> str:
    objects = "".join(_object(thing) for thing in scene.objects)
    return (
        f"<annotation><folder>{folder}</folder><filename>{escape(scene.image)}.jpg</filename>"
        f"<source><database>vocboard demo</database><annotation>made up</annotation><image>none</image></source>"
        f"<size><width>{scene.width}</width><height>{scene.height}</height><depth>3</depth></size>"
        f"<segmented>0</segmented>{objects}</annotation>\n"
    )


def _object(thing: SceneObject) -> str:
    parts = "".join(f"<part><name>{name}</name>{_bounding_box(box)}</part>" for name, box in thing.parts)
    actions = "".join(f"<{name}>1</{name}>" for name in sorted(thing.actions))
    return (
        f"<object><name>{escape(thing.class_name)}</name><pose>Unspecified</pose><truncated>0</truncated>"
        f"<difficult>{thing.difficult:d}</difficult>{_bounding_box(thing.box)}{parts}"
        + (f"<actions>{actions}</actions>" if actions else "")
        + "</object>"
    )


def _bounding_box(box: tuple[int, int, int, int]) -> str:
    names = ("xmin", "ymin", "xmax", "ymax")
    return "<bndbox>" + "".join(f"<{n}>{v}</{n}>" for n, v in zip(names, box, strict=True)) + "</bndbox>"
