"""Trees to learn from: golden ones, whose test set is divided into train and val, with pictures made for them."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from vocboard.evaluator.annotations.records import ImageRecord, read_record
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.tasks.segmentation.png import voc_colours

NOISE = 8  # pixels along each side of a square of one colour
COLOURS = np.frombuffer(voc_colours(256), dtype=np.uint8).reshape(-1, 3)


def pictured_tree(
    archive: Path, edition: Edition, directory: Path, at_most: int = 10**9, folder: str | None = None
) -> Path:
    """Unpack a tree; every second line of each list goes to train, the others to val; then draw its pictures.

    Args:
        archive: with the tree, whose image sets are called `test`.
        edition: of the tree.
        directory: to unpack into.
        at_most: images of each image set; half as many people's layouts, whose example takes longest.
        folder: the only one of `ImageSets/` to take; None for all.
    """
    tree = directory / edition.name
    with tarfile.open(archive) as tar:
        files = {each.name: tar.extractfile(each).read() for each in tar if each.isfile()}  # type: ignore[union-attr]
    lists = {
        Path(name): text.decode().splitlines()
        for name, text in files.items()
        if "/ImageSets/" in name and folder in {None, Path(name).parent.name}
    }
    folders = {path.parent: path for path in lists if path.name == "test.txt"}
    listed: dict[str, None] = {}
    for path, lines in lists.items():
        known = list(dict.fromkeys(line.split()[0] for line in lists[folders[path.parent]] if line.strip()))
        kept = at_most // 2 if path.parent.name == "Layout" else at_most
        half = {image: place % 2 for place, image in enumerate(known[:kept])}
        for number, name in enumerate(("train", "val")):
            own = [line for line in lines if line.strip() and half.get(line.split()[0]) == number]
            target = directory / path.parent / path.name.replace("test.txt", f"{name}.txt")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(f"{line}\n" for line in own))
            listed |= dict.fromkeys(line.split()[0] for line in own)
    for name, content in files.items():
        is_drawn_over = folder is not None and "/Segmentation" in name  # pictures of label maps show no parts
        if Path(name).stem in listed and "/ImageSets/" not in name and not is_drawn_over:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
    (tree / "JPEGImages").mkdir(exist_ok=True)
    kinds = {name: number for number, name in enumerate((*edition.classes, *edition.parts, *edition.actions), start=1)}
    for image in listed:
        annotation = tree / "Annotations" / f"{image}.xml"
        label_map = tree / "SegmentationClass" / f"{image}.png"
        record = read_record(annotation.read_bytes()) if annotation.exists() else ImageRecord(None, ())
        picture = draw(image, record, kinds, label_map if label_map.exists() else None)
        (tree / "JPEGImages" / f"{image}.jpg").write_bytes(picture)
    return directory


def draw(image: str, record: ImageRecord, kinds: Mapping[str, int], label_map: Path | None) -> bytes:
    """Draw objects in the colours of their classes on noise, with parts and stripes for actions."""
    random = np.random.default_rng(sum(map(ord, image)))
    width, height = record.size or (500, 375)
    if label_map is not None:
        with Image.open(label_map) as labels:
            width, height = labels.size
            pixels = COLOURS[np.asarray(labels) % 255].astype(np.int16)
    noise = random.integers(-40, 60, (-(-height // NOISE), -(-width // NOISE), 3))
    if label_map is None:
        small = Image.fromarray((noise + 60).astype(np.uint8))
        grown = small.resize((small.width * NOISE, small.height * NOISE), Image.Resampling.NEAREST)
        picture = grown.crop((0, 0, width, height))
    else:
        repeated = noise.astype(np.int16).repeat(NOISE, 0).repeat(NOISE, 1)[:height, :width]
        picture = Image.fromarray(np.clip(pixels + 60 + repeated, 0, 255).astype(np.uint8))
    pencil = ImageDraw.Draw(picture)
    for each in record.objects if label_map is None else ():
        box = [float(side) - 1 for side in each.box]
        pencil.rectangle(box, fill=tuple(COLOURS[kinds.get(each.name, 0)].tolist()))
        doing = [kinds[action] for action, performed in each.actions.items() if performed and action in kinds]
        if doing:
            middle = (box[1] + box[3]) / 2
            pencil.rectangle([box[0], middle, box[2], box[3]], fill=tuple(COLOURS[doing[0]].tolist()))
        for part in each.parts:
            pencil.rectangle(
                [float(side) - 1 for side in part.box], fill=tuple(COLOURS[kinds.get(part.name, 0)].tolist())
            )
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=80)
    return content.getvalue()
