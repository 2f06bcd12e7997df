"""`vocboard compare`: methods on the same test images."""

import argparse
import csv
import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.commands.board import Run
from tests.evaluator.uploads import tar
from tests.support.golden import golden
from vocboard.commands import compare as compare_command
from vocboard.commands import evaluate as evaluate_command
from vocboard.commands import leaderboard
from vocboard.evaluator.statistics import comparison

CASE = golden("voc2012-synthetic")


@pytest.fixture
def compare(run: Run) -> Run:
    return partial(run, "compare", CASE.edition, "--ground-truth", CASE.ground_truth)


@pytest.fixture
def evaluate(run: Run) -> Run:
    return partial(run, "evaluate", CASE.edition, "--ground-truth", CASE.ground_truth)


@pytest.fixture
def worse(tmp_path: Path) -> Path:
    """Return detections that find nothing, of all classes that the better method has."""
    edition_classes = json_of(CASE.results)
    files = {f"results/VOC2012/Main/comp3_det_test_{name}.txt": "" for name in edition_classes}
    return tar(tmp_path / "worse.tar.gz", files)


def json_of(results: Path) -> list[str]:
    expected: dict[str, Any] = CASE.expected()
    return list(expected["comp3"]["ap"])


def test_a_method_that_finds_nothing_is_significantly_worse(worse: Path, compare: Run) -> None:
    status, out, _ = compare(CASE.results, worse, "--competition", "comp3", "--class", "person", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["methods"] == ["results", "worse"]
    assert found["first_group"] == ["results"]
    assert found["rank_ranges"] == {"results": [1, 1], "worse": [2, 2]}
    [pair] = found["differences"]
    assert pair["significant"]
    assert pair["difference"] == found["scores"]["results"]["score"]


def test_a_difference_that_fewer_than_ten_images_determine_is_not_significant(worse: Path, compare: Run) -> None:
    """However large it is, as on leaderboards."""
    status, out, _ = compare(CASE.results, worse, "--competition", "comp3", "--class", "car", "--json")
    assert status == 0
    found = json.loads(out)
    [pair] = found["differences"]
    assert pair["difference"] > 0.1
    assert (pair["low"], pair["high"], pair["p_value"], pair["significant"]) == (None, None, 1.0, False)
    assert found["rank_ranges"] == {"results": [1, 2], "worse": [1, 2]}
    _, out, _ = compare(CASE.results, worse, "--competition", "comp3", "--class", "car")
    assert "fewer than 10 images count" in out
    assert "nan" not in out


@pytest.mark.parametrize("options", [(), ("--class", "person")])
def test_scores_that_too_few_replicates_define_are_a_usage_error(
    options: tuple[str, ...], compare: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "MIN_REPLICATES", 1_001)  # of 1,000: a class that each method has elsewhere is rare
    status, _, err = compare(CASE.results, f"again={CASE.results}", "--competition", "comp3", *options)
    assert status == 2
    assert "too few images define these scores" in err


def test_a_method_does_not_differ_from_itself(compare: Run) -> None:
    again = f"again={CASE.results}"
    status, out, _ = compare(CASE.results, again, "--competition", "comp3")
    assert status == 0
    assert out.startswith("VOC2012 comp3: Average precision, mean\n")
    assert "1 to 2" in out
    assert "not significant" in out
    status, out, _ = compare(CASE.results, again, "--competition", "comp5", "--class", "background", "--json")
    assert json.loads(out)["first_group"] == ["results", "again"]


def test_evaluate_compares_several_methods_as_compare_does(
    worse: Path, tmp_path: Path, compare: Run, evaluate: Run
) -> None:
    given = [CASE.results, worse, f"again={CASE.results}"]
    report = tmp_path / "report"
    status, out, _ = evaluate(*given, "--bootstrap", 1000, "--json", "--report", report)
    assert status == 0
    document = json.loads(out)
    assert list(document["methods"]) == ["results", "worse", "again"]
    _, out, _ = evaluate(CASE.results, "--bootstrap", 1000, "--json")
    assert document["methods"]["results"] == document["methods"]["again"] == json.loads(out)
    assert set(document["comparisons"]) == {"comp1", "comp3", "comp5", "comp7", "comp9"}
    found = document["comparisons"]["comp3"]["metrics"]["average_precision"]
    choices: list[list[str]] = [[], ["--class", "car"]]
    for choice, own in zip(choices, (found["mean"], found["per_class"]["car"]), strict=True):
        _, out, _ = compare(*given, "--competition", "comp3", *choice, "--json")
        for pair in own["differences"]:
            assert pair.get("p_value_all_classes", 1.0) >= pair["p_value"]
        assert own == {name: value for name, value in json.loads(out).items() if name in own}
    secondary = document["comparisons"]["comp3"]["metrics"]["average_precision_with_difficult"]["per_class"]["person"]
    assert secondary["rank_ranges"] == {"results": [1, 2], "again": [1, 2], "worse": [3, 3]}
    assert secondary["rank_shares"]["worse"] == [0, 0, 1]
    page = (report / "index.html").read_text()
    assert page.index("comp3: detection") < page.index("results − worse") < page.index("results − worse, points")
    assert "comp3: detection" in (report / "method2" / "index.html").read_text()


def test_evaluate_compares_only_methods_with_the_same_classes(tmp_path: Path, evaluate: Run) -> None:
    (tmp_path / "lr=0.1").mkdir()  # a path, not a name
    few = tar(tmp_path / "lr=0.1" / "few.tar.gz", {"results/VOC2012/Main/comp3_det_test_car.txt": ""})
    status, out, _ = evaluate(CASE.results, few, "--bootstrap", 300, "--json")
    assert status == 0
    assert set(json.loads(out)["comparisons"]) == {"comp3"}
    found = json.loads(out)["comparisons"]["comp3"]["metrics"]["average_precision"]
    assert found["mean"] is None
    assert found["per_class"]["boat"] is None
    assert found["per_class"]["car"]["methods"] == ["results", "few"]


def test_evaluate_says_what_it_cannot_do_with_several_methods(
    worse: Path, tmp_path: Path, compare: Run, evaluate: Run
) -> None:
    assert evaluate(CASE.results, worse, "--curves", tmp_path / "curves") == (
        2,
        "",
        "vocboard: --curves is for the results of one method; give --json or --report for several\n",
    )
    assert compare(CASE.results, worse, "--competition", "comp3", "--across", "--csv")[0] == 2
    assert not (tmp_path / "curves").exists()
    assert "two methods are named 'results'; give NAME=PATH" in evaluate(CASE.results, CASE.results)[2]
    assert evaluate(f"one={CASE.results}")[0] == 0
    wrong = tar(tmp_path / "wrong.tar.gz", {"results/VOC2012/Main/comp3_det_test_car.txt": "x\n"})
    status, out, _ = evaluate(CASE.results, wrong, "--bootstrap", 100)
    assert status == 1
    assert "VOC2012 comp3, results: detection" in out
    assert "comp3_det_test_car.txt" in out


def test_tables_of_several_methods_have_their_intervals(worse: Path, evaluate: Run) -> None:
    bootstrap = ("--bootstrap", 100)
    _, out, _ = evaluate(CASE.results, worse, *bootstrap, "--json")
    document = json.loads(out)["methods"]
    _, out, _ = evaluate(CASE.results, worse, *bootstrap, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) > 100
    for row in rows:
        scores = document[row["method"]]["competitions"][row["competition"]]
        if row["metric"] != scores["metric"]:
            continue
        own = scores["bootstrap"]["mean"] if row["class"] == "mean" else scores["bootstrap"]["per_class"][row["class"]]
        assert [float(row[end]) if row[end] else None for end in ("low", "high")] == [own["low"], own["high"]]
    _, out, _ = evaluate(CASE.results, worse, *bootstrap, "--format", "latex")
    assert "% VOC2012 test comp3 detection, per cent" in out
    found = document["worse"]["competitions"]["comp3"]
    low, high = (100 * found["bootstrap"]["mean"][end] for end in ("low", "high"))
    end = rf"& {100 * found['mean']:.1f} & $[{low:.1f}, {high:.1f}]$ \\"
    assert [line for line in out.splitlines() if line.startswith("worse & ") and line.endswith(end)]


def test_a_comparison_as_csv_and_latex(worse: Path, compare: Run) -> None:
    given = (CASE.results, worse, "--competition", "comp3")
    _, out, _ = compare(*given, "--json")
    document = json.loads(out)
    _, out, _ = compare(*given, "--csv")
    first, second = csv.DictReader(io.StringIO(out))
    assert (first["method"], first["first_minus_this"]) == ("results", "")
    [pair] = document["differences"]
    assert (second["method"], second["is_significant"]) == ("worse", str(pair["significant"]).lower())
    assert (second["p_value_all_classes"], "p_value_all_classes" in pair) == ("", False), "a mean is one score"
    keys = ("first_minus_this", "difference"), ("difference_low", "low"), ("difference_high", "high")
    assert all((float(second[column]) if second[column] else None) == pair[key] for column, key in keys)
    assert [int(second["best_rank"]), int(second["worst_rank"])] == document["rank_ranges"]["worse"]
    _, out, _ = compare(*given, "--class", "person", "--json")
    [joint] = json.loads(out)["differences"]
    assert joint["p_value"] <= joint["p_value_all_classes"] < 1
    _, out, _ = compare(*given, "--class", "person", "--csv")
    assert [row["p_value_all_classes"] for row in csv.DictReader(io.StringIO(out))] == [
        "",
        str(joint["p_value_all_classes"]),
    ]
    _, out, _ = compare(*given, "--class", "person")
    assert "p, all classes" in out
    assert f"{joint['p_value_all_classes']:.3f}" in out
    _, out, _ = compare(*given, "--latex")
    assert [line for line in out.splitlines() if line.startswith("worse & ") and line.endswith(r" \\")]


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"], ["--csv"], ["--latex"], ["--format", "latex"]])
def test_every_command_with_formats_has_both_spellings(option: list[str]) -> None:
    for command in (evaluate_command, compare_command, leaderboard):
        parser = argparse.ArgumentParser()
        command.configure(parser)
        needed = [] if command is leaderboard else ["--ground-truth", "t"]
        needed += ["--competition", "comp3"] if command is compare_command else []
        found = parser.parse_args(["x", "y", *needed, *option])
        assert found.format == option[-1].removeprefix("--")


def test_across_methods(worse: Path, compare: Run) -> None:
    """The order of images is that of what is found; a combination of a method with itself is the method."""
    again = f"again={CASE.results}"
    status, out, _ = compare(CASE.results, worse, "--competition", "comp3", "--across", "--json")
    assert status == 0
    found = json.loads(out)["across"]
    shares = [one["found"] for one in found["images"]]
    assert shares == sorted(shares)
    assert 0 < max(shares) <= 0.5  # of two methods, one finds nothing
    assert sum(found["found_in_tenths"]) == len(shares)
    assert sum(found["found_in_tenths"][5:]) == 0
    assert found["agreement"][1] == [None, None]
    assert found["combination"] is None  # boxes of two methods cannot be matched
    status, out, _ = compare(CASE.results, again, "--competition", "comp1", "--across", "--json")
    of_twins = json.loads(out)
    assert of_twins["across"]["combination"]["difference"] == pytest.approx(0, abs=1e-12)
    assert of_twins["across"]["agreement"][0][1] == pytest.approx(1)
    status, out, _ = compare(CASE.results, again, "--competition", "comp1", "--across")
    assert "mean of normalised ranks of all 2" in out
    assert "hardest" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--competition", "comp33"], "VOC2012 has no competition 'comp33'; it has comp1, comp2"),
        (["--competition", "comp4"], "has no results for comp4"),
        (["--competition", "comp3", "--class", "unicorn"], "has no scores of 'unicorn'; it has aeroplane"),
        ([str(CASE.results), "--competition", "comp3"], "two methods are named 'results'; give NAME=PATH"),
        (["a=/nowhere.tar.gz", "--competition", "comp3"], "/nowhere.tar.gz"),
        (["--competition", "comp3", "--image-set", "val,test"], "methods can only be compared on one image set"),
    ],
)
def test_wrong_arguments_say_what_is_there(arguments: list[str], message: str, compare: Run) -> None:
    status, _, error = compare(CASE.results, *arguments)
    assert status == 2
    assert message in error
    assert "Traceback" not in error


def test_means_over_different_classes_are_not_compared(tmp_path: Path, compare: Run) -> None:
    part = tar(tmp_path / "part.tar.gz", {"results/VOC2012/Main/comp3_det_test_car.txt": ""})
    status, _, error = compare(CASE.results, part, "--competition", "comp3")
    assert status == 2
    assert "over different classes" in error
    assert "--class" in error
    assert compare(CASE.results, part, "--competition", "comp3", "--class", "car")[0] == 0


def test_results_with_errors_are_listed(tmp_path: Path, compare: Run) -> None:
    wrong = tar(tmp_path / "wrong.tgz", {"results/VOC2012/Main/comp3_det_test_car.txt": "x\n" * 9})
    status, out, _ = compare(CASE.results, wrong, "--competition", "comp3")
    assert status == 1
    assert "wrong.tgz" in out
    assert "comp3_det_test_car.txt" in out
    assert "`vocboard validate --all` shows" in " ".join(out.split())  # `compare` has no such option
    assert compare(CASE.results, wrong, "--competition", "comp3", "--json") == (1, "", out)
