"""Phases, frozen leaderboards and re-scores of a challenge that is exported from one server and imported by another."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from tests.support.archives import changed, edited, in_first
from tests.support.backend import Backend, make_archive, make_columns
from tests.support.clock import Clock
from tests.support.factories import change_rules
from tests.support.jobs import evaluate_next, update_next
from tests.support.other_server import Server, write_export
from tests.support.phases import complete, main_phase, show_board
from tests.support.rescoring import add_corrected_truth, apply, start_rescore, work
from tests.support.run_files import made_once
from tests.support.services import EMBEDDED
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import phase_people
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Admission, Challenge, Detail, Freeze, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import Phase, phase_named, phases_of
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.leaderboards import reported, statistics_states
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.corrections import Cause, corrections
from vocboard.app.leaderboards.export import as_csv, as_latex
from vocboard.app.leaderboards.models import ReportedKind, Rescore
from vocboard.app.leaderboards.reported import Report
from vocboard.app.leaderboards.service import rules_of
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.leaderboards.statistics_states import StatisticsState
from vocboard.app.organising import moderation, phase_changes
from vocboard.app.participating import publishing
from vocboard.app.rescores import service as rescores
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.models import Declared, Method, State, Submission

DAY = timedelta(days=1)
# What is refused does not depend on the set-up of the server that exported it.
ON_ONE_SET_UP = pytest.mark.parametrize("set_up", [EMBEDDED], indirect=True)
CONFIDENCES = ((0.9, 0.1, 0.8), (0.1, 0.9, 0.8), (0.2, 0.9, 0.3), (0.9, 0.8, 0.7))


@dataclass
class Spring:
    """A corrected challenge, on the server that exports it: a frozen main phase, an open one, and one to come."""

    backend: Backend
    organiser: User
    challenge: Challenge

    def export(self, path: Path) -> Path:
        return write_export(self.backend.database, self.backend.store, path, self.organiser)


@pytest.fixture
def spring(backend: Backend, clock: Clock) -> Spring:
    organiser = backend.user(role=Role.ORGANISER, name="Olga")
    challenge = backend.challenge(organiser=organiser, slug="spring", title="Spring", competitions=["comp1"])
    ada = backend.user(name="Ada", email="ada@lab.example")
    _add_phases(backend, organiser)
    ids = [
        backend.submit(
            ada,
            challenge,
            archive=make_archive(confidences),
            columns=make_columns(confidences),
            method_name=f"Method {number}",
            declarations={"training_data": f"Images {number}.", "flickr_images": "no"},
            phase_key="val" if number == 3 else "main",
        )
        for number, confidences in enumerate(CONFIDENCES)
    ]
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    with backend.database.writing() as session:
        for number in (0, 1, 3):
            publishing.publish(session, submission_id=ids[number], user=ada)
        session.execute(
            update(Method).values(paper_url="https://papers.example.org/?a=1&b", code_url="http://code.example")
        )
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    apply(backend, rescore_id)
    with backend.database.writing() as session:
        found = complete(session, challenge.id)
        main = phase_named(found, "main")
        paper = Report(ReportedKind.PAPER, "DPM", "10.1109/TPAMI.2009.167", "Table 2", 0.337, {"car": 0.5})
        reported.add(
            session,
            challenge=found,
            user=organiser,
            phase=main,
            competition=rules_of(found, main, "comp1"),
            reports=[paper, Report(ReportedKind.BASELINE, "Chance", "", "", None, {"car": 0.01})],
        )
        change_rules(session, challenge, organiser, closes_at=now() + DAY, freeze=Freeze.CLOSING)
    clock.advance(2 * DAY)
    with backend.database.writing() as session:
        moderation.disqualify(
            session, submission_id=ids[0], user=organiser, reason="Trained on the test set.", site="https://x"
        )
        publishing.publish(session, submission_id=ids[2], user=ada)
    return Spring(backend, organiser, challenge)


@pytest.fixture
def exported(request: pytest.FixtureRequest, set_up: str, clock: Clock, tmp_path: Path) -> Path:
    """Give a copy of the challenge's export, which is made once, two days from now."""

    def make(path: Path) -> None:
        request.getfixturevalue("spring").export(path)

    made = made_once(f"spring-with-phases-{set_up}.tar", make)
    clock.offset = 2 * DAY
    return Path(shutil.copy(made, tmp_path / "spring.tar"))


