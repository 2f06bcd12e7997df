"""Boards show published methods by the current scoring, rounded."""

import csv
import io
import uuid
from dataclasses import replace

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session
from starlette.datastructures import QueryParams

from tests.support.backend import Backend
from tests.support.phases import complete, main_phase, main_truth, phase_of, show_board
from tests.support.scored import store_scores
from vocboard.app.challenges.models import Challenge, Scoring
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.scorings import make_current, start_scoring
from vocboard.app.leaderboards.across_methods import across_methods
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.export import as_csv, as_latex
from vocboard.app.leaderboards.models import BoardAgreement, BoardStatistics
from vocboard.app.leaderboards.sequences import Agreement, Combination
from vocboard.app.leaderboards.statistics import Failure, Statistics, digest_of
from vocboard.app.pages.board_state import BoardState
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Metric, Task, load
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.tasks.definitions import METRICS

CLASSES = load("VOC2012").competitions["comp1"].classes
NAN = float("nan")


def publish(backend: Backend, challenge: Challenge, method: str, scores: dict[str, float], **given: str) -> uuid.UUID:
    """Publish a result with these scores in comp1."""
    submission_id = backend.submit(backend.user(), challenge, method_name=method, **given)
    with backend.database.writing() as session:
        session.execute(
            update(Submission).where(Submission.id == submission_id).values(state=State.SCORED, published_at=now())
        )
        challenge = complete(session, challenge.id)
        assert challenge.main_phase.current_scoring_id is not None
        store(session, submission_id, challenge.main_phase.current_scoring_id, scores)
    return submission_id


def store(session: Session, submission_id: uuid.UUID, scoring_id: uuid.UUID, scores: dict[str, float]) -> None:
    found = CompetitionScores(
        competition="comp1",
        task=Task.CLASSIFICATION,
        primary=Measure(Metric.AVERAGE_PRECISION, scores),
        not_entered=tuple(name for name in CLASSES if name not in scores),
    )
    store_scores(session, submission_id, scoring_id, {"comp1": found})


def everywhere(score: float, **others: float) -> dict[str, float]:
    return {name: others.get(name, score) for name in CLASSES}


def show(backend: Backend, challenge: Challenge) -> Board:
    with backend.database.reading() as session:
        return show_board(session, challenge, "comp1")


def test_shows_published_methods_by_rank_with_the_best_of_each_column(backend: Backend) -> None:
    challenge = backend.challenge(decimals=2)
    publish(backend, challenge, "Second", everywhere(0.5, car=0.90001))
    publish(backend, challenge, "First", everywhere(0.7, car=0.90002))
    backend.submit(backend.user(), challenge, method_name="Hidden")
    shown = show(backend, challenge)
    assert [(row.rank, row.method) for row in shown.rows] == [(1, "First"), (2, "Second")]
    assert shown.classes == CLASSES
    first, second = (row.cells[CLASSES.index("car")] for row in shown.rows)
    assert (first.value, first.is_best) == (second.value, second.is_best) == (0.9, True)
    assert shown.rows[0].mean.is_best
    assert not shown.rows[1].mean.is_best


def test_distinguishes_undefined_from_not_entered(backend: Backend) -> None:
    challenge = backend.challenge()
    publish(backend, challenge, "Some", {"car": NAN, "dog": 0.25})
    publish(backend, challenge, "Nothing defined", everywhere(NAN))
    some, nothing = show(backend, challenge).rows
    cells = dict(zip(CLASSES, some.cells, strict=True))
    assert (cells["car"].value, cells["car"].is_entered) == (None, True)
    assert (cells["cat"].value, cells["cat"].is_entered) == (None, False)
    assert (some.rank, some.mean.value, some.mean_over, some.is_complete) == (1, 0.25, 1, False)
    assert (nothing.rank, nothing.mean.value, nothing.mean_over, nothing.is_complete) == (None, None, 0, True)
    assert not any(cell.is_best for cell in nothing.cells)


def test_follows_the_current_scoring(backend: Backend) -> None:
    challenge = backend.challenge()
    submission_id = publish(backend, challenge, "Method", everywhere(0.5))
    with backend.database.writing() as session:
        current = complete(session, challenge.id)
        version = main_truth(session, current)
        assert version is not None
        again: Scoring = start_scoring(session, challenge=current, version=version)
        store(session, submission_id, again.id, everywhere(0.75))
    assert show(backend, challenge).rows[0].mean.value == 0.5
    with backend.database.writing() as session:
        found = complete(session, challenge.id)
        make_current(session, challenge=found, scoring=again, actor=None, phase_id=found.main_phase.id)
    assert show(backend, challenge).rows[0].mean.value == 0.75


