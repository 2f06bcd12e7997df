"""Uploads are read in child processes, within limits, and all that is wrong is told."""

import errno
import os
import signal
import uuid
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.support.backend import EDITION, make_archive
from tests.support.factories import make_image_sets
from vocboard.app.settings import Settings
from vocboard.app.storage.directory_store import DirectoryStore
from vocboard.app.submissions.report import Report
from vocboard.app.submissions.validation import Validator
from vocboard.app.submissions.validation_turns import FairTurns
from vocboard.evaluator.stored_results.stored_results import StoredResults

COMPETITIONS = ("comp1", "comp3")


def validate(path: Path, **settings: object) -> Report:
    async def run() -> Report:
        return await start(Validator(Settings(**settings)), path)  # type: ignore[arg-type]

    return anyio.run(run)


async def start(
    validator: Validator, path: Path, owner: uuid.UUID | None = None, *, kept: Path | None = None, limit: int = 10**6
) -> Report:
    with DirectoryStore(Settings().archives).receive(limit=limit) as columns:
        report = await validator.validate(
            path,
            owner=owner or uuid.uuid4(),
            edition=EDITION,
            image_sets=make_image_sets(EDITION),
            competitions=COMPETITIONS,
            columns=columns,
        )
        if kept is not None:
            columns.finish()
            columns.path.rename(kept)
        return report


@pytest.fixture(autouse=True)
def incoming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the directory in which uploads lie while they are read."""
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path))
    directory = DirectoryStore(Settings().archives).incoming
    directory.mkdir(parents=True)
    return directory


@pytest.fixture
def archive(incoming: Path) -> Path:
    path = incoming / "results.tar"
    path.write_bytes(make_archive())
    return path


@pytest.fixture
def endless(incoming: Path) -> Path:
    """Give an upload that cannot be read to its end: a pipe that nobody writes to."""
    path = incoming / "endless"
    os.mkfifo(path)
    return path


def test_says_what_a_valid_archive_enters(archive: Path) -> None:
    report = validate(archive)
    assert not report.refuses
    assert [(entry.competition, entry.classes) for entry in report.entries] == [("comp1", ("car",))]


def test_gives_what_was_read_as_columns(archive: Path, tmp_path: Path) -> None:
    report = anyio.run(lambda: start(Validator(Settings()), archive, kept=tmp_path / "columns"))
    assert report.has_columns
    with (tmp_path / "columns").open("rb") as file:
        stored = StoredResults(file, EDITION, make_image_sets(EDITION))
    (entry,) = stored.results.values()
    assert (entry.competition.key, entry.classes) == ("comp1", ("car",))
    assert entry.content["car"].confidence.tolist() == [0.9, 0.1, 0.8]


def test_accepts_an_upload_whose_columns_are_too_large_without_them(archive: Path) -> None:
    report = anyio.run(lambda: start(Validator(Settings()), archive, limit=100))
    assert not report.refuses
    assert not report.has_columns


def test_gives_no_columns_of_an_upload_with_problems(archive: Path) -> None:
    archive.write_bytes(make_archive((0.9, float("nan"), 0.8)))
    report = validate(archive)
    assert report.refuses
    assert not report.has_columns


def test_says_what_is_wrong_and_where(archive: Path) -> None:
    archive.write_bytes(make_archive((0.5, float("nan"), 0.5)))
    report = validate(archive)
    assert report.refuses
    (problem,) = report.problems
    assert (problem.file, problem.line) == ("results/VOC2012/Main/comp1_cls_test_car.txt", 2)


def test_gives_up_after_the_time_limit(endless: Path) -> None:
    report = validate(endless, validation_time_limit=timedelta(seconds=1))
    assert [problem.code for problem in report.problems] == ["validation_takes_too_long"]
    assert report.refuses


def test_gives_up_at_the_memory_limit(archive: Path) -> None:
    report = validate(archive, validation_memory_limit_bytes=1024 * 1024)
    assert report.refuses
    (problem,) = report.problems
    assert problem.code in {"validation_takes_too_much_memory", "validation_stopped"}


def children() -> set[int]:
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


async def prepare(validator: Validator) -> None:
    """Announce an upload, and wait until `keep_ready` has dealt with it."""
    validator.expect_upload()
    while not validator.reading:
        await checkpoint()
    while validator.reading:
        await anyio.sleep(0.01)


async def wait_for_reader(pipe: Path) -> int:
    """Wait until a process reads a pipe, and return a descriptor that keeps it waiting for content."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody has opened it to read
                raise
            await anyio.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_a_process_is_ready_before_an_upload_is_there_and_reads_it(archive: Path) -> None:
    async def run() -> Report:
        validator, before = Validator(Settings()), children()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(validator.keep_ready)
            await prepare(validator)
            ahead = children() - before
            assert len(ahead) == 1
            report = await start(validator, archive)
            await prepare(validator)
            assert children() - before == ahead
            tasks.cancel_scope.cancel()
        return report

    assert not anyio.run(run).refuses


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_no_process_is_started_ahead_while_as_many_read_as_may(endless: Path) -> None:
    async def run() -> None:
        validator, before = Validator(Settings(validation_processes=1)), children()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start, validator, endless)
            pipe = await wait_for_reader(endless)
            reading = children() - before
            assert len(reading) == 1
            tasks.start_soon(validator.keep_ready)
            validator.expect_upload()
            await anyio.wait_all_tasks_blocked()
            assert children() - before == reading
            tasks.cancel_scope.cancel()
        os.close(pipe)

    anyio.run(run)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_a_killed_process_is_a_problem_that_is_reported_and_the_next_upload_is_read(
    endless: Path, archive: Path
) -> None:
    async def run() -> tuple[Report, Report]:
        validator, before = Validator(Settings()), children()
        reports = []

        async def read() -> None:
            reports.append(await start(validator, endless))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            pipe = await wait_for_reader(endless)
            (new,) = children() - before
            os.kill(new, signal.SIGKILL)
        os.close(pipe)
        return reports[0], await start(validator, archive)

    killed, following = anyio.run(run)
    assert [problem.code for problem in killed.problems] == ["validation_stopped"]
    assert not following.refuses


def test_waiting_for_a_turn_does_not_count_as_reading(archive: Path) -> None:
    """An upload that waited longer than its time limit is read all the same."""

    async def run() -> list[Report]:
        limit = timedelta(seconds=1)
        turns = FairTurns(1)
        validator = Validator(Settings(validation_time_limit=limit), turns=turns)
        reports: list[Report] = []

        async def read() -> None:
            reports.append(await start(validator, archive))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(validator.keep_ready)
            await prepare(validator)  # so that reading takes milliseconds
            async with anyio.create_task_group() as uploads, turns.turn(uuid.uuid4()):
                uploads.start_soon(read)
                await anyio.sleep(limit.total_seconds() + 0.2)
                assert turns.waiting == 1
            tasks.cancel_scope.cancel()
        return reports

    (report,) = anyio.run(run)
    assert not report.refuses


def test_nobody_waits_behind_all_the_uploads_of_another(archive: Path, endless: Path) -> None:
    async def run() -> Report:
        validator, many = Validator(Settings(validation_processes=2)), uuid.uuid4()
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(start, validator, endless, many)
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(20):
                report = await start(validator, archive)
            tasks.cancel_scope.cancel()
        assert validator.reading == 0
        return report

    assert not anyio.run(run).refuses
