"""Writes a tree of ground truth, or result files, from COCO's JSON: `python -m vocboard_keypoints.coco --help`."""

import argparse
import json
from pathlib import Path
from typing import Any


def write_tree(annotations: dict[str, Any], tree: Path, image_set: str = "test") -> None:
    """Write ground truth as files of a tree."""
    names = {each["id"]: each["name"] for each in annotations["categories"]}
    lines: dict[int, list[str]] = {each["id"]: [] for each in sorted(annotations["images"], key=lambda one: one["id"])}
    for each in annotations["annotations"]:
        numbers = [each["area"], each["iscrowd"], *each["bbox"], *each["keypoints"]]
        lines[each["image_id"]].append(" ".join([names[each["category_id"]], *map(repr, numbers)]))
    for folder in ("ImageSets/Keypoints", "Keypoints"):
        (tree / folder).mkdir(parents=True, exist_ok=True)
    listed = "".join(f"{image}\n" for image in lines)
    (tree / "ImageSets" / "Keypoints" / f"{image_set}.txt").write_text(listed, encoding="utf-8")
    for image, people in lines.items():
        (tree / "Keypoints" / f"{image}.txt").write_text("".join(f"{one}\n" for one in people), encoding="utf-8")


def write_results(results: list[dict[str, Any]], annotations: dict[str, Any], folder: Path, file: str) -> None:
    """Write results as a file for each class.

    Args:
        file: pattern of its name, with `{class}`.
    """
    for category in annotations["categories"]:
        path = folder / file.replace("{class}", category["name"])
        path.parent.mkdir(parents=True, exist_ok=True)
        own = [each for each in results if each["category_id"] == category["id"]]
        points = [[number for place, number in enumerate(each["keypoints"]) if place % 3 < 2] for each in own]
        rows = [[each["image_id"], each["score"], *of] for each, of in zip(own, points, strict=True)]
        path.write_text("".join(" ".join(map(repr, row)) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Read the arguments, and write."""
    parser = argparse.ArgumentParser(description="Convert COCO's keypoints for vocboard.")
    parser.add_argument("annotations", type=Path, help="person_keypoints_*.json")
    parser.add_argument("output", type=Path, help="folder to write")
    parser.add_argument("--results", type=Path, help="results in JSON, to write instead of ground truth")
    arguments = parser.parse_args()
    annotations = json.loads(arguments.annotations.read_text(encoding="utf-8"))
    if arguments.results is None:
        write_tree(annotations, arguments.output)
    else:
        results = json.loads(arguments.results.read_text(encoding="utf-8"))
        write_results(results, annotations, arguments.output, "Keypoints/comp1_kpt_test_{class}.txt")


if __name__ == "__main__":
    main()