def test_a_competition_that_the_challenge_does_not_run_has_no_board(backend: Backend) -> None:
    challenge = backend.challenge(competitions=["comp3"])
    with backend.database.reading() as session, pytest.raises(NotFoundError):
        show_board(session, challenge, "comp1")


def test_csv_says_everything_and_runs_nothing(backend: Backend) -> None:
    challenge = backend.challenge(decimals=3)
    publish(backend, challenge, '=HYPERLINK("x")', {"car": 0.5, "dog": NAN}, contributors="A, B", affiliation="@lab")
    header, row = csv.reader(io.StringIO(as_csv(show(backend, challenge))))
    record = dict(zip(header, row, strict=True))
    assert header[9:] == list(CLASSES)
    assert (record["complete"], record["unit"]) == ("no", "fraction")
    assert record["method"] == '\'=HYPERLINK("x")'
    assert (record["contributors"], record["affiliation"]) == ("A, B", "'@lab")
    assert (record["rank"], record["mean"], record["mean_over"]) == ("1", "0.500", "1")
    assert (record["car"], record["dog"], record["cat"]) == ("0.500", "n/a", "")


def test_no_cell_of_csv_is_a_formula(backend: Backend) -> None:
    challenge = backend.challenge()
    formulas = [f"{start}1+1" for start in "=+-@\uff1d\uff0b\uff0d\uff20"]
    for formula in formulas:
        publish(backend, challenge, formula, {"car": 0.5})
    _, *rows = csv.reader(io.StringIO(as_csv(show(backend, challenge))))
    assert {row[1] for row in rows} == {f"'{formula}" for formula in formulas}


def test_latex_prints_names_as_they_are_and_the_best_in_bold(backend: Backend) -> None:
    challenge = backend.challenge(decimals=3)
    publish(backend, challenge, r"R\&D_50% \input{x}", everywhere(0.5, car=NAN))
    lines = as_latex(show(backend, challenge)).splitlines()
    assert "in per cent" in lines[0]
    assert lines[2] == r"\begin{tabular}{l" + "r" * 21 + "}"
    name, mean, *cells = lines[6].removesuffix(r" \\").split(" & ")
    assert name == r"R\textbackslash{}\&D\_50\% \textbackslash{}input\{x\}"
    assert mean == r"\textbf{50.0}"
    assert cells[CLASSES.index("car")] == "n/a"


def test_symbols_of_latex_are_those_of_the_page(backend: Backend) -> None:
    challenge = backend.challenge(decimals=3)
    publish(backend, challenge, "Some", {"car": NAN, "dog": 0.25})
    _, mean, *cells = as_latex(show(backend, challenge)).splitlines()[6].removesuffix(r" \\").split(" & ")
    assert mean == r"25.0\rlap{*}"
    found = dict(zip(CLASSES, cells, strict=True))
    assert (found["car"], found["dog"], found["cat"]) == ("n/a", r"\textbf{25.0}", "--")


def test_a_name_in_latex_is_no_argument_of_the_row_before(backend: Backend) -> None:
    r"""After the `\\` of a row LaTeX looks for `*` and `[length]`, across the end of the line too."""
    challenge = backend.challenge()
    publish(backend, challenge, "[9cm] first", everywhere(0.6))
    publish(backend, challenge, "*second", everywhere(0.5))
    first, second = as_latex(show(backend, challenge)).splitlines()[6:8]
    assert first.startswith("{[}9cm{]} first & ")
    assert second.startswith("{*}second & ")


def test_a_board_of_two_measures_ranks_by_the_first_and_gives_the_mean_of_the_other(backend: Backend) -> None:
    challenge = backend.challenge(edition="VOC2005", competitions=["comp1"])
    rules = load("VOC2005").competitions["comp1"]
    for method, area, accuracy in (("by area", 0.9, 0.7), ("by error", 0.8, 0.75)):
        submission_id = backend.submit(backend.user(), challenge, method_name=method)
        with backend.database.writing() as session:
            session.execute(
                update(Submission).where(Submission.id == submission_id).values(state=State.SCORED, published_at=now())
            )
            scoring_id = main_phase(session, challenge.id).current_scoring_id
            assert scoring_id is not None
            measures = [
                Measure(metric, dict.fromkeys(rules.classes, value))
                for metric, value in ((Metric.ROC_AUC, area), (Metric.EQUAL_ERROR_RATE, accuracy))
            ]
            scores = CompetitionScores("comp1", Task.CLASSIFICATION, measures[0], (measures[1],))
            store_scores(session, submission_id, scoring_id, {"comp1": scores})
    with backend.database.reading() as session:
        found = show_board(session, challenge, "comp1")
    assert [row.method for row in found.rows] == ["by area", "by error"]
    assert found.others == (Metric.EQUAL_ERROR_RATE,)
    assert [(row.others[0].value, row.others[0].is_best) for row in found.rows] == [(0.7, False), (0.75, True)]
    header, first, _ = csv.reader(io.StringIO(as_csv(found)))
    assert dict(zip(header, first, strict=True))["mean_equal_error_rate"] == "0.7000"
    assert dict(zip(header, first, strict=True))["equal_error_rate_cars"] == "0.7000"
    assert found.class_metrics == (Metric.ROC_AUC, Metric.EQUAL_ERROR_RATE)
    assert {cell.value for cell in found.rows[1].other_cells[0]} == {0.75}
    assert r"mean equal\_error\_rate" in as_latex(found)


