"""Segmentation: 1,449 label maps to a confusion matrix."""

import io
import os
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Run
from benchmarks.datasets.world import HEIGHT, SEED, SEGMENTED, WIDTH
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import GroundTruth, SegmentationTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.tasks.segmentation.png import voc_colours

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def make_maps(directory: Path, scale: float) -> None:
    """Write the truth, and one label map an image: some ellipses, and the same moved a little."""
    count = max(10, int(SEGMENTED * scale))
    random = np.random.default_rng(SEED)
    folder = directory / "results" / "results" / "VOC2012" / "Segmentation" / "comp5_test_cls"
    folder.mkdir(parents=True, exist_ok=True)
    images = tuple(f"2007_{number:06}" for number in range(1, count + 1))
    truths = []
    for image in images:
        boxes = [
            (int(label), *random.integers(0, 300, 2).tolist(), *random.integers(30, 250, 2).tolist())
            for label in random.integers(1, 21, int(random.integers(1, 6)))
        ]
        truths.append(np.asarray(_paint(boxes, 0, VOID)))
        found = _paint(boxes, int(random.integers(0, 12)), None)
        indexed = Image.frombytes("P", found.size, found.tobytes())
        indexed.putpalette(voc_colours(256))
        indexed.save(folder / f"{image}.png")
    sizes = np.tile(np.array([WIDTH, HEIGHT], dtype=np.int32), (count, 1))
    key = Task.SEGMENTATION, "test"
    sets = ImageSets("VOC2012", {key: ImageSet(images, sizes)})
    GroundTruth.of(sets, {key: SegmentationTruth.of(truths)}, {}).save(directory / "truth.npz")


def _paint(boxes: list[tuple[int, ...]], moved: int, outline: int | None) -> Image.Image:
    labels = Image.new("L", (WIDTH, HEIGHT), 0)
    draw = ImageDraw.Draw(labels)
    for label, left, top, width, height in boxes:
        box = left + moved, top + moved, left + moved + width, top + moved + height
        draw.ellipse(box, fill=label, outline=outline, width=5 if outline else 1)
    return labels


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("results/results/VOC2012/Segmentation/comp5_test_cls/*.png"))


def _ours(directory: Path) -> Run:
    truth, edition = GroundTruth.load(directory / "truth.npz"), load("VOC2012")

    def run() -> None:
        evaluation = evaluate(directory / "results", edition, truth)
        assert evaluation.scores["comp5"].primary.mean > 0, evaluation.problems[:3]

    return run


def _decode_one(path: Path) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(path.read_bytes()), formats=("PNG",)) as image:
        return np.asarray(image)


def _decode(directory: Path) -> Run:
    Image.preinit()

    def run() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            sum(pool.map(lambda path: _decode_one(path).size, _files(directory)))

    return run


def _inflate_one(path: Path) -> bytes:
    data, place, compressed = path.read_bytes(), len(PNG_SIGNATURE), []
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        if kind == b"IDAT":
            compressed.append(data[place + 8 : place + 8 + length])
        place += 12 + length
    return zlib.decompress(b"".join(compressed))


def _inflate(directory: Path) -> Run:
    def run() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            sum(pool.map(lambda path: len(_inflate_one(path)), _files(directory)))

    return run


def _torchmetrics(directory: Path) -> Run:
    import torch  # noqa: PLC0415
    from torchmetrics.functional.classification import multiclass_confusion_matrix  # noqa: PLC0415

    truth = GroundTruth.load(directory / "truth.npz").truths[Task.SEGMENTATION, "test"]
    assert isinstance(truth, SegmentationTruth)
    true = [torch.from_numpy(truth.runs(image).pixels()) for image in range(len(truth))]
    labels = len(load("VOC2012").classes) + 1
    count = partial(multiclass_confusion_matrix, num_classes=labels, ignore_index=VOID, validate_args=False)
    Image.preinit()

    def run() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = map(torch.tensor, pool.map(_decode_one, _files(directory)))
            matrix = sum(map(count, found, true), torch.tensor(0))
        correct = matrix.diag()
        assert (correct / (matrix.sum(0) + matrix.sum(1) - correct)).nanmean() > 0

    return run


DECODE = "Pillow decodes, a thread a processor"

SEGMENTATION = Case(
    name="segmentation",
    title="segmentation, 1,449 images of 500 x 375",
    make=make_maps,
    implementations={
        "vocboard": Implementation(Kind.OURS, _ours),
        "torchmetrics' confusion matrix": Implementation(Kind.PEER, _torchmetrics),
        DECODE: Implementation(Kind.PEER, _decode),
        "zlib decompresses, a thread a processor": Implementation(Kind.FLOOR, _inflate),
        "read the bytes": Implementation(
            Kind.FLOOR, lambda directory: lambda: [p.read_bytes() for p in _files(directory)]
        ),
    },
    goals=(Goal(1.25, (DECODE,)),),
)
