"""Small development kit trees, made in a directory."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from vocboard.evaluator.editions import load


def annotation(*objects: str, size: str = "<size><width>20</width><height>10</height><depth>3</depth></size>") -> str:
    return f"<annotation>\n{size}\n" + "\n".join(objects) + "\n</annotation>\n"


def an_object(name: str = "person", box: tuple[float, ...] = (1, 1, 10, 10), more: str = "") -> str:
    corners = "".join(f"<{c}>{v}</{c}>" for c, v in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True))
    return f"<object>\n<name>{name}</name>\n<bndbox>{corners}</bndbox>\n{more}</object>"


def a_part(name: str, box: tuple[float, ...] = (1, 1, 4, 4)) -> str:
    return an_object(name, box).replace("object>", "part>")


def actions(**flags: int) -> str:
    return "<actions>" + "".join(f"<{name}>{flag}</{name}>" for name, flag in flags.items()) + "</actions>"


def label_map(labels: list[list[int]]) -> bytes:
    image = Image.fromarray(np.array(labels, dtype=np.uint8), mode=None)
    image = image.convert("P") if image.mode != "P" else image
    image.putdata([label for row in labels for label in row])
    content = io.BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


def files_of_2012() -> dict[str, str | bytes]:
    """A whole tree of VOC2012: two main images, one segmented, three people with layout, two with actions."""
    files: dict[str, str | bytes] = {
        "ImageSets/Main/test.txt": "m1\nm2\n",
        "ImageSets/Segmentation/test.txt": "m2\n",
        "ImageSets/Layout/test.txt": "l1  1\nl1  2\n",
        "ImageSets/Action/test.txt": "a1\na2\n",
        "Annotations/m1.xml": annotation(an_object("car"), an_object("dog", more="<difficult>1</difficult>")),
        "Annotations/m2.xml": annotation(),
        "Annotations/l1.xml": annotation(
            an_object(more=a_part("head") + a_part("hand")), an_object(more=a_part("foot"))
        ),
        "Annotations/a1.xml": annotation(an_object("horse"), an_object(more=actions(walking=1, running=0))),
        "Annotations/a2.xml": annotation(an_object(more=actions(walking=0, running=1))),
        "SegmentationClass/m2.png": label_map([[0, 7, 255], [20, 0, 0]]),
    }
    edition = load("VOC2012")
    for name in edition.classes:
        label = {"car": "1", "dog": "0"}.get(name, "-1")
        files[f"ImageSets/Main/{name}_test.txt"] = f"m2 -1\nm1  {label}\n"
    for name in edition.actions:
        one, two = {"walking": ("1", "-1"), "running": ("-1", "1")}.get(name, ("-1", "-1"))
        files[f"ImageSets/Action/{name}_test.txt"] = f"a1  2 {one}\na2  1 {two}\n"
    return files


def write(directory: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a directory."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return directory


def tar(path: Path, files: dict[str, str | bytes], prefix: str, *, backwards: bool = False) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in sorted(files.items(), reverse=backwards):
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(prefix + name)
            member.size = len(data)
            member.mtime = len(name) * 1_000_000
            archive.addfile(member, io.BytesIO(data))
    return path
