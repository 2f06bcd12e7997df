"""`vocboard convert` on the command line."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.commands.board import Run
from tests.evaluator.conversion import kit
from vocboard.commands.main import main


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "convert")


@pytest.fixture
def options(tmp_path: Path) -> tuple[object, ...]:
    kit.tree(tmp_path)
    return ("--edition", "VOC2007", "--competition", "comp4", "--image-sets", tmp_path)


def test_coco_detections_become_an_archive_that_is_valid(tmp_path: Path, options: tuple[object, ...], run: Run) -> None:
    rows = [{"image_id": 1, "category_id": 7, "bbox": [9, 19, 101, 121], "score": 0.9}]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    status, out, _ = run("coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 0
    assert "1 detection of 1 class" in out
    assert main(["validate", "VOC2007", str(tmp_path / "r.tar.gz"), "--image-sets", str(tmp_path)]) == 0
    status, _, _ = run("huggingface", tmp_path / "r.tar.gz", *options, "--reverse", "--output", tmp_path / "out.json")
    assert status == 0
    assert json.loads((tmp_path / "out.json").read_text())["000001"] == [
        {"score": 0.9, "label": "car", "box": {"xmin": 9, "ymin": 19, "xmax": 110, "ymax": 140}}
    ]


def test_names_without_numbers_begin_with_the_first_number_of_the_input(
    tmp_path: Path, options: tuple[object, ...], run: Run
) -> None:
    rows = [{"image_id": 1, "category_id": 1, "bbox": [9, 19, 101, 121], "score": 0.9}]
    (tmp_path / "predictions.json").write_text(json.dumps(rows))
    (tmp_path / "names.txt").write_text("car\ndog\n")
    result, names = tmp_path / "r.tar.gz", ("--categories", tmp_path / "names.txt")
    assert run("ultralytics", tmp_path / "predictions.json", *options, *names, "--output", result)[0] == 0
    status, _, _ = run("ultralytics", result, *options, *names, "--reverse", "--output", tmp_path / "out.json")
    assert (status, json.loads((tmp_path / "out.json").read_text())) == (0, rows)
    (tmp_path / "by_image.json").write_text(
        json.dumps({"000001": [{"class": 0, "confidence": 0.9, "box": {"x1": 9, "y1": 19, "x2": 110, "y2": 140}}]})
    )
    assert run("ultralytics", tmp_path / "by_image.json", *options, *names, "--output", tmp_path / "s.tar.gz")[0] == 0
    assert (tmp_path / "s.tar.gz").read_bytes() == result.read_bytes()


def test_problems_exit_1_and_write_nothing(tmp_path: Path, options: tuple[object, ...], run: Run) -> None:
    (tmp_path / "in.json").write_text(
        json.dumps([{"image_id": 99, "category_id": 70, "bbox": [1, 1, 1, 1], "score": 1}])
    )
    status, out, err = run("coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 1
    assert out == ""
    assert "--images" in err
    assert "--categories" in err
    assert "Nothing was written: 2 errors." in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["VOC2007", "in.json"]


def test_an_interrupted_conversion_leaves_nothing(
    tmp_path: Path, options: tuple[object, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.json").write_text(json.dumps([{"image_id": 1, "category_id": 7, "bbox": [1, 1, 9, 9], "score": 1}]))

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "vocboard.evaluator.conversion.result_archive.read_results", interrupt
    )  # when the archive is written
    status, _, err = run("coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 130
    assert err.endswith("vocboard: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["VOC2007", "in.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("colour-map", "0", "--output", "map.txt"), "1 to 256 colours"),
        (("colour-map", "many", "--output", "map.txt"), "number of colours"),
        (("coco", "nowhere.json", "--edition", "VOC2007", "--output", "r.tar.gz"), "nowhere.json: No such file"),
        (("coco", "pyproject.toml", "--output", "r.tar.gz"), "needs --edition"),
        (("coco", "in.json", "--confidence", "0.5", "--output", "r.tar.gz"), "coco does not use --confidence"),
        (("coco", "pyproject.toml", "--edition", "VOC2007", "--output", "r.tar.gz"), "needs --competition"),
    ],
)
def test_misuse(arguments: tuple[str, ...], message: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    status, _, err = run(*arguments)
    assert status == 2
    assert message in err


def test_an_unknown_competition_names_those_there_are(tmp_path: Path, options: tuple[object, ...], run: Run) -> None:
    (tmp_path / "in.json").write_text("[]")
    status, _, err = run(
        "coco", tmp_path / "in.json", *options, "--competition", "comp1", "--output", tmp_path / "r.zip"
    )
    assert status == 1
    assert "It has comp3, comp4." in " ".join(err.split())


def on_one_line(run: Run, *arguments: object) -> tuple[int, str, str]:
    """Run the command; its messages are not broken into lines."""
    status, out, err = run(*arguments)
    return status, out, " ".join(err.split())


COCO_ROW = {"image_id": 1, "category_id": 7, "bbox": [9, 19, 30, 30], "score": 0.9}


def test_result_files_without_reverse_are_told_to_add_it(tmp_path: Path, options: tuple[object, ...], run: Run) -> None:
    (tmp_path / "in.json").write_text(json.dumps([COCO_ROW]))
    results, output = tmp_path / "r.tar.gz", ("--output", tmp_path / "s.tar.gz")
    assert run("coco", tmp_path / "in.json", *options, "--output", results)[0] == 0
    for form in ("coco", "yolo"):
        assert f"to convert them to {form}, add --reverse." in on_one_line(run, form, results, *options, *output)[2]
    _, _, err = on_one_line(run, "coco", results, *options, "--output", tmp_path / "out.json")
    assert ".zip; to convert result files to coco, add --reverse" in err


def test_a_pipe_has_the_problems_of_its_content(tmp_path: Path, options: tuple[object, ...], run: Run) -> None:
    ends = os.pipe()
    os.write(ends[1], b"[7]" + b" " * 512)
    os.close(ends[1])
    status, _, err = run("coco", f"/dev/fd/{ends[0]}", *options, "--output", tmp_path / "r.tar.gz")
    os.close(ends[0])
    assert (status, err.splitlines()[-1]) == (1, "Nothing was written: 1 error.")


def test_label_files_of_windows_are_read_and_decimal_commas_are_named(
    tmp_path: Path, options: tuple[object, ...], run: Run
) -> None:
    lines = "6 0.5 0.5 0.25 0.25 0.9\r\n7 0.5 0.5 0.25 0.25 0.8\r\n"
    archives = []
    for name, encoding in (("unix", "utf-8"), ("mark", "utf-8-sig"), ("powershell", "utf-16")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "000001.txt").write_bytes(lines.encode(encoding))
        archives.append(tmp_path / f"{name}.tar")
        assert run("yolo", tmp_path / name, *options, "--output", archives[-1])[0] == 0
    assert len({archive.read_bytes() for archive in archives}) == 1
    for content, expected in (
        (lines.replace(".", ","), "Lines with decimal commas; 2 lines, the first here. Write decimal points"),
        ("6;0.5;0.5\n", "<height> <confidence>, such as '6;0.5;0.5'. Fix them"),
    ):
        (tmp_path / "unix/000001.txt").write_text(content)
        status, _, err = on_one_line(run, "yolo", tmp_path / "unix", *options, "--output", tmp_path / "r.tar.gz")
        assert status == 1
        assert expected in err


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as Unix does")
def test_an_output_that_cannot_be_written_is_named_and_nothing_is_left(
    tmp_path: Path, options: tuple[object, ...]
) -> None:
    many = [COCO_ROW | {"score": place / 5000} for place in range(5000)]
    (tmp_path / "in.json").write_text(json.dumps(many))
    output = tmp_path / "r.tar"
    program = [str(Path(sys.executable).with_name("vocboard")), "convert", "coco", str(tmp_path / "in.json")]
    command = [*program, *map(str, options), "--output"]
    limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "bash"]
    for wanted, before in ((output, limited), (tmp_path / "nowhere/r.tar", [])):
        done = subprocess.run([*before, *command, str(wanted)], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith(f"vocboard: {wanted}: ")
        assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["VOC2007", "in.json"]


def test_missing_images_are_listed_with_what_that_means(tmp_path: Path, options: tuple[object, ...], run: Run) -> None:
    source = tmp_path / "in.json"
    source.write_text(json.dumps({"000001": {"boxes": [[9, 9, 30, 30]], "labels": [7], "scores": [1]}}))
    status, _, err = on_one_line(run, "torchvision", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 0
    assert "000002, 000003, 000005, 000008, 000013" in err
    assert "count as images without detections" in err


def test_a_few_upside_down_boxes_are_kept_as_the_kits_score_them(
    tmp_path: Path, options: tuple[object, ...], run: Run
) -> None:
    rows = [COCO_ROW, COCO_ROW, COCO_ROW | {"bbox": [90, 80, -70, -60]}]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    status, _, err = on_one_line(run, "coco", tmp_path / "in.json", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 0
    assert "as the kits score them" in err
    assert "in record 3" in err
    back = tmp_path / "back.json"
    assert run("coco", tmp_path / "r.tar.gz", *options, "--reverse", "--output", back)[0] == 0
    assert [row["bbox"] for row in json.loads(back.read_text())] == [row["bbox"] for row in rows]


def test_a_tree_without_sizes_cannot_take_fractions(tmp_path: Path, run: Run) -> None:
    (tmp_path / "VOC2007/ImageSets/Main").mkdir(parents=True)
    (tmp_path / "VOC2007/ImageSets/Main/test.txt").write_text("000001\n")
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels/000001.txt").write_text("6 0.5 0.5 0.1 0.1 0.9\n")
    options = ("--edition", "VOC2007", "--competition", "comp4", "--image-sets", tmp_path)
    status, _, err = on_one_line(run, "yolo", tmp_path / "labels", *options, "--output", tmp_path / "r.tar.gz")
    assert status == 1
    assert "does not say how large its images are" in err
    assert "JPEGImages/" in err
