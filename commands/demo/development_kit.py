"""Write the synthetic scenes as a development kit tree."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from vocboard.commands.demo.annotations import annotation_files
from vocboard.commands.demo.scenes import Key, Scene, SceneObject, World
from vocboard.evaluator.editions import Edition, LayoutProtocol, Task
from vocboard.evaluator.ground_truth.image_set_files import file_of
from vocboard.evaluator.tasks.segmentation.png import voc_colours

VOID = 255
BORDER_PIXELS = 5
COLOURS = 256  # of a palette


def write_development_kit(world: World, edition: Edition, directory: Path) -> Path:
    """Write `directory/<edition>/` with image sets, annotations and segmentations; return that path."""
    tree = directory / edition.name
    for (task, image_set), scenes in world.sets.items():
        for name, content in annotation_files(scenes, image_set, edition):
            _write(tree / "Annotations" / name, content)
        if task is Task.SEGMENTATION:
            _write_label_maps(scenes, edition, tree / "SegmentationClass")
        for name, lines in _image_set_files((task, image_set), scenes, edition):
            _write(tree / name, "".join(f"{line}\n" for line in lines))
    return tree


def _write_label_maps(scenes: Iterable[Scene], edition: Edition, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for scene in scenes:
        labels = paint(scene, scene.objects, edition, void_border=True)
        palette_image(labels).save(folder / f"{scene.image}.png")


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


def palette_image(labels: Image.Image) -> Image.Image:
    """Turn a map of labels into an indexed image with the VOC colour map."""
    image = Image.frombytes("P", labels.size, labels.tobytes())
    image.putpalette(voc_colours(COLOURS))
    return image


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


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
