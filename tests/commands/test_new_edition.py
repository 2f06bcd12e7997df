"""`vocboard new-edition` and `vocboard example`: a custom challenge that works immediately."""

import io
import json
from pathlib import Path

import pytest

from tests.commands.board import Run
from vocboard.evaluator.editions import Task, read_text, source
from vocboard.evaluator.examples.run import METHODS
from vocboard.evaluator.new_edition import Answers, edition_text, write_sample_tree
from vocboard.evaluator.tasks.detection.subsets import SUBSETS


def test_empty_answers_make_a_challenge_that_runs(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("MYROADS\n\n\n\n\n\n"))
    status, out, err = run("new-edition", "--output", tmp_path / "mine")
    assert status == 0
    assert "Short name" in err
    assert "vocboard evaluate" in out
    file, results = tmp_path / "mine" / "myroads.toml", tmp_path / "mine" / "results.tar.gz"
    assert run("validate", file, results, "--image-sets", tmp_path / "mine")[0] == 0
    assert run("check", tmp_path / "mine", "--edition", file)[0] == 0
    assert run("check-edition", file)[1].startswith("Valid: MYROADS, ")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(file.read_text().replace("title =", "titel ="))
    status, out, _ = run("check-edition", wrong)
    assert (status, "wrong.toml:2: titel: no such key. Did you mean title?" in out) == (1, True)
    assert [error["line"] for error in json.loads(run("check-edition", wrong, "--json")[1])["errors"]] == [None, 2]
    assert run("check-edition", tmp_path / "none.toml")[0] == 2
    assert json.loads(run("schema", "edition")[1])["properties"]["title"]["maxLength"] == 200
    code = json.loads(run("schema", "problem")[1])["properties"]["code"]["oneOf"][0]
    assert run("explain", code["const"])[0] == 0
    status, out, _ = run("evaluate", file, results, "--ground-truth", tmp_path / "mine", "--json")
    assert status == 0
    assert json.loads(out)["competitions"]["comp1"]["mean"] > 0.1


EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "editions" / "examples").glob("*.toml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=[file.stem for file in EXAMPLES])
def test_an_edition_file_gets_its_samples_without_questions(file: Path, tmp_path: Path, run: Run) -> None:
    status, _, err = run("new-edition", "--edition-file", file, "--output", tmp_path / "samples")
    assert status == 0
    assert "Short name" not in err
    samples = tmp_path / "samples"
    assert (samples / file.name).read_text() == file.read_text()
    assert run("evaluate", file, samples / "results.tar.gz", "--ground-truth", samples)[0] == 0


def test_samples_of_an_edition_with_other_annotations_are_refused(tmp_path: Path, run: Run) -> None:
    (tmp_path / "old.toml").write_text(source("VOC2006"))
    status, _, err = run("new-edition", "--edition-file", tmp_path / "old.toml", "--output", tmp_path / "samples")
    assert (status, "samples have annotations in XML, the edition in pascal-text" in err) == (2, True)


def test_every_task_and_the_example_command_on_the_sample_tree(tmp_path: Path, run: Run) -> None:
    answers = {
        "name": "ALL2026",
        "title": "All tasks \N{AUTOMOBILE}",
        "tasks": "classification, detection, segmentation, layout, action, instance_segmentation",
        "classes": "car, person, truck",
        "parts": "head, foot",
        "actions": "walking, riding",
        "overlap": "0.4",
        "by": "area, size, shape, truncation, occlusion, view",
        "image-set": "hidden",
    }
    options = [text for name, answer in answers.items() for text in (f"--{name}", answer)]
    status, out, err = run("new-edition", "--output", tmp_path / "mine", *options)
    assert status == 0, err
    assert "train, val and hidden" in out
    file = tmp_path / "mine" / "all2026.toml"
    truth = ("--ground-truth", tmp_path / "mine")
    status, out, _ = run("evaluate", file, tmp_path / "mine" / "results.tar.gz", *truth, "--json")
    assert status == 0
    scored = json.loads(out)["competitions"]
    assert [each["task"] for each in scored.values()] == answers["tasks"].split(", ")
    by_subset = {name: each for name, each in scored["comp2"]["secondary"].items() if "objects" in each}
    assert set(by_subset) == set(SUBSETS)
    assert all(sum(each["objects"].values()) for name, each in by_subset.items() if "50_95" not in name)
    results = tmp_path / "example.zip"
    status, out, _ = run("example", "action", tmp_path / "mine", "--edition", file, "--output", results)
    assert status == 0
    assert "vocboard evaluate" in out
    assert run("evaluate", file, results, *truth, "--image-set", "val")[0] == 0


def test_a_sample_tree_of_more_names_than_colours(tmp_path: Path) -> None:
    classes = ", ".join(f"c{number}" for number in range(254))
    answers = Answers("A", "t", "layout", classes, "0.5", "test", lists={"parts": "head, hand, foot"})
    assert write_sample_tree(read_text(edition_text(answers), "a.toml"), tmp_path).is_dir()


def test_wrong_answers_are_reported_and_nothing_is_written(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [
        "--name",
        "9",
        "--title",
        "t",
        "--tasks",
        "action",
        "--actions",
        "walking",
        "--classes",
        "",
        "--overlap",
        "1",
    ]
    status, _, err = run("new-edition", "--output", tmp_path / "mine", *options, "--image-set", "test")
    assert status == 2
    assert "these answers do not give a valid edition" in err
    options = ["--name", "A", "--title", "t", "--tasks", "detection", "--classes", "car", "--overlap", "0.5"]
    status, _, err = run("new-edition", "--output", tmp_path / "mine", *options, "--by", "size, colour")
    assert status == 2
    assert "'colour' is not one of area, size, shape" in err
    for answer, said in (
        (("--tasks", "detection layout"), "'detection layout' is not one of classification,"),
        (("--overlap", "half"), "'half' is not a number from 0 to 1"),
        (("--overlap", "nan"), "'nan' is not a number from 0 to 1"),
        (
            ("--classes", "car, Mean", "--image-set", "test"),
            "Rename Mean: leaderboards have other columns of this name.",
        ),
    ):
        status, _, err = run("new-edition", "--output", tmp_path / "mine", *options, "--by", "none", *answer)
        assert (status, said in err, "TOML" in err) == (2, True, False)
    monkeypatch.delitem(METHODS, Task.DETECTION)  # as the task of an extension may lack one
    status, _, err = run("new-edition", "--output", tmp_path / "mine", *options, "--by", "none", "--image-set", "test")
    assert (status, "no samples can be drawn: detection has no example method" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_an_example_without_its_sets_says_which_there_are(tmp_path: Path, run: Run) -> None:
    (tmp_path / "VOC2007" / "ImageSets" / "Main").mkdir(parents=True)
    (tmp_path / "VOC2007" / "ImageSets" / "Main" / "test.txt").write_text("000001\n")
    status, _, err = run("example", "detection", tmp_path, "--output", tmp_path / "r.tar.gz")
    assert status == 2
    assert "It has test (Main)" in err
