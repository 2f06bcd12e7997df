"""The synthetic scenes as a development kit tree: image sets, annotations and segmentations."""

import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw

from vocboard.commands.demo.scenes import Key, Scene, SceneObject, World
from vocboard.evaluator.editions import AnnotationFormat, Edition, LayoutProtocol, Task
from vocboard.evaluator.tasks.image_set_files import file_of
from vocboard.evaluator.tasks.segmentation.png import voc_colours

POSES = ("", "Frontal", "Rear", "Left", "Right")
VOID = 255
BORDER_PIXELS = 5
PALETTE = voc_colours(256)


def write_development_kit(world: World, edition: Edition, directory: Path) -> Path:
    """Write `directory/<edition>/`, and return that path."""
    for name, content in development_kit(world, edition).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return directory / edition.name


def development_kit(world: World, edition: Edition) -> dict[str, bytes]:
    """Return the files of the tree by their paths, which begin with the name of the edition."""
    files: dict[str, bytes] = {}
    for (task, image_set), scenes in world.sets.items():
        folder = f"{edition.name}/Annotations"
        match edition.annotations.format:
            case AnnotationFormat.LINES:
                lines = (_line(scene, thing) for scene in scenes for thing in scene.objects)
                files[f"{folder}/{image_set}.txt"] = "".join(lines).encode()
            case written:
                ending = "xml" if written is AnnotationFormat.XML else "txt"
                annotation = _xml if written is AnnotationFormat.XML else _pascal_text
                for scene in scenes:
                    if (path := f"{folder}/{scene.image}.{ending}") not in files:  # tasks share images
                        files[path] = annotation(scene, edition).encode()
        if task is Task.SEGMENTATION:
            for scene in scenes:
                labels = paint(scene, scene.objects, edition, void_border=True)
                files[f"{edition.name}/SegmentationClass/{scene.image}.png"] = png(labels)
        for path, listed in _image_set_files((task, image_set), scenes, edition):
            files[f"{edition.name}/{path}"] = "".join(f"{line}\n" for line in listed).encode()
    return files


def paint(scene: Scene, objects: Iterable[SceneObject], edition: Edition, *, void_border: bool = False) -> Image.Image:
    """Draw each object as an ellipse filled with its class index; later objects cover earlier ones."""
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


def png(labels: Image.Image) -> bytes:
    """Return a map of labels as an indexed image with the VOC colour map."""
    image = Image.frombytes("P", labels.size, labels.tobytes())
    image.putpalette(PALETTE)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1, compress_type=zlib.Z_RLE)
    return buffer.getvalue()


def _image_set_files(key: Key, scenes: Iterable[Scene], edition: Edition) -> Iterator[tuple[str, Iterable[str]]]:
    """Names and lines of the files below `ImageSets/` of one task and image set."""
    task = key[0]
    rules = next(item.rules for item in edition.competitions.values() if (item.task, item.image_set) == key)
    names_people = task is Task.ACTION or (
        task is Task.LAYOUT and rules.layout_protocol is not LayoutProtocol.WHOLE_PERSON_BY_BOX
    )
    yield file_of(edition, key), _person_lines(scenes) if names_people else (scene.image for scene in scenes)
    if task is Task.CLASSIFICATION:
        for name in rules.classes:
            yield file_of(edition, key, name), (f"{scene.image} {_label(scene, name):2d}" for scene in scenes)
    if task is Task.ACTION:
        for name in rules.classes:
            yield file_of(edition, key, name), _person_lines(scenes, _performs(name))


def _label(scene: Scene, class_name: str) -> int:
    """Return 1 if the image has an object of the class, 0 if it has only difficult ones, -1 if it has none."""
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


def _xml(scene: Scene, edition: Edition) -> str:
    objects = "".join(_object(thing) for thing in scene.objects)
    return (
        f"<annotation><folder>{edition.name}</folder><filename>{escape(scene.image)}.jpg</filename>"
        f"<source><database>vocboard demo</database><annotation>made up</annotation><image>none</image></source>"
        f"<size><width>{scene.width}</width><height>{scene.height}</height><depth>3</depth></size>"
        f"<segmented>0</segmented>{objects}</annotation>\n"
    )


def _object(thing: SceneObject) -> str:
    parts = "".join(f"<part><name>{name}</name>{bounding_box(box)}</part>" for name, box in thing.parts)
    actions = "".join(f"<{name}>1</{name}>" for name in sorted(thing.actions))
    return (
        f"<object><name>{escape(thing.class_name)}</name><pose>Unspecified</pose><truncated>0</truncated>"
        f"<difficult>{thing.difficult:d}</difficult>{bounding_box(thing.box)}{parts}"
        + (f"<actions>{actions}</actions>{_point(thing)}" if actions else "")
        + "</object>"
    )


def bounding_box(box: tuple[float, ...], digits: int = 0) -> str:
    """XML of a box, each side with so many decimals."""
    names = ("xmin", "ymin", "xmax", "ymax")
    return "<bndbox>" + "".join(f"<{n}>{v:.{digits}f}</{n}>" for n, v in zip(names, box, strict=True)) + "</bndbox>"


def _point(person: SceneObject) -> str:
    """A point on the person, for actions without boxes."""
    left, top, right, bottom = person.box
    return f"<point><x>{(left + right) // 2}</x><y>{(top + bottom) // 2}</y></point>"


def _pascal_text(scene: Scene, edition: Edition) -> str:
    beginnings = {name: beginning for beginning, name in edition.annotations.labels.items()}
    labels = [
        beginnings[thing.class_name] + POSES[thing.box[0] % len(POSES)] + "Difficult" * thing.difficult
        for thing in scene.objects
    ]
    listed = " ".join(f'"{label}"' for label in labels)
    details = "".join(
        f'\n# Details for object {index} ("{label}")\n'
        f'Original label for object {index} "{label}" : "{label}"\n'
        f'Bounding box for object {index} "{label}" (Xmin, Ymin) - (Xmax, Ymax) : '
        f"({thing.box[0]}, {thing.box[1]}) - ({thing.box[2]}, {thing.box[3]})\n"
        for index, (label, thing) in enumerate(zip(labels, scene.objects, strict=True), start=1)
    )
    return (
        "# PASCAL Annotation Version 1.00\n\n"
        f'Image filename : "{edition.name}/PNGImages/{scene.image}.png"\n'
        f"Image size (X x Y x C) : {scene.width} x {scene.height} x 3\n"
        'Database : "vocboard demo"\n'
        f"Objects with ground truth : {len(labels)} {{ {listed} }}\n\n"
        "# Top left pixel co-ordinates : (1, 1)\n"
        f"{details}"
    )


def _line(scene: Scene, thing: SceneObject) -> str:
    return f"{scene.image} {' '.join(map(str, thing.box))} {thing.class_name}\n"
