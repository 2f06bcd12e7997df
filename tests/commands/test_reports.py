"""`vocboard evaluate --report, --curves, --csv, --latex`."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from tests.commands.board import Run
from tests.support.golden import GoldenCase, golden
from tests.support.image import RUN
from vocboard.commands.main import main
from vocboard.evaluator.editions import source
from vocboard.evaluator.reports.curves import f_measure
from vocboard.evaluator.scores import Curve


@pytest.fixture
def case() -> GoldenCase:
    return golden("voc2012-synthetic")


@pytest.fixture
def evaluated(case: GoldenCase, run: Run) -> Callable[..., str]:
    def evaluate(*options: object) -> str:
        status, out, _ = run("evaluate", case.edition, case.results, "--ground-truth", case.ground_truth, *options)
        assert status == 0
        return out

    return evaluate


def test_csv_has_every_score_at_full_precision(evaluated: Callable[..., str]) -> None:
    rows = list(csv.DictReader(io.StringIO(evaluated("--csv"))))
    document = json.loads(evaluated("--json"))["competitions"]
    for key, scores in document.items():
        of_metric = [row for row in rows if (row["competition"], row["metric"]) == (key, scores["metric"])]
        found = {row["class"]: float(row["score"]) if row["score"] else None for row in of_metric}
        assert found.pop("mean") == scores["mean"]
        assert found == scores["per_class"]


@pytest.mark.parametrize("ranks", ["average_precision", "average_precision_with_difficult"])
def test_csv_has_the_positives_of_each_metric(run: Run, tmp_path: Path, ranks: str) -> None:
    before, detection, after = source("VOC2012").replace('"VOC2012"', '"Own"').partition("[tasks.detection]")
    [other] = {"average_precision", "average_precision_with_difficult"} - {ranks}
    more = after.replace('"average_precision"', f'"{ranks}"', 1)
    more = more.replace(
        '"average_precision_with_difficult"]', f'"normalised_average_precision_truncated", "{other}"]', 1
    )
    (tmp_path / "own.toml").write_text(before + detection + more)
    assert run("new-edition", "--edition-file", tmp_path / "own.toml", "--output", tmp_path / "new")[0] == 0
    command = ("evaluate", tmp_path / "own.toml", tmp_path / "new/results.tar.gz", "--ground-truth", tmp_path / "new")
    scores = json.loads(run(*command, "--json")[1])["competitions"]["comp3"]
    positives = {name: str(details["positives"]) for name, details in scores["details"].items()}
    found: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(io.StringIO(run(*command, "--csv")[1])):
        if row["competition"] == "comp3" and row["class"] != "mean":
            found.setdefault(row["metric"], {})[row["class"]] = row["positives"]
    assert found.pop(ranks) == positives
    assert found.pop(other) == dict.fromkeys(positives, "")
    [(metric, objects)] = found.items()
    assert objects == {name: str(number) for name, number in scores["secondary"][metric]["objects"].items()}
    assert objects != positives


def test_latex_has_a_row_a_competition_and_escapes_names(evaluated: Callable[..., str]) -> None:
    out = evaluated("--latex")
    mean = json.loads(evaluated("--json"))["competitions"]["comp3"]["mean"]
    [row] = [line for line in out.splitlines() if line.startswith("comp3 detection & ")]
    assert row.endswith(rf"& {100 * mean:.1f} \\")
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}")


def test_curves_are_exact(evaluated: Callable[..., str], tmp_path: Path) -> None:
    details = json.loads(evaluated("--json", "--curves", tmp_path / "curves"))["competitions"]["comp3"]["details"]
    document = json.loads((tmp_path / "curves" / "curves.json").read_text())["test"]["comp3"]
    for name, curve in document.items():
        assert len(curve["recall"]) == details[name]["results"]
        if curve["recall"]:
            assert curve["recall"][-1] == details[name]["final_recall"]
            assert curve["precision"][-1] == details[name]["final_precision"]
        svg = etree.fromstring((tmp_path / "curves" / "test" / "comp3" / f"{name}.svg").read_bytes())
        labels = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        assert {"recall, %", "precision, %"} < set(labels)
        assert str(labels[0]).startswith(f"{name}, comp3")
        text = (tmp_path / "curves" / "test" / "comp3" / f"{name}.csv").read_text()
        lines = list(csv.DictReader(io.StringIO(text)))
        assert [float(x["recall"]) if x["recall"] else None for x in lines] == curve["recall"]


def test_the_report_has_all_competitions_and_nothing_from_elsewhere(
    evaluated: Callable[..., str], tmp_path: Path
) -> None:
    assert f"Open {tmp_path / 'report' / 'index.html'} in a browser." in evaluated("--report", tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text()
    for heading in (
        "comp1: classification",
        "comp3: detection",
        "comp5: segmentation",
        "comp7: person layout",
        "comp9: action",
    ):
        assert heading in page
    assert "Confusion matrix" in page
    assert "F-measure over recall" in page
    layouts = page[page.index("comp7: person layout") :]
    assert "AP, whole person" not in layouts  # has no score of a type of part, so the table has no column for it
    assert "Average precision of whole people" in layouts
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_files_are_in_utf_8_whatever_the_locale(case: GoldenCase, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(source("VOC2007").replace("PASCAL", "«PASCAL»"), encoding="utf-8")
    (tmp_path / "in.json").write_text(json.dumps({
        "images": [{"id": 1, "file_name": "a.jpg"}], "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5], "view": "«side»"}],
    }))  # fmt: skip
    results, truth = str(case.results), str(case.ground_truth)
    commands = (
        ("evaluate", case.edition, results, "--ground-truth", truth, "--report", "r", "--curves", "c"),
        ("new-edition", "--edition-file", "own.toml", "--output", "new"),
        ("convert", "coco-ground-truth", "in.json", "--edition", "VOC2007", "--output", "tree"),
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(commands).encode(),
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
    )
    assert "<td>–</td>" in (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert "«PASCAL»" in (tmp_path / "new" / "own.toml").read_text(encoding="utf-8")
    assert "«side»" in (tmp_path / "tree" / "VOC2007" / "Annotations" / "a.xml").read_text(encoding="utf-8")


def test_what_is_there_already_is_not_overwritten(
    case: GoldenCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    arguments = ["evaluate", case.edition, str(case.results), "--ground-truth", str(case.ground_truth)]
    assert main([*arguments, "--report", str(tmp_path)]) == 2
    assert "was not written by this command" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_without_scores_there_is_no_report_and_another_years_tree_is_named(
    case: GoldenCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "results.tar.gz"
    damaged.write_bytes(case.results.read_bytes()[:500])
    arguments = [str(damaged), "--ground-truth", str(case.ground_truth), "--report", str(tmp_path / "report")]
    assert main(["evaluate", case.edition, *arguments]) == 1
    printed = capsys.readouterr()
    assert "[damaged_archive]" in printed.out
    assert "Open " not in printed.out
    assert "nothing was scored, so no report" in printed.err
    assert main(["evaluate", "VOC2007", *arguments]) == 2
    assert f"this is a tree of {case.edition}, not of VOC2007" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["results.tar.gz"]


def test_f_measure_is_the_harmonic_mean() -> None:
    curve = Curve(np.array([0.0, 0.5, 1.0, np.nan]), np.array([np.nan, 1.0, 0.5, 1.0]))
    assert np.isnan(f_measure(curve)[[0, 3]]).all()
    assert f_measure(curve)[1:3].tolist() == pytest.approx([2 / 3, 2 / 3])