def _add_phases(backend: Backend, organiser: User) -> None:
    with backend.database.writing() as session:
        found = challenges.get_organised(session, "spring", organiser)
        given = PhaseRules(
            competitions=("comp1",),
            closes_at=now() + 30 * DAY,
            quota_count=7,
            quota_period_seconds=3600,
            detail=Detail.MEAN,
            admission=Admission.APPROVED,
            anonymous_until=now() + 40 * DAY,
        )
        val = phase_changes.add_phase(
            session, challenge=found, user=organiser, key="val", title="Validation", rules=given
        )
        final = PhaseRules(competitions=("comp1",), opens_at=now() + 60 * DAY, freeze=Freeze.NEVER)
        phase_changes.add_phase(
            session, challenge=found, user=organiser, key="final", title="Final", rules=final, image_set="trainval"
        )
        addresses = ("ada@lab.example", "nobody@elsewhere.example")
        phase_people.admit(session, challenge=found, phase=val, organiser=organiser, emails=addresses)
        for count, reason in ((2, "The server was down."), (3, "")):
            phase_people.grant_extra_quota(
                session,
                challenge=found,
                phase=val,
                organiser=organiser,
                email="ada@lab.example",
                count=count,
                until=now() + 5 * DAY,
                reason=reason,
            )


def boards(database: Database, slug: str = "spring") -> list[Board]:
    """All leaderboards of the challenge, frozen and live, with what is shown separately."""
    found = []
    with database.writing() as session:
        challenge = session.scalars(select(Challenge).where(Challenge.slug == slug)).one()
        for phase, part in (("main", Part.COUNTING), ("main", Part.LATER), ("val", Part.COUNTING)):
            shown = show_board(session, challenge, "comp1", phase=phase, part=part)
            found.append(replace(shown, statistics=None))  # not exported: they need the ground truth
    return found


def without_reported(board: Board) -> Board:
    """The same without rows whose ids are each server's own."""
    return replace(board, reported=())


def phases(database: Database, slug: str = "spring") -> list[Phase]:
    with database.reading() as session:
        challenge = session.scalars(select(Challenge).where(Challenge.slug == slug)).one()
        return list(phases_of(complete(session, challenge.id)))


def test_frozen_live_and_later_leaderboards_are_equal_after_an_export_and_import(
    spring: Spring, other: Server, tmp_path: Path
) -> None:
    path = spring.export(tmp_path / "spring.tar")
    other.take(path)
    before, after = boards(spring.backend.database), boards(other.database)
    frozen, later, val = before
    assert [row.method for row in frozen.rows] == ["Method 1"]
    assert frozen.rows[0].links.paper_url == "https://papers.example.org/?a=1&b"
    assert [one.cause for one in frozen.removals] == [Cause.DISQUALIFIED]  # since it was frozen; compared below
    assert frozen.frozen_at is not None
    assert [one.reason for one in frozen.corrections] == ["Labels corrected"]
    assert [row.method for row in later.rows] == ["Method 2"]
    assert val.is_anonymous
    assert all(board.imported is not None and board.imported.by == "Other" for board in after)
    unmarked = [replace(board, imported=None) for board in after]
    assert list(map(without_reported, unmarked)) == list(map(without_reported, before))
    assert [len(board.reported) for board in after] == [2, 0, 0]  # of the frozen one; the texts below have them
    assert "DPM,,,,0.337" in as_csv(after[0])
    identifier = after[0].rows.entries[0].links.method_id
    assert identifier not in {None, frozen.rows.entries[0].links.method_id}
    for one, another in zip(before, unmarked, strict=True):
        assert (as_csv(one), as_latex(one)) == (as_csv(another), as_latex(another))


@ON_ONE_SET_UP
@pytest.mark.parametrize(
    "lost",
    [
        {"state": State.FAILED, "failure_detail": "Damaged"},  # by a re-score
        {"state": State.QUEUED, "current_evaluation_id": None},  # as it was disqualified while one was applied
    ],
)
def test_what_its_organisers_have_not_removed_stays_on_a_frozen_leaderboard(
    spring: Spring, other: Server, tmp_path: Path, lost: dict[str, Any]
) -> None:
    with spring.backend.database.writing() as session:
        number_1 = select(Method.id).where(Method.name == "Method 1").scalar_subquery()
        session.execute(update(Submission).where(Submission.method_id == number_1).values(published_at=None, **lost))
    other.take(spring.export(tmp_path / "spring.tar"))
    for database in (spring.backend.database, other.database):
        frozen = boards(database)[0]
        assert ([row.method for row in frozen.rows], len(frozen.removals)) == (["Method 1"], 1)


