"""The public names of the package, and conversions and viewing through them."""

import builtins
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import mypy.api
import pytest

import vocboard
from tests.evaluator.conversion import kit
from vocboard.evaluator.version import VERSION

COCO = [{"image_id": 1, "category_id": 7, "bbox": [9, 19, 101, 121], "score": 0.5}]  # VOC's car, 10 to 110


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return kit.tree(tmp_path)


def test_convert_evaluate_and_view(tree: Path, tmp_path: Path) -> None:
    detections, archive = tmp_path / "detections.json", tmp_path / "results.tar.gz"
    detections.write_text(json.dumps(COCO))
    vocboard.convert("coco", detections, archive, edition="VOC2007", competition="comp4", image_sets=tree)
    truth = vocboard.read_ground_truth(tree, "VOC2007")
    found = vocboard.evaluate(archive, "VOC2007", truth)
    assert found["comp4"].details["car"].final_precision == 1.0
    assert "<td>6</td><td>1</td></tr>" in found["comp4"]._repr_html_(), "positives and results of the car"
    back = tmp_path / "back.json"
    vocboard.convert("coco", archive, back, edition="VOC2007", competition="comp4", image_sets=truth, reverse=True)
    assert json.loads(back.read_text())[0]["bbox"] == COCO[0]["bbox"]

    written = vocboard.view(tree, tmp_path / "page", results=archive)
    assert written.images == len(kit.IMAGES)
    assert (tmp_path / "page" / "index.html").exists()


def test_a_ground_truth_to_coco_and_back(tree: Path, tmp_path: Path) -> None:
    vocboard.convert("coco-ground-truth", tree, tmp_path / "truth.json", edition="VOC2007", reverse=True)
    vocboard.convert("coco-ground-truth", tmp_path / "truth.json", tmp_path / "again", edition="VOC2007")
    before, after = (vocboard.read_ground_truth(each, "VOC2007") for each in (tree, tmp_path / "again"))
    assert before.sha256 == after.sha256


def test_arguments_that_cannot_be(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no format 'voc'; there are coco, yolo"):
        vocboard.convert("voc", tree, tmp_path / "x.zip", edition="VOC2007")
    with pytest.raises(ValueError, match="coco needs competition and image_sets"):
        vocboard.convert("coco", tree, tmp_path / "x.zip", edition="VOC2007")
    with pytest.raises(ValueError, match="coco does not use confidence"):
        vocboard.convert("coco", tree, tmp_path / "x.zip", edition="VOC2007", confidence=0.5)
    with pytest.raises(ValueError, match="there is no example of 'detecting'; there are classification"):
        vocboard.example("detecting", tree, tmp_path / "x.zip")
    with pytest.raises(ValueError, match="has no folder of an edition"):
        vocboard.view(tmp_path / "VOC2007" / "Annotations", tmp_path / "page")


HEAVY = ("numpy", "lxml", "PIL", "httpx", "pyarrow")


def test_every_public_name_is_there_and_listed() -> None:
    for name in vocboard.__all__:
        assert getattr(vocboard, name) is not None
        assert name in dir(vocboard)
    assert vocboard.__version__ == VERSION


def test_exceptions_that_docstrings_name_are_public() -> None:
    public = [getattr(vocboard, name) for name in vocboard.__all__]
    documented = [each for each in public if inspect.isfunction(each) or inspect.isclass(each)]
    documented += [
        each for kind in documented if inspect.isclass(kind) for _, each in inspect.getmembers(kind, inspect.isfunction)
    ]
    named = {name for each in documented for name in re.findall(r"\b[A-Z]\w+(?:Error|Warning)\b", each.__doc__ or "")}
    missing = {name for name in named if not hasattr(builtins, name) and name not in vocboard.__all__}
    assert len(named) > 10
    assert not missing


def test_type_checkers_report_misspelt_names(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import vocboard\n\nvocboard.evaluate\nvocboard.evalute\n")
    arguments = ["--follow-imports=skip", "--no-incremental", str(Path(vocboard.__file__)), str(script)]
    report = mypy.api.run(arguments)[0]
    assert 'script.py:4: error: Module has no attribute "evalute"' in report
    assert "script.py:3" not in report


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vocboard' has no attribute 'evalute'"):
        vocboard.evalute  # noqa: B018


def test_importing_the_package_imports_nothing_else() -> None:
    program = f"import sys, vocboard; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
