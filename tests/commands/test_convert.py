"""`vocboard convert` on the command line."""

import json
from pathlib import Path

import pytest

from tests.evaluator.conversion import kit
from vocboard.commands.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["convert", *map(str, arguments)])
    output = capsys.readouterr()
    return status, output.out, output.err


@pytest.fixture
def options(tmp_path: Path) -> tuple[object, ...]:
    kit.tree(tmp_path)
    return ("--edition", "VOC2007", "--competition", "comp4", "--image-sets", tmp_path)


def test_coco_detections_become_an_archive_that_is_valid(
    tmp_path: Path, options: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"image_id": 1, "category_id": 7, "bbox": [9, 19, 101, 121], "score": 0.9}]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    status, out, _ = run(capsys, "coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 0
    assert "1 detection of 1 class" in out
    assert main(["validate", "VOC2007", str(tmp_path / "r.tar.gz"), "--image-sets", str(tmp_path)]) == 0
    status, _, _ = run(
        capsys, "huggingface", tmp_path / "r.tar.gz", *options, "--reverse", "--output", tmp_path / "out.json"
    )
    assert status == 0
    assert json.loads((tmp_path / "out.json").read_text())["000001"] == [
        {"score": 0.9, "label": "car", "box": {"xmin": 9, "ymin": 19, "xmax": 110, "ymax": 140}}
    ]


def test_problems_exit_1_and_write_nothing(
    tmp_path: Path, options: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.json").write_text(
        json.dumps([{"image_id": 99, "category_id": 70, "bbox": [1, 1, 1, 1], "score": 1}])
    )
    status, out, err = run(capsys, "coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 1
    assert out == ""
    assert "--images" in err
    assert "--categories" in err
    assert "Nothing was written: 2 errors." in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["VOC2007", "in.json"]


def test_an_interrupted_conversion_leaves_nothing(
    tmp_path: Path, options: tuple[object, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.json").write_text(json.dumps([{"image_id": 1, "category_id": 7, "bbox": [1, 1, 9, 9], "score": 1}]))

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "vocboard.evaluator.conversion.result_archive.read_results", interrupt
    )  # when the archive is written
    status, _, err = run(capsys, "coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 130
    assert "Interrupted" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["VOC2007", "in.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("colour-map", "0", "--output", "map.txt"), "1 to 256 colours"),
        (("colour-map", "many", "--output", "map.txt"), "number of colours"),
        (("coco", "nowhere.json", "--edition", "VOC2007", "--output", "r.tar.gz"), "nowhere.json: No such file"),
        (("coco", "pyproject.toml", "--output", "r.tar.gz"), "needs --edition"),
        (("coco", "pyproject.toml", "--edition", "VOC2007", "--output", "r.tar.gz"), "needs --competition"),
    ],
)
def test_misuse(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert message in err


def test_an_unknown_competition_names_those_there_are(
    tmp_path: Path, options: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.json").write_text("[]")
    status, _, err = run(
        capsys, "coco", tmp_path / "in.json", *options, "--competition", "comp1", "--output", tmp_path / "r.zip"
    )
    assert status == 1
    assert "comp3, comp4" in err