def test_statistics_are_computed_once_the_ground_truth_is_on_the_new_server(
    spring: Spring, other: Server, tmp_path: Path
) -> None:
    """From the archives: an export has neither columns nor evidence."""

    def computed(database: Database, store: ArchiveStore, settings: Settings, slug: str) -> list[object]:
        while update_next(database, store, settings):
            pass
        with database.reading() as session:
            challenge = complete(session, session.scalars(select(Challenge.id).where(Challenge.slug == slug)).one())
            found = statistics_states.states(session, challenge, at=now())
            shown = [show_board(session, challenge, "comp1", phase=phase).statistics for phase in ("main", "val")]
        values = [one and (one.is_current, sorted(map(repr, one.methods.values()))) for one in shown]
        return [[(one.state, one.failure) for one in found if one.phase.key != "final"], values]

    other.take(spring.export(tmp_path / "spring.tar"))
    expected = computed(spring.backend.database, spring.backend.store, spring.backend.settings, "spring")
    missing = computed(other.database, other.store, other.settings, "spring")
    assert missing[0] == [(StatisticsState.FAILED, Failure.GROUND_TRUTH_ELSEWHERE)] * 2
    for path in spring.backend.truth_file.parent.iterdir():
        ground_truth = other.settings.truth
        ground_truth.mkdir(exist_ok=True, parents=True)
        shutil.copy(path, ground_truth)
    # It may be that of another challenge here, which an import has named to learn about it.
    with other.database.writing() as session:
        session.execute(update(Challenge).values(title="Spring"))  # it has changed, so it is tried again
    assert computed(other.database, other.store, other.settings, "spring") == missing
    with other.database.writing() as session:
        challenge = session.scalars(select(Challenge).where(Challenge.slug == "spring")).one()
        for number, path in enumerate(other.settings.truth.glob("*.npz"), 1_000_000):
            session.add(
                GroundTruthVersion(
                    challenge_id=challenge.id,
                    phase_id=main_phase(session, challenge.id).id,
                    number=number,
                    file_name="truth.tar.gz",
                    state=TruthState.READY,
                    sha256=path.stem,
                )
            )
        session.execute(update(Challenge).values(title="Spring"))  # as a ground truth that becomes current does
    assert expected[0] == [(StatisticsState.SHOWN, None)] * 2
    assert computed(other.database, other.store, other.settings, "spring") == expected


def test_a_second_export_and_import_changes_nothing(spring: Spring, other: Server, tmp_path: Path) -> None:
    other.take(spring.export(tmp_path / "spring.tar"))
    again = write_export(other.database, other.store, tmp_path / "again.tar", other.organiser)
    other.take(again, slug="spring-2")
    first, second = boards(other.database), boards(other.database, "spring-2")
    assert [as_csv(board) for board in first[:2]] == [as_csv(board) for board in second[:2]]
    # The ids of the first import are taken, so the second has others; and anonymous names are made of ids.
    assert {row.submission_id for row in first[0].rows}.isdisjoint(row.submission_id for row in second[0].rows)
    assert [row.mean for row in first[2].rows] == [row.mean for row in second[2].rows]


def test_phases_and_their_people_come_along(spring: Spring, other: Server, tmp_path: Path) -> None:
    imported = other.take(spring.export(tmp_path / "spring.tar"))
    before, after = phases(spring.backend.database), phases(other.database)
    assert [phase.key for phase in after] == ["val", "main", "final"]
    for one, another in zip(before, after, strict=True):
        assert (one.key, one.title, one.rules, one.image_set, one.has_own_truth) == (
            another.key,
            another.title,
            another.rules,
            another.image_set,
            another.has_own_truth,
        )
        assert another.scoring_id is None  # the ground truth is not exported
    with other.database.reading() as session:
        admitted = [(one.phase.key, one.email) for one in phase_people.admissions(session, imported)]
        quotas = [(one.count, one.reason) for one in phase_people.extra_quotas(session, imported)]
    assert admitted == [("val", "ada@lab.example"), ("val", "nobody@elsewhere.example")]
    assert quotas == [(3, ""), (2, "The server was down.")]


@ON_ONE_SET_UP
def test_a_rehearsal_that_was_evaluated_again_stays_where_it_is(spring: Spring, other: Server, tmp_path: Path) -> None:
    rehearsal = spring.backend.submit(spring.organiser, spring.challenge, is_rehearsal=True)
    evaluate_next(spring.backend.database, spring.backend.store, spring.backend.settings)
    with spring.backend.database.writing() as session:
        _, rescore = rescores.evaluate_again(session, submission_id=rehearsal, user=spring.organiser)
    assert rescore is not None
    work(spring.backend)
    apply(spring.backend, rescore.id)
    imported = other.take(spring.export(tmp_path / "spring.tar"))
    with other.database.reading() as session:
        assert [one.submission_id for one in session.scalars(select(Rescore))] == [None]
        challenge = complete(session, imported.id)
        assert len(corrections(session, challenge, phases_of(challenge)[0], "comp1")) == 1


