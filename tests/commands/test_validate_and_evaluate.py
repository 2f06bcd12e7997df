"""`vocboard validate` and `vocboard evaluate`: exit statuses, JSON and text."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from PIL import Image

from tests.commands.board import Run
from tests.evaluator.uploads import directory, image_sets, tar
from tests.support.golden import golden, golden_truth
from tests.support.unpacking import unpack
from vocboard.commands.main import main
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.problem_catalogue import CATALOGUE
from vocboard.evaluator.reading.completeness import classes_not_entered
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.viewing.marks import Mark

VALID = {"results/VOC2012/Main/comp3_det_test_car.txt": "000001 1 1 1 2 2\n"}
WRONG = {"comp3_det_test_car.txt": "000001 1 1 1 2\n\n000009 NaN 1 1 2 2\n", "comp3_det_test_dog.txt": "x\n"}


@pytest.fixture
def public(tmp_path: Path) -> Path:
    (tmp_path / "image-sets.json").write_text(image_sets().to_json())
    return tmp_path / "image-sets.json"


class TestValidate:
    def test_valid_results_exit_0(self, tmp_path: Path, public: Path, run: Run) -> None:
        upload = tar(tmp_path / "a.tgz", VALID)
        status, out, _ = run("validate", "VOC2012", upload, "--image-sets", public)
        assert status == 0
        assert "comp3" in out
        assert out.endswith("Valid.\n")

    @pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="tells threads as Linux does")
    def test_starts_no_threads_and_imports_little_for_a_small_archive(self, tmp_path: Path) -> None:
        upload = tar(tmp_path / "a.tgz", VALID)
        program = (
            "import os, sys; from vocboard.commands.main import main; main(sys.argv[1:]); "
            "print(len(os.listdir('/proc/self/task')), "
            "{'PIL', 'importlib.metadata', 'logging', 'pyarrow'} & sys.modules.keys())"
        )
        command = [sys.executable, "-c", program, "validate", "VOC2012", str(upload)]
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environment["VOCBOARD_EXTENSIONS"] = "*"  # as the program sets it
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.splitlines()[-1] == "1 set()"

    def test_problems_exit_1_and_are_grouped_by_cause(self, tmp_path: Path, public: Path, run: Run) -> None:
        upload = directory(tmp_path / "upload", WRONG)
        status, out, _ = run("validate", "VOC2012", upload, "--image-sets", public)
        assert status == 1
        assert out.startswith("error: ")
        assert "comp3_det_test_car.txt, line 3" in out
        assert out.endswith("Not valid: 4 errors in 2 files.\n")

    @pytest.mark.usefixtures("own_settings")
    def test_every_code_is_explained_offline_or_by_the_server(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
    ) -> None:
        upload = directory(tmp_path / "upload", WRONG)
        _, out, _ = run("validate", "VOC2012", upload)
        commands = re.findall(r"^  See `vocboard (explain \w+)`$", out, re.M)
        assert commands == [f"explain {code}" for code in re.findall(r"\[(\w+)\]$", out, re.M)]
        for command in commands:
            status, explained, _ = run(*command.split())
            assert status == 0
            assert explained.startswith("error: ")
        monkeypatch.setenv("VOCBOARD_SERVER", "voc.example.org")
        _, out, _ = run("validate", "VOC2012", upload)
        pages = re.findall(r"^  See https://voc.example.org/docs/problems#(\w+)$", out, re.M)
        assert [f"explain {code}" for code in pages] == commands

    @pytest.mark.usefixtures("own_settings")
    def test_explanations_have_the_messages_of_the_page(self, run: Run) -> None:
        _, out, _ = run("explain", "--json")
        explained = {each["code"]: each for each in json.loads(out)["problems"]}
        assert set(explained) == set(CATALOGUE)
        assert all(each["message"] for each in explained.values())
        assert explained["unsafe_name"]["message"].startswith("The name leads upwards: ")
        status, _, error = run("explain", "bx_missing")
        assert status == 2
        assert "did you mean box_missing" in error

    def test_json_is_the_same_list_as_the_servers(self, tmp_path: Path, public: Path, run: Run) -> None:
        upload = tar(tmp_path / "a.tgz", WRONG)
        status, out, _ = run("validate", "VOC2012", upload, "--image-sets", public, "--json")
        document = json.loads(out)
        expected = read_results(upload, load("VOC2012"), image_sets())
        assert status == 1
        assert document == {
            "edition": "VOC2012",
            "valid": False,
            "competitions": {},
            "not_entered": {
                key: list(names) for key, names in classes_not_entered(expected.entered, load("VOC2012")).items()
            },
            "needs_accept_warnings": False,
            "problems": [problem.as_json() for problem in expected.problems],
            "groups": [group.as_json() for group in expected.groups],
        }

    def test_json_contains_what_was_entered(self, tmp_path: Path, run: Run) -> None:
        status, out, _ = run("validate", "VOC2012", directory(tmp_path, VALID), "--json")
        assert status == 0
        assert json.loads(out)["competitions"] == {"comp3": {"task": "detection", "classes": ["car"]}}

    def test_names_missing_classes_and_results_that_seem_wrong(self, tmp_path: Path, public: Path, run: Run) -> None:
        boxes = "000001 0.9 0.1 0.1 0.5 0.5\n" * 5
        upload = directory(tmp_path / "upload", {"comp3_det_test_car.txt": boxes})
        status, out, _ = run("validate", "VOC2012", upload, "--image-sets", public)
        first, *_ = out[out.index("warning: ") :].split("\n\n")
        assert status == 0
        assert "seem to be fractions of the image" in " ".join(first.split())
        assert "vocboard convert" in first
        assert "19 of the 20 classes of comp3 (aeroplane, bicycle, bird, boat, bottle and 14 more) have no" in out
        assert "The warnings are about 5 of 5 results of comp3. The server asks" in out

    def test_says_that_identifiers_were_not_checked(self, tmp_path: Path, run: Run) -> None:
        _, out, _ = run("validate", "VOC2012", directory(tmp_path, VALID))
        assert "--image-sets" in out

    @pytest.mark.parametrize("name", [pytest.param("voc2007-real", marks=pytest.mark.full), "voc2012-synthetic"])
    def test_golden_results_are_valid_against_their_tree(self, name: str, run: Run) -> None:
        case = golden(name)
        status, _, _ = run("validate", case.edition, case.results, "--image-sets", case.ground_truth)
        assert status == 0


class TestEvaluate:
    def test_json_is_one_object_with_every_competition(self, run: Run) -> None:
        case = golden("voc2012-synthetic")
        status, out, _ = run("evaluate", case.edition, case.results, "--ground-truth", case.ground_truth, "--json")
        document: dict[str, Any] = json.loads(out)
        assert status == 0
        assert document["edition"] == "VOC2012"
        assert set(document["competitions"]) == set(case.expected())
        detection = document["competitions"]["comp3"]
        assert detection["task"] == "detection"
        assert abs(detection["per_class"]["car"] - float(case.expected()["comp3"]["ap"]["car"])) < 1e-12

    def test_text_has_a_row_a_class_and_undefined_scores_as_such(self, run: Run) -> None:
        case = golden("voc2009-synthetic")
        status, out, _ = run("evaluate", case.edition, case.results, "--ground-truth", case.ground_truth)
        assert status == 0
        assert "VOC2009 comp3: detection" in out
        assert "AP, %" in out
        (row,) = re.findall(r"^aeroplane +([\d.]+) ", out.split("comp3: detection")[1], re.M)[:1]
        assert row == f"{100 * float(case.expected()['comp3']['ap']['aeroplane']):.2f}"
        assert "mean" in out

    def test_wrong_results_exit_1_without_scores(self, tmp_path: Path, run: Run) -> None:
        case = golden("voc2012-synthetic")
        upload = directory(tmp_path, WRONG)
        status, out, _ = run("evaluate", "VOC2012", upload, "--ground-truth", case.ground_truth, "--json")
        assert status == 1
        assert json.loads(out)["competitions"] == {}
        assert json.loads(out)["problems"]
        status, out, err = run("evaluate", "VOC2012", upload, "--ground-truth", case.ground_truth, "--csv")
        assert (status, len(out.splitlines())) == (1, 1)
        assert "Not valid: " in err


class TestMisuse:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("validate", "VOC1999", "."), "there are VOC2005"),
            (("validate", "VOC2012", "/nowhere/at-all.tgz"), "/nowhere/at-all.tgz: No such file"),
            (("validate", "VOC2012", ".", "--segmentation-classes", "cars"), "has no class 'cars'"),
            (("validate", "VOC2012", ".", "--image-sets", "pyproject.toml"), "not a tar or zip archive"),
            (("evaluate", "VOC2012", ".", "--ground-truth", "pyproject.toml"), "not a tar or zip archive"),
        ],
    )
    def test_exits_2_with_the_reason_on_standard_error(
        self,
        arguments: tuple[str, ...],
        message: str,
        run: Run,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(Path(__file__).parents[2])
        status, out, err = run(*arguments)
        assert status == 2
        assert out == ""
        assert message in err

    def test_image_sets_of_another_edition(self, public: Path, run: Run) -> None:
        status, _, err = run("validate", "VOC2011", public.parent, "--image-sets", public)
        assert status == 2
        assert "VOC2012, not of VOC2011" in err

    @pytest.mark.parametrize("arguments", [[], ["validate"], ["evaluate", "VOC2012", "."], ["dance"]])
    def test_missing_and_unknown_arguments(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert "usage: vocboard" in capsys.readouterr().err


class TestBootstrap:
    def arguments(self, name: str = "voc2012-synthetic") -> list[object]:
        case = golden(name)
        return ["evaluate", case.edition, case.results, "--ground-truth", case.ground_truth]

    def test_json_has_an_interval_for_every_score(self, run: Run) -> None:
        status, out, _ = run(*self.arguments(), "--bootstrap", 200, "--json")
        assert status == 0
        competitions = json.loads(out)["competitions"]
        for scores in competitions.values():
            found = scores["bootstrap"]
            assert (found["replicates"], found["resampled"], found["level"]) == (200, "images", 0.95)
            assert found["mean"]["low"] <= found["mean"]["high"]
            assert list(found["per_class"]) == list(scores["per_class"])
            assert list(found["secondary"]) == list(scores["secondary"])

    def test_scores_are_the_same_with_and_without(self, run: Run) -> None:
        _, out, _ = run(*self.arguments(), "--json")
        plain = json.loads(out)
        _, out, _ = run(*self.arguments(), "--bootstrap", 100, "--json")
        found = json.loads(out)
        for scores in found["competitions"].values():
            del scores["bootstrap"]
        assert found == plain

    def test_the_same_command_gives_the_same_intervals(self, run: Run) -> None:
        command = [*self.arguments(), "--bootstrap", 100, "--json"]
        assert run(*command) == run(*command)

    def test_the_table_shows_them(self, run: Run) -> None:
        _, out, _ = run(*self.arguments(), "--bootstrap", 100)
        assert "95 % interval" in out
        assert re.search(r"^mean +\d\d\.\d\d  \d\d\.\d\d to \d\d\.\d\d", out, re.M)

    @pytest.mark.parametrize("number", ["99", "10001", "-5", "many", "1e3", ""])
    def test_a_wrong_number_of_replicates_is_a_usage_error(
        self, number: str, capsys: pytest.CaptureFixture[str], run: Run
    ) -> None:
        with pytest.raises(SystemExit) as ended:
            run(*self.arguments(), f"--bootstrap={number}")
        assert ended.value.code == 2
        assert "is not a whole number from 100 to 10,000" in capsys.readouterr().err

    def test_results_with_errors_have_none(self, tmp_path: Path, run: Run) -> None:
        upload = tar(tmp_path / "a.tgz", {"results/VOC2012/Main/comp3_det_test_car.txt": "x\n"})
        command = ["evaluate", "VOC2012", upload, *self.arguments()[3:], "--bootstrap", 100]
        status, out, _ = run(*command)
        assert status == 1
        assert "interval" not in out


class TestDiagnose:
    def test_with_the_bootstrap_all_metrics_of_the_task_have_intervals(self, run: Run) -> None:
        """Also those that the edition does not ask for; the others are those of the bootstrap alone."""
        case = golden("voc2012-synthetic")
        command = ["evaluate", case.edition, case.results, "--ground-truth", case.ground_truth, "--bootstrap", 100]
        _, out, _ = run(*command, "--json")
        plain = json.loads(out)["competitions"]
        status, out, _ = run(*command, "--diagnose", "--json")
        assert status == 0
        for key, scores in json.loads(out)["competitions"].items():
            found = scores["bootstrap"]
            measures = found.pop("measures")
            assert found == plain[key]["bootstrap"]
            definition = TASKS[Task(scores["task"])]
            protocol = load(case.edition).competitions[key].rules.layout_protocol
            expected = {metric.value for metric in definition.secondary_metrics(protocol)}
            assert {scores["metric"], *scores["secondary"], *measures, "calibration_error"} >= expected
            assert all(each["per_class"].keys() == each["scores"]["per_class"].keys() for each in measures.values())
            if scores["task"] == "segmentation":
                near = scores["diagnosis"]["boundary_iou"]
                assert measures["boundary_iou"]["scores"]["per_class"] == near
                assert (
                    measures["frequency_weighted_iou"]["scores"]["mean"]
                    == scores["diagnosis"]["frequency_weighted_iou"]
                )
                assert measures["boundary_iou"]["mean"]["low"] < measures["boundary_iou"]["mean"]["high"]

    def test_json_says_what_the_errors_are_and_what_they_cost(self, run: Run) -> None:
        case = golden("voc2012-synthetic")
        command = ["evaluate", case.edition, case.results, "--ground-truth", case.ground_truth, "--diagnose", "--json"]
        status, out, _ = run(*command)
        assert status == 0
        competitions = json.loads(out)["competitions"]
        [detection] = [each for each in competitions.values() if each["task"] == "detection"]
        found = detection["diagnosis"]
        assert found["errors"]["score"] == detection["mean"]
        assert set(found["errors"]["gain"]) == {
            *("location", "class", "duplicate", "background", "both", "missed", "false_positives", "false_negatives")
        }
        assert list(found["measures"]) == list(detection["per_class"])
        for name, score in detection["per_class"].items():
            measures = found["measures"][name]
            assert measures["average_precision_by_overlap"]["0.5"] == score
            objects = [
                sum(part["objects"] for part in measures[by].values()) for by in measures if by.startswith("by_")
            ]
            assert objects == [detection["details"][name]["positives"]] * 5
        [segmentation] = [each for each in competitions.values() if each["task"] == "segmentation"]
        assert 0 < segmentation["diagnosis"]["pixel_accuracy"] <= 1
        assert "near_boundaries" in segmentation["diagnosis"]
        assert all("diagnosis" in each for each in competitions.values())

    def test_the_report_shows_intervals_and_the_worst_errors_as_crops(self, run: Run, tmp_path: Path) -> None:
        case = golden("voc2012-synthetic")
        unpack(case.ground_truth, tmp_path / "kit")
        pictures = tmp_path / "kit" / "VOC2012" / "JPEGImages"
        pictures.mkdir()
        listed = golden_truth("voc2012-synthetic").image_sets.sets[Task.DETECTION, "test"]
        for image in listed.images[1:]:  # a picture that is missing does no harm
            Image.new("RGB", (50, 40)).save(pictures / f"{image}.jpg")
        command = ["evaluate", case.edition, case.results, "--ground-truth", tmp_path / "kit", "--diagnose"]
        report = tmp_path / "reports" / "report"
        status, out, _ = run(*command, "--bootstrap", "100", "--report", report)
        assert status == 0
        assert "Open " in out
        page = (report / "index.html").read_text()
        assert page.count("95 % interval") > 7
        assert re.search(r"Without void, [\d.]+ % of the pixels are right", page)
        for kind in ("Poor localisation", "Another class", "Duplicate", "Background", "Missed"):
            assert f"<h4>{kind}</h4>" in page
        addresses = {unquote(each) for each in re.findall(r'<image href="([^"]+)"', page)}
        assert addresses
        assert all((report / address).resolve().is_file() for address in addresses)
        script = (report / "view" / "data.js").read_text()
        data = json.loads(script.removeprefix("window.VOCBOARD=").removesuffix(";\n"))
        results = {each["key"]: each for each in data["competitions"]}
        linked = re.findall(r'href="view/index\.html#([^/"]+)/(\w+)/(\d+)"', page)
        assert linked
        for image, key, result in linked:
            assert data["images"][results[key]["image"][int(result)]] == image
            assert results[key]["mark"][int(result)] not in {Mark.CORRECT, Mark.IGNORED}
        told = re.findall(r"<b>(\w+)</b>[^<]*?rank \d+, shows (\w+)", page)
        assert told
        assert all(name != shown for name, shown in told)

    def test_the_report_says_why_there_are_no_crops(self, run: Run, tmp_path: Path) -> None:
        case = golden("voc2012-synthetic")
        command = ["evaluate", case.edition, case.results, "--ground-truth", case.ground_truth, "--diagnose"]
        status, _, _ = run(*command, "--report", tmp_path / "report")
        assert status == 0
        page = (tmp_path / "report" / "index.html").read_text()
        assert "There are no crops, because the tree has none of these images" in page
        assert "<image" not in page
        assert "95 % interval" not in page

    def test_needs_json_or_a_report(self, run: Run) -> None:
        case = golden("voc2012-synthetic")
        status, _, error = run(
            "evaluate", case.edition, case.results, "--ground-truth", case.ground_truth, "--diagnose"
        )
        assert status == 2
        assert "--diagnose adds to JSON and to reports; give --json or --report as well" in error
