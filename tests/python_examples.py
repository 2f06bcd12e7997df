"""The Python examples of the documentation, and a directory in which they run."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vocboard.commands.demo.cast import BY_NAME
from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.methods import results_archive
from vocboard.commands.demo.scenes import draw_world
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import for_image_set, load
from vocboard.evaluator.metrics.confusion_matrix import VOID

ROOT = Path(__file__).parents[1]
PYTHON_PAGE = ROOT / "docs" / "python.md"
STATISTICS_PAGE = ROOT / "docs" / "statistics.md"
README = ROOT / "README.md"
INSTANCES = ROOT / "docs" / "editions" / "examples" / "instances.toml"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[str]:
    """Return the Python examples of a page."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def needs_server(block: str) -> bool:
    return "vocboard.Client" in block


def cells(notebook: Path) -> list[str]:
    """Return the code cells of a notebook."""
    content: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def run(sources: list[str], place: str) -> dict[str, Any]:
    """Run pieces of a program one after the other in one namespace, and return it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(sources):
        exec(compile(source, f"{place}, example {number}", "exec"), namespace)
    return namespace


def write_files(directory: Path) -> None:
    """Write what the examples read: `VOCdevkit` with pictures and the sets train and val, results, an edition file."""
    edition = for_image_set(load("VOC2012"), "val")
    world = draw_world(edition, seed=3, main=24, segmented=3, layout=4, action=8)
    tree = write_development_kit(world, edition, directory / "VOCdevkit")
    for file in list((tree / "ImageSets").rglob("*val.txt")):
        file.with_name(file.name.replace("val.txt", "train.txt")).write_bytes(file.read_bytes())
    _write_instances(tree, directory / "instances.toml", edition.classes)
    random = np.random.default_rng(0)
    (tree / "JPEGImages").mkdir()
    first = ""
    for scenes in world.sets.values():
        for scene in scenes:
            first = first or scene.image
            pixels = random.integers(0, 255, (scene.height, scene.width, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tree / "JPEGImages" / f"{scene.image}.jpg")
    (directory / "results.tar.gz").write_bytes(
        results_archive(BY_NAME["Part-based mixture"], world, edition, ("comp1", "comp3"))
    )
    detections = [{"image_id": first, "category_id": 7, "bbox": [9, 19, 101, 121], "score": 0.5}]
    (directory / "detections.json").write_text(json.dumps(detections))


def _write_instances(tree: Path, edition_file: Path, classes: tuple[str, ...]) -> None:
    """Write an edition file of instance segmentation for these classes, and a map of objects beside each of classes."""
    text = INSTANCES.read_text(encoding="utf-8")
    edition_file.write_text(text.replace('["car", "person"]', json.dumps(classes)), encoding="utf-8")
    (tree / "SegmentationObject").mkdir()
    for path in (tree / "SegmentationClass").iterdir():
        labels = np.asarray(Image.open(path))
        objects = np.searchsorted(np.unique(labels), labels).astype(np.uint8)  # one object a class
        objects[labels == VOID] = VOID
        (tree / "SegmentationObject" / path.name).write_bytes(indexed_png(objects))
