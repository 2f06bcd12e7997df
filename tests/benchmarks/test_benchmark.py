"""Benchmarks of the evaluator: every case runs, and the table says what is reached."""

from pathlib import Path

import pytest

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Measurement, compare
from benchmarks.cases import CASES, find_case
from benchmarks.datasets.detections import detection_lines, make_detections
from benchmarks.datasets.world import make_world
from benchmarks.growth import GROWTHS
from benchmarks.table import Result, rows, verdicts


def measured(seconds: float) -> Measurement:
    return Measurement(seconds, processor_seconds=2 * seconds, peak_mib=100)


def test_every_case_is_found_by_its_name() -> None:
    assert [find_case(name).name for name in CASES] == list(CASES)


def test_synthetic_data_are_the_same_each_time() -> None:
    first, second = (
        [detection_lines(world, made) for _, made in make_detections(world, 100)]
        for world in (make_world(10, 30), make_world(10, 30))
    )
    assert first == second
    assert sum(text.count("\n") for text in first) == 100


def test_each_implementation_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    case = find_case("start-up")
    case.make(tmp_path, 1.0)
    figures, skipped = compare(case, tmp_path, 1, tmp_path)
    assert skipped == {}
    assert figures.keys() == case.implementations.keys()
    assert figures["vocboard"].seconds > figures["Python starts"].seconds > 0


def test_a_peer_that_cannot_run_is_skipped_with_the_reason(tmp_path: Path) -> None:
    figures, skipped = compare(find_case("stored"), tmp_path, 1, tmp_path)  # there are no data
    assert figures == {}
    assert "FileNotFoundError" in skipped["vocboard"]


@pytest.mark.parametrize(("limit", "floors"), [(2.5, ("parse", "sort")), (1.0, ("peer",))])
def test_the_table_says_what_is_reached(limit: float, floors: tuple[str, ...]) -> None:
    kinds = {"vocboard": Kind.OURS, "peer": Kind.PEER, "parse": Kind.FLOOR, "sort": Kind.FLOOR}
    implementations = {name: Implementation(kind, lambda _: lambda: None) for name, kind in kinds.items()}
    case = Case("case", "a case", lambda _directory, _scale: None, implementations, (Goal(limit, floors),))
    result = Result(case, {"vocboard": measured(1), "peer": measured(2), "parse": measured(0.3), "sort": measured(0.2)})
    ratio = {("parse", "sort"): "2.00", ("peer",): "0.50"}[floors]
    assert list(verdicts(result)) == [
        f"  reach {limit:g} x ({' + '.join(floors)}): {ratio} (by processor time {ratio})"
    ]
    assert len(list(rows(result))) == 1 + len(kinds)


def test_growth_of_detections_is_measured(tmp_path: Path) -> None:
    growth = GROWTHS["detections"]
    figures = growth.measure(2_000, 1, tmp_path)
    assert growth.plotted.keys() <= figures.keys()
    assert all(value > 0 for value in figures.values())