def test_where_a_measure_is_an_error_the_lower_mean_leads(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backend.challenge(competitions=["comp1"])
    publish(backend, challenge, "many errors", everywhere(0.9, car=0.1))
    publish(backend, challenge, "few errors", everywhere(0.2))
    assert [row.method for row in show(backend, challenge).rows] == ["many errors", "few errors"]
    as_error = replace(METRICS[Metric.AVERAGE_PRECISION], higher_is_better=False)
    monkeypatch.setitem(METRICS, Metric.AVERAGE_PRECISION, as_error)  # type: ignore[arg-type]  # a dict, read as a mapping
    found = show(backend, challenge)
    assert [row.method for row in found.rows] == ["few errors", "many errors"]
    assert [row.mean.is_best for row in found.rows] == [True, False]
    car = found.classes.index("car")
    assert [row.cells[car].is_best for row in found.rows] == [False, True]
    natural = BoardState.of(QueryParams(sort="mean"), found)
    assert [found.rows[place].method for place in natural.places(found)] == ["few errors", "many errors"]
    assert [row.mean.quintile for row in found.rows] == [4, 2]  # a high quintile is the better one


def test_the_mean_of_an_incomplete_entry_is_never_the_best(backend: Backend) -> None:
    challenge = backend.challenge()
    publish(backend, challenge, "Only cars", {"car": 0.99})
    assert not show(backend, challenge).rows[0].mean.is_best  # even where nobody else has a mean
    publish(backend, challenge, "Everything", everywhere(0.5))
    everything, only_cars = show(backend, challenge).rows
    assert (everything.mean.is_best, only_cars.mean.is_best) == (True, False)
    assert (everything.mean.value, only_cars.mean.value) == (0.5, 0.99)
    car = CLASSES.index("car")
    assert (everything.cells[car].is_best, only_cars.cells[car].is_best) == (False, True)


def test_cells_are_in_quintiles_of_what_is_shown(backend: Backend) -> None:
    challenge = backend.challenge(decimals=2)
    for number in range(10):
        publish(backend, challenge, f"Method {number}", everywhere(number / 10, car=0.301 + number / 10_000, dog=NAN))
    rows = show(backend, challenge).rows
    assert [row.mean.quintile for row in rows] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    car, dog = CLASSES.index("car"), CLASSES.index("dog")
    assert {(row.cells[car].value, row.cells[car].quintile) for row in rows} == {(0.3, 3)}  # they look equal
    assert {row.cells[dog].quintile for row in rows} == {None}


def test_a_combination_is_compared_with_the_first_method_as_it_is_shown(backend: Backend) -> None:
    challenge = backend.challenge(decimals=2, statistics=True)
    for method, score in (("First, for it is earlier", 0.6451), ("As good as shown", 0.6549)):
        publish(backend, challenge, method, everywhere(score))
    with backend.database.writing() as session:
        board = {"challenge_id": challenge.id, "phase_id": main_phase(session, challenge.id).id, "competition": "comp1"}
        digest = digest_of((entry.result_id for entry in show_board(session, challenge, "comp1").rows.entries), 2)
        content = Statistics(2, 100, 1000, 2, {}, Failure.ERROR).as_json()
        stored = BoardStatistics(**board, frozen_at=None, methods_sha256=digest or "", version=1, content=content)
        session.add(stored)
        session.flush()
        common = Agreement([], [], [], [Combination(2, 0.66, None)])
        session.add(BoardAgreement(statistics_id=stored.id, content=common.as_json()))
        session.flush()
        found = complete(session, challenge.id)
        [both] = across_methods(session, found, phase_of(session, found), "comp1", at=now()).combinations
    assert (both.is_all, round(both.difference, 9)) == (True, 0.01)
