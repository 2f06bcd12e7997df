"""Annotations of the synthetic scenes, in the format of the edition's development kit."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from vocboard.commands.demo.scenes import Scene, SceneObject
from vocboard.evaluator.editions import AnnotationFormat, Edition

POSES = ("", "Frontal", "Rear", "Left", "Right")


def annotation_files(scenes: Iterable[Scene], image_set: str, edition: Edition) -> Iterator[tuple[str, str]]:
    """Yield name and content of the files below `Annotations/` for the scenes of one image set."""
    match edition.annotations.format:
        case AnnotationFormat.XML:
            yield from ((f"{scene.image}.xml", _xml(scene, edition.name)) for scene in scenes)
        case AnnotationFormat.PASCAL_TEXT:
            yield from ((f"{scene.image}.txt", _pascal_text(scene, edition)) for scene in scenes)
        case AnnotationFormat.LINES:
            yield f"{image_set}.txt", "".join(_line(scene, thing) for scene in scenes for thing in scene.objects)


def _xml(scene: Scene, folder: str) -> str:
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
        + (f"<actions>{actions}</actions>{_point(thing)}" if actions else "")
        + "</object>"
    )


def _bounding_box(box: tuple[int, int, int, int]) -> str:
    names = ("xmin", "ymin", "xmax", "ymax")
    return "<bndbox>" + "".join(f"<{n}>{v}</{n}>" for n, v in zip(names, box, strict=True)) + "</bndbox>"


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
