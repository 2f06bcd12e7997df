"""`--image-set`: results on val and other lists of an untouched development kit tree."""

import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.commands.board import Run
from tests.evaluator.uploads import directory
from tests.support.golden import GoldenCase, golden


def renamed(source: Path, target: Path, old: str, new: str) -> Path:
    """Copy an archive, changing names; only those of image sets and result files change."""
    with tarfile.open(source) as archive, tarfile.open(target, "w") as copy:
        for member in archive:
            content = archive.extractfile(member)
            if "Annotations/" not in member.name:
                member.name = re.sub(rf"(?<![a-z]){old}(?![a-z])", new, member.name)
            copy.addfile(member, io.BytesIO(content.read()) if content else None)
    return target


@pytest.fixture(scope="module")
def synthetic() -> GoldenCase:
    return golden("voc2012-synthetic")


@pytest.fixture(scope="module")
def val_tree(synthetic: GoldenCase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return renamed(synthetic.ground_truth, tmp_path_factory.mktemp("tree") / "tree.tar", "test", "val")


@pytest.fixture(scope="module")
def val_results(synthetic: GoldenCase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return renamed(synthetic.results, tmp_path_factory.mktemp("results") / "results.tar", "test", "val")


def scores(run: Run, *arguments: object) -> dict[str, Any]:
    status, out, err = run("evaluate", "VOC2012", *arguments, "--json")
    assert status == 0, out + err
    document: dict[str, Any] = json.loads(out)
    return document


def test_val_scores_as_test_does_under_its_own_names(
    synthetic: GoldenCase, val_tree: Path, val_results: Path, run: Run
) -> None:
    expected = scores(run, synthetic.results, "--ground-truth", synthetic.ground_truth)
    found = scores(run, val_results, "--ground-truth", val_tree, "--image-set", "val")
    assert found == json.loads(json.dumps(expected).replace("_test_", "_val_"))
    assert set(found["competitions"]) == {"comp1", "comp3", "comp5", "comp7", "comp9"}


def test_val_is_valid(val_tree: Path, val_results: Path, run: Run) -> None:
    status, out, _ = run("validate", "VOC2012", val_results, "--image-sets", val_tree, "--image-set", "val", "--json")
    assert status == 0
    assert len(json.loads(out)["competitions"]) == 5


def test_several_sets_of_one_archive(synthetic: GoldenCase, tmp_path: Path, run: Run) -> None:
    with tarfile.open(tmp_path / "tree.tar", "w") as tree:
        for name in ("test", "val"):
            renamed(synthetic.ground_truth, tmp_path / f"{name}.tar", "test", name)
            with tarfile.open(tmp_path / f"{name}.tar") as part:
                for member in part:
                    if name == "test" or "ImageSets/" in member.name:
                        tree.addfile(member, part.extractfile(member) if member.isfile() else None)
    with tarfile.open(tmp_path / "both.tar", "w") as both:
        for name in ("test", "val"):
            renamed(synthetic.results, tmp_path / f"r-{name}.tar", "test", name)
            with tarfile.open(tmp_path / f"r-{name}.tar") as part:
                for member in part:
                    if member.isfile():
                        both.addfile(member, part.extractfile(member))
    found = scores(run, tmp_path / "both.tar", "--ground-truth", tmp_path / "tree.tar", "--image-set", "val,test")
    assert list(found["image_sets"]) == ["val", "test"]
    val, test = found["image_sets"]["val"]["competitions"], found["image_sets"]["test"]["competitions"]
    assert val == test
    assert len(val) == 5


def test_a_tree_without_the_set_says_which_it_has(val_tree: Path, val_results: Path, run: Run) -> None:
    status, _, err = run("evaluate", "VOC2012", val_results, "--ground-truth", val_tree)
    assert status == 2
    assert "ImageSets/Main/test.txt" in err
    assert "It has val (Action); val (Layout); val (Main); val (Segmentation)" in err
    status, _, err = run("validate", "VOC2012", val_results, "--image-sets", val_tree, "--image-set", "trainval")
    assert status == 2
    assert "val (Main)" in err


@pytest.mark.parametrize(
    ("image_set", "file", "found", "expected"),
    [
        ("val", "comp4_det_test_car.txt", "'test'", "'val'"),
        ("val", "Segmentation/comp5_test_cls/a.png", "'test'", "'val'"),
        ("val", "comp7_layout_test.xml", "'test'", "'val'"),
        ("test", "Segmentation/comp5_val_cls/a.png", "'val'", "'test'"),
    ],
)
def test_files_of_another_set_are_reported_as_such(
    image_set: str, file: str, found: str, expected: str, tmp_path: Path, run: Run
) -> None:
    status, out, _ = run("validate", "VOC2012", directory(tmp_path, {file: "x"}), "--image-set", image_set, "--json")
    problems = json.loads(out)["problems"]
    assert status == 1
    assert [problem["code"] for problem in problems] == ["wrong_image_set"]
    assert found in problems[0]["message"]
    assert expected in problems[0]["message"]


def test_results_of_other_sets_alone_are_no_results(tmp_path: Path, run: Run) -> None:
    results = directory(tmp_path, {"comp4_det_train_car.txt": "a 1 1 1 2 2\n"})
    status, out, _ = run("validate", "VOC2012", results, "--image-set", "train,val", "--json")
    documents = json.loads(out)["image_sets"]
    assert status == 1
    assert documents["train"]["valid"]
    assert "1 file of other image sets" in documents["val"]["problems"][0]["message"]


def test_what_is_not_a_name_of_a_set(tmp_path: Path, run: Run) -> None:
    status, _, err = run("validate", "VOC2012", tmp_path, "--image-set", "../val")
    assert status == 2
    assert "'../val' is not a valid image set name" in err
