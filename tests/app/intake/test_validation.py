"""Uploads are read in child processes, within limits, and all that is wrong is told."""

import os
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import anyio
import psutil
import pytest

from tests.support.backend import EDITION, make_archive
from tests.support.factories import make_image_sets
from vocboard.app.intake import reading, validation
from vocboard.app.intake.limits import Place
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.reading import reading_server
from vocboard.app.intake.report import Report
from vocboard.app.intake.validation import FairTurns, Validator
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.evaluator.stored_results.stored_results import StoredResults

pytestmark = pytest.mark.anyio

COMPETITIONS = ("comp1", "comp3")


def someone() -> Place:
    return Place(uuid.uuid4(), "192.0.2.1", UploadKind.SUBMISSION, 0, is_new=False)


_made: list[Validator] = []


def validator_with(settings: Settings, *, turns: FairTurns | None = None) -> Validator:
    """Make a validator that is closed after the test."""
    _made.append(Validator(settings, turns=turns))
    return _made[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while _made:
        _made.pop().close()


def validate(path: Path, **settings: object) -> Report:
    async def run() -> Report:
        return await start(validator_with(Settings(**settings)), path)  # type: ignore[arg-type]

    return anyio.run(run)


async def start(
    validator: Validator, path: Path, uploader: Place | None = None, *, kept: Path | None = None, limit: int = 10**6
) -> Report:
    with ArchiveStore(Settings().archives).receive(limit=limit) as columns:
        report = await validator.validate(
            path,
            uploader=uploader or someone(),
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
    directory = ArchiveStore(Settings().archives).incoming
    directory.mkdir(parents=True)
    return directory


@pytest.fixture
def archive(incoming: Path) -> Path:
    path = incoming / "results.tar"
    path.write_bytes(make_archive())
    return path


@pytest.fixture
def endless(incoming: Path) -> Iterator[Path]:
    """Give an upload that cannot be read to its end: a pipe that nobody writes to."""
    path = incoming / "endless"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)  # so that opening it does not wait
    yield path
    os.close(writing)


def test_says_what_a_valid_archive_enters(archive: Path) -> None:
    report = validate(archive)
    assert not report.refuses
    assert [(entry.competition, entry.classes) for entry in report.entries] == [("comp1", ("car",))]


def test_gives_what_was_read_as_columns(archive: Path, tmp_path: Path) -> None:
    report = anyio.run(lambda: start(validator_with(Settings()), archive, kept=tmp_path / "columns"))
    assert report.has_columns
    with (tmp_path / "columns").open("rb") as file:
        stored = StoredResults(file, EDITION, make_image_sets(EDITION))
    (entry,) = stored.results.values()
    assert (entry.competition.key, entry.classes) == ("comp1", ("car",))
    assert entry.content["car"].confidence.tolist() == [0.9, 0.1, 0.8]


def test_accepts_an_upload_whose_columns_are_too_large_without_them(archive: Path) -> None:
    report = anyio.run(lambda: start(validator_with(Settings()), archive, limit=100))
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


@pytest.fixture(autouse=True)
def own_reading_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each validator starts its own program, as in a web process; other tests share one."""
    monkeypatch.setattr(reading, "reading_server", reading_server)


def children() -> set[psutil.Process]:
    return set(psutil.Process().children())


def readers(before: set[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that read."""
    found = [child for each in children() - before for child in each.children()]
    return [child for child in found if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]


async def no_readers(before: set[psutil.Process]) -> None:
    """Wait until the kernel has removed the last process that has read; its files are closed a little earlier."""
    with anyio.fail_after(5):
        while readers(before):
            await anyio.sleep(0.01)


async def some_readers(before: set[psutil.Process]) -> list[psutil.Process]:
    """Wait until a process reads, and return those that do."""
    with anyio.fail_after(60):
        while not (found := readers(before)):
            await anyio.sleep(0.01)
    return found


def test_what_processes_are_forked_from_is_started_before_an_upload_is_there(archive: Path) -> None:
    async def run() -> Report:
        validator, before = validator_with(Settings()), children()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(validator.keep_ready)
            validator.expect_upload()
            with anyio.fail_after(60):
                while not (ahead := children() - before):
                    await anyio.sleep(0.01)
            report = await start(validator, archive)
            assert children() - before == ahead
            await no_readers(before)
            tasks.cancel_scope.cancel()
        return report

    assert not anyio.run(run).refuses


def test_a_killed_process_is_a_problem_that_is_reported_and_the_next_upload_is_read(
    endless: Path, archive: Path
) -> None:
    async def run() -> tuple[Report, Report]:
        validator, before = validator_with(Settings()), children()
        reports = []

        async def read() -> None:
            reports.append(await start(validator, endless))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            (reader,) = await some_readers(before)
            reader.kill()
        return reports[0], await start(validator, archive)

    killed, following = anyio.run(run)
    assert [problem.code for problem in killed.problems] == ["validation_stopped"]
    assert not following.refuses


async def test_no_process_is_left_when_a_client_gives_up(endless: Path) -> None:
    validator, before = validator_with(Settings()), children()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(start, validator, endless)
        await some_readers(before)
        tasks.cancel_scope.cancel()
    await no_readers(before)


def test_waiting_for_a_turn_does_not_count_as_reading(archive: Path) -> None:
    """An upload that waited longer than its time limit is read all the same."""

    async def run() -> list[Report]:
        limit = timedelta(seconds=1)
        turns = FairTurns(1)
        validator = validator_with(Settings(validation_time_limit=limit), turns=turns)
        reports: list[Report] = []

        async def read() -> None:
            reports.append(await start(validator, archive))

        await start(validator, archive)  # so that reading takes milliseconds
        async with anyio.create_task_group() as uploads, turns.turn(someone()):
            uploads.start_soon(read)
            await anyio.sleep(limit.total_seconds() + 0.2)
            assert turns.waiting == 1
        return reports

    (report,) = anyio.run(run)
    assert not report.refuses


def test_a_small_upload_that_takes_long_leaves_the_express_slot_and_is_read_again(
    archive: Path, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one of them, too, is read completely; here, nothing is read in time."""
    monkeypatch.setattr(validation, "EXPRESS_SECONDS", 0.001)

    async def run() -> Report:
        validator, before = validator_with(Settings(validation_processes=2)), children()
        async with anyio.create_task_group() as tasks:
            slow = anyio.CancelScope()

            async def read_slowly() -> None:
                with slow:
                    await start(validator, endless)

            tasks.start_soon(read_slowly)
            await some_readers(before)

            async def make_room() -> None:
                await anyio.sleep(0.5)
                slow.cancel()

            tasks.start_soon(make_room)
            return await start(validator, archive)

    report = anyio.run(run)
    assert not report.refuses
    assert report.has_columns


def test_nobody_waits_behind_all_the_uploads_of_another(archive: Path, endless: Path) -> None:
    async def run() -> Report:
        validator, many = validator_with(Settings(validation_processes=2)), someone()
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
