"""The benchmarks run: a contest gives each contestant's figures, and the table says what ours reaches."""

from pathlib import Path

import pytest

from benchmarks.contest import Contestant, Goal, Kind, Measurement, Work, hold
from benchmarks.made.detections import detection_lines, make_detections
from benchmarks.made.world import make_world
from benchmarks.table import Result, rows, verdicts
from benchmarks.works import WORKS, find


def measured(seconds: float) -> Measurement:
    return Measurement(seconds, processor_seconds=2 * seconds, peak_mib=100)


def test_every_work_is_found_by_its_name() -> None:
    assert [find(name).name for name in WORKS] == list(WORKS)


def test_made_data_are_the_same_each_time() -> None:
    first, second = (
        [detection_lines(world, made) for _, made in make_detections(world, 100)]
        for world in (make_world(10, 30), make_world(10, 30))
    )
    assert first == second
    assert sum(text.count("\n") for text in first) == 100


def test_a_contest_runs_each_contestant_in_a_process_of_its_own(tmp_path: Path) -> None:
    work = find("start-up")
    work.make(tmp_path, 1.0)
    figures, skipped = hold(work, tmp_path, 1, tmp_path)
    assert skipped == {}
    assert figures.keys() == work.contestants.keys()
    assert figures["vocboard"].seconds > figures["Python starts"].seconds > 0


def test_who_cannot_run_is_skipped_and_said_why(tmp_path: Path) -> None:
    figures, skipped = hold(find("stored"), tmp_path, 1, tmp_path)  # no data have been made
    assert figures == {}
    assert "FileNotFoundError" in skipped["vocboard"]


@pytest.mark.parametrize(("limit", "floors"), [(2.5, ("parse", "sort")), (1.0, ("peer",))])
def test_the_table_says_what_is_reached(limit: float, floors: tuple[str, ...]) -> None:
    kinds = {"vocboard": Kind.OURS, "peer": Kind.PEER, "parse": Kind.FLOOR, "sort": Kind.FLOOR}
    contestants = {name: Contestant(kind, lambda _: lambda: None) for name, kind in kinds.items()}
    work = Work("work", "a work", lambda _directory, _scale: None, contestants, (Goal(limit, floors),))
    result = Result(work, {"vocboard": measured(1), "peer": measured(2), "parse": measured(0.3), "sort": measured(0.2)})
    ratio = {("parse", "sort"): "2.00", ("peer",): "0.50"}[floors]
    assert list(verdicts(result)) == [
        f"  reach {limit:g} x ({' + '.join(floors)}): {ratio} (by processor time {ratio})"
    ]
    assert len(list(rows(result))) == 1 + len(kinds)