def test_a_phase_that_freezes_between_export_and_import_freezes_with_what_counted(
    spring: Spring, other: Server, tmp_path: Path, clock: Clock
) -> None:
    other.take(spring.export(tmp_path / "spring.tar"))
    clock.advance(60 * DAY)
    before, after = boards(spring.backend.database), boards(other.database)
    assert before[2].frozen_at is not None
    assert [without_reported(replace(board, imported=None)) for board in after] == list(map(without_reported, before))


def again(name: str) -> Callable[[dict[str, bytes]], None]:
    """Repeat the first record of a file."""

    def repeated(files: dict[str, bytes]) -> None:
        files[name] += files[name].splitlines()[0] + b"\n"

    return repeated


def as_format_4(files: dict[str, bytes]) -> None:
    """Write an export as versions did in which each declaration was a field."""

    def as_fields(record: dict[str, Any]) -> None:
        record |= {"training_annotation": None, **record.pop("declarations")}

    changed("challenge.json", lambda header: header.update(format=4))(files)
    changed("submissions.jsonl", as_fields)(files)
    changed("frozen-leaderboards.jsonl", lambda one: [as_fields(entry) for entry in one["content"]["entries"]])(files)


@ON_ONE_SET_UP
def test_declarations_come_along_from_an_earlier_version(spring: Spring, other: Server, tmp_path: Path) -> None:
    other.take(edited(spring.export(tmp_path / "spring.tar"), as_format_4))
    before, after = (
        [entry.declared for board in boards(database) for entry in board.rows.entries]
        for database in (spring.backend.database, other.database)
    )
    assert before == after
    assert Declared({"training_data": "Images 1.", "flickr_images": "no"}) in after


def in_first_frozen(**values: Any) -> Callable[[dict[str, bytes]], None]:
    return in_first("frozen-leaderboards.jsonl", lambda one: one["content"]["entries"][0].update(values))


NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_first("challenge.json", lambda one: one["phases"].append(one["phases"][0])), "val appears twice"),
        (in_first("challenge.json", lambda one: one.update(phases=[])), "the challenge has no phase val"),
        (in_first("challenge.json", lambda one: one.update(ground_truth_versions=[])), "no version"),
        (in_first("challenge.json", lambda one: one.update(format=1)), "this server reads 2"),
        (
            in_first("challenge.json", lambda one: one["phases"][0]["rules"].update(quota_count=0)),
            "phases.val.quota_count: Choose between",
        ),
        (
            in_first("challenge.json", lambda one: one["phases"][1]["rules"].update(competitions=["comp99"])),
            "has no comp99",
        ),
        (
            in_first("challenge.json", lambda one: one["ground_truth_versions"][0].update(phase="val")),
            "val has no ground truth of its own",
        ),
        (in_first("reported-results.jsonl", lambda one: one.update(phase="test")), "the phase test has no comp1"),
        (in_first("reported-results.jsonl", lambda one: one["per_class"].update(ufo=0.5)), "has no such classes"),
        (
            in_first("reported-results.jsonl", lambda one: one.update(reference="javascript:alert(1)")),
            "http(s) address",
        ),
        (in_first("reported-results.jsonl", lambda one: one.update(mean=1.5)), "less than or equal to 1"),
        (in_first("submissions.jsonl", lambda one: one.update(phase="test")), "the challenge has no phase test"),
        (in_first("admissions.jsonl", lambda one: one.update(email="Ada@lab.example")), "not an email address"),
        (again("admissions.jsonl"), "admitted twice"),
        (in_first("extra-quotas.jsonl", lambda one: one.update(count=0)), "greater than or equal to 1"),
        (in_first("extra-quotas.jsonl", lambda one: one.update(phase="test")), "the challenge has no phase test"),
        (in_first("frozen-leaderboards.jsonl", lambda one: one.update(competition="comp3")), "has no comp3"),
        (again("frozen-leaderboards.jsonl"), "appears twice"),
        (in_first_frozen(submission=NOBODY), "no submission 00000000"),
        (in_first_frozen(mean=7), "less than or equal to 1"),
        (in_first_frozen(classes={"unicorn": 1}), "comp1 has no such classes"),
        (in_first_frozen(method="R\u202eNN"), "Remove the invisible character"),
        (in_first("corrections.jsonl", lambda one: one.update(submission=NOBODY)), "no submission 00000000"),
        (in_first("corrections.jsonl", lambda one: one.update(ground_truth_version=99)), "no version 99"),
    ],
)
@ON_ONE_SET_UP
def test_what_does_not_fit_together_is_refused(
    exported: Path, other: Server, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    other.refuse(edited(exported, change), message)
