"""What a process that reads uploads cannot do: tried from inside, as code that an upload has smuggled in would."""

import json
import os
import platform
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from tests.app.intake.inside import (
    inside_answer,
    inside_clone3,
    inside_connect,
    inside_crash,
    inside_database,
    inside_delete,
    inside_descriptors,
    inside_environment,
    inside_fork,
    inside_keep,
    inside_limit,
    inside_list,
    inside_listen,
    inside_other_calls,
    inside_own_limit,
    inside_pickle,
    inside_pieces,
    inside_priority,
    inside_read,
    inside_run,
    inside_shared_memory,
    inside_signal,
    inside_signal_by_pipe,
    inside_sleep,
    inside_spin,
    inside_thread,
    inside_touch,
    inside_unix_socket,
    inside_upload,
    inside_write,
)
from tests.support.site import serving
from vocboard.app.errors import TooLargeError
from vocboard.app.intake import reading, system_calls
from vocboard.app.intake.confinement import ALL_MECHANISMS, ReadingLimits
from vocboard.app.intake.fork_server import ENVIRONMENT, ForkServerError
from vocboard.app.intake.reading import StoppedProcessError, TooLongError, ValidationProcesses, reading_server
from vocboard.app.intake.report import Report
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux confines without privileges")


INSIDE = Path(__file__).with_name("inside.py")
REPORT = (
    '{"report": {"problems": [{"code": "a", "severity": "error", "message": "%s", "file": null, "line": null}], '
    '"entries": [], "columns": false, "groups": [], "doubtful": {}}}'
)
LIMITS = ReadingLimits(memory_bytes=512 << 20, seconds=60)
CALL = "(exec(source, scope), scope[name](*arguments))[1]"


def call(function: Callable[..., Report], *arguments: object) -> tuple[Any, ...]:
    """Return what a process is to run, so that a function of the module `inside` is called there."""
    name = function.__name__
    return _Evaluated(CALL), {"source": INSIDE.read_text(), "scope": {}, "name": name, "arguments": arguments}


class _Evaluated:
    """Pickled, it becomes a function of an upload and a scope, made of what the child has."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (f"lambda upload, scope, send_columns=None: eval({self._text!r}, dict(scope, upload=upload))",)

    def __call__(self, *_arguments: object) -> Report:
        raise NotImplementedError


@pytest.fixture(scope="module")
def processes() -> Iterator[ValidationProcesses]:
    made = ValidationProcesses()
    yield made
    made.close()


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    directory = tmp_path / "archives" / "incoming"
    directory.mkdir(parents=True)
    return directory


@pytest.fixture
def upload(uploads: Path) -> Path:
    path = uploads / "upload"
    path.write_bytes(b"content")
    return path


@pytest.fixture
def inside(upload: Path, processes: ValidationProcesses, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Give what runs a function in a process for validation and returns what it said."""
    monkeypatch.setenv("VOCBOARD_SECRET_KEY", "the secret of the web application")
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", "postgresql://web:password@postgres/vocboard")

    def run(function: Callable[..., Report], *arguments: object) -> str:
        report = anyio.run(lambda: processes.run(upload, *call(function, *arguments), limits=LIMITS))
        return report.problems[0].message

    return run


def own_servers() -> list[psutil.Process]:
    """Return what this process's reading processes are forked from."""
    running = [each for each in psutil.Process().children() if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in running if "reading_program" in " ".join(each.cmdline())]


@pytest.fixture
def server(inside: Callable[..., str]) -> psutil.Process:
    """Give what the processes are forked from."""
    inside(inside_upload)
    (found,) = own_servers()
    while found.children():  # until it has noticed that the last one has ended
        time.sleep(0.01)
    return found


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Give a listening socket that children inherit, as the web application's server makes its own."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        opened.set_inheritable(True)
        yield opened


def test_has_no_variable_of_the_web_application(inside: Callable[..., str]) -> None:
    environment = json.loads(inside(inside_environment))
    assert set(environment) <= {"LANG", "LC_CTYPE", *ENVIRONMENT}


def test_inherits_no_socket_and_no_file(inside: Callable[..., str], listener: socket.socket, uploads: Path) -> None:
    with (uploads.parent / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        modes = json.loads(inside(inside_descriptors)).values()
    # /dev/null, the pipe of the response, and the upload: no socket (14), and no other file.
    assert sorted(mode[:-4] for mode in modes if mode[:-4] != "2") == ["1", "10"]


def test_the_next_upload_finds_nothing_of_the_last_one_and_all_of_its_memory(inside: Callable[..., str]) -> None:
    """Half of the memory is used each time, and never given back."""
    assert [inside(inside_keep, LIMITS.memory_bytes // 2) for _ in range(5)] == ["[]"] * 5


def test_a_process_that_crashes_is_an_error_and_the_next_upload_is_read(inside: Callable[..., str]) -> None:
    with pytest.raises(StoppedProcessError):
        inside(inside_crash)
    assert inside(inside_upload) == "done: b'content'"


@linux
def test_processor_time_is_limited_and_other_time_is_not(upload: Path, processes: ValidationProcesses) -> None:
    limits = replace(LIMITS, seconds=1)
    with pytest.raises(TooLongError):
        anyio.run(lambda: processes.run(upload, *call(inside_spin), limits=limits))
    report = anyio.run(lambda: processes.run(upload, *call(inside_sleep, 1.5), limits=limits))
    assert report.problems[0].message == "awake"


def test_processes_end_with_what_they_are_forked_from_which_is_started_again(
    upload: Path, processes: ValidationProcesses, inside: Callable[..., str], server: psutil.Process
) -> None:
    async def ask() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(processes.run, upload, *call(inside_sleep, 60), limits=LIMITS))
            while not server.children():
                await anyio.sleep(0.01)
            server.kill()

    with pytest.raises(ExceptionGroup):
        anyio.run(ask)
    assert inside(inside_upload) == "done: b'content'"


def test_a_closed_server_ends_even_while_it_starts_and_forks_nothing_more() -> None:
    before, server = own_servers(), reading_server()
    with ThreadPoolExecutor() as pool:
        starting = pool.submit(server.start)
        while not (running := [each for each in own_servers() if each not in before]):
            time.sleep(0.001)
        server.close()
        with pytest.raises(ForkServerError):
            starting.result()
    assert not any(each.is_running() for each in running)
    with pytest.raises(ForkServerError):
        server.fork([])


def test_the_web_application_ends_its_server_when_it_shuts_down(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "reading_server", reading_server)  # instead of the one that tests share
    before = own_servers()
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url)):
        while not (running := [each for each in own_servers() if each not in before]):
            time.sleep(0.01)
    assert psutil.wait_procs(running, timeout=10)[1] == []


def test_a_server_ends_with_its_parent_even_if_another_process_has_the_socket() -> None:
    program = (
        "import os, time; from vocboard.app.intake.reading import reading_server\n"
        "server = reading_server(); server.start()\n"
        "if (holder := os.fork()) == 0: os.close(1); time.sleep(60)\n"
        "print(server._running[0][0].pid, holder, flush=True); os.kill(os.getpid(), 9)"
    )
    parent = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False)
    server, holder = map(int, parent.stdout.split())
    try:
        ends_at = time.monotonic() + 10
        with suppress(psutil.NoSuchProcess):  # where nothing waits for orphans, it stays as a zombie
            while psutil.Process(server).status() != psutil.STATUS_ZOMBIE:
                assert time.monotonic() < ends_at
                time.sleep(0.05)
        assert psutil.pid_exists(holder)
    finally:
        os.kill(holder, signal.SIGKILL)


@linux
def test_what_processes_are_forked_from_has_one_thread(server: psutil.Process) -> None:
    assert server.num_threads() == 1


@linux
def test_makes_no_other_system_calls_than_those_that_are_listed(inside: Callable[..., str]) -> None:
    column = 0 if platform.machine() == "x86_64" else 1
    with_conditions = ("_OPEN", "_OPENAT", "_MMAP", "_CLONE", "_PRLIMIT64", "_FCNTL", "_IOCTL")
    rows = [*system_calls.ALLOWED.values(), *(getattr(system_calls, name) for name in with_conditions)]
    assert inside(inside_other_calls, [row[column] for row in rows]) == "{}"


@linux
def test_reaches_no_network(inside: Callable[..., str], listener: socket.socket) -> None:
    assert inside(inside_connect, listener.getsockname()[1]) == "refused: PermissionError"
    assert inside(inside_listen) == "refused: PermissionError"
    assert inside(inside_unix_socket) == "refused: PermissionError"


@linux
def test_reads_its_upload_and_nothing_else(inside: Callable[..., str], uploads: Path) -> None:
    directory = uploads.parent
    database = directory / "vocboard.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path in (directory / "ab", directory / "worker.private-key", uploads / "another"):
        path.write_bytes(b"content")
    assert inside(inside_upload) == "done: b'content'"
    assert inside(inside_read, str(uploads / "another")) == "refused: PermissionError"
    assert inside(inside_read, str(directory / "ab")) == "refused: PermissionError"
    assert inside(inside_read, str(directory / "worker.private-key")) == "refused: PermissionError"
    assert inside(inside_list, str(directory)) == "refused: PermissionError"
    assert inside(inside_database, str(database)).startswith("refused")
    assert inside(inside_read, f"/proc/{os.getpid()}/environ") == "refused: PermissionError"


@linux
def test_changes_nothing(inside: Callable[..., str], uploads: Path) -> None:
    assert inside(inside_write, str(uploads / "another")) == "refused: PermissionError"
    assert inside(inside_write, "/tmp/another") == "refused: PermissionError"
    assert inside(inside_delete, str(uploads / "upload")) == "refused: PermissionError"


@linux
def test_runs_no_program_and_signals_nobody(inside: Callable[..., str]) -> None:
    assert inside(inside_run) == "refused: PermissionError"
    assert inside(inside_signal, os.getpid()) == "refused: PermissionError"


@linux
def test_starts_threads_but_no_process_that_would_outlive_it(inside: Callable[..., str]) -> None:
    assert inside(inside_fork) == "refused: PermissionError"
    assert inside(inside_clone3) == "-1 ENOSYS"
    assert inside(inside_thread) == "ran"


@linux
def test_limits_and_priorities_of_other_processes_are_out_of_reach(inside: Callable[..., str]) -> None:
    assert inside(inside_limit, os.getpid()) == "refused: PermissionError"
    assert inside(inside_priority, os.getpid()) == ", ".join(["refused: PermissionError"] * 3)


@linux
def test_its_own_limit_of_memory_cannot_be_raised_again(inside: Callable[..., str]) -> None:
    assert inside(inside_own_limit) == "refused: ValueError, refused: PermissionError"


@linux
def test_no_signal_goes_through_a_pipe(inside: Callable[..., str]) -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _frame: received.append(number))
    try:
        assert inside(inside_signal_by_pipe, os.getpid()) == ", ".join(["refused: PermissionError"] * 3)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert received == []


@linux
def test_changes_nothing_that_is_known_of_a_file(inside: Callable[..., str], uploads: Path) -> None:
    """Times of change decide what is removed as abandoned, and a lock would hold up the process that receives."""
    assert set(inside(inside_touch, str(uploads / "upload")).split(", ")) == {"refused: PermissionError"}
    assert (uploads / "upload").read_bytes() == b"content"


@linux
def test_shares_no_memory_with_others_and_watches_no_files(inside: Callable[..., str]) -> None:
    assert json.loads(inside(inside_shared_memory)) == [-1, -1, -1, -1]


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"report": ' + '{"problems": ' * 50_000,
        REPORT % "\\ud800",
        REPORT % "\\u0000",
        '{"report": 7}',
        "7",
        '{"report": {"problems": 7, "entries": [], "columns": true, "groups": [], "doubtful": {}}}',
        '{"report": {"problems": [], "entries": [["comp1"]], "columns": true, "groups": [], "doubtful": {}}}',
    ],
    ids=["nested", "nested objects", "surrogate", "null", "number", "bare number", "no list", "short entry"],
)
def test_an_answer_that_is_invalid_ends_it(inside: Callable[..., str], content: str) -> None:
    with pytest.raises(StoppedProcessError):
        inside(inside_answer, content)


def test_the_invalid_answers_differ_from_a_valid_one(inside: Callable[..., str]) -> None:
    assert inside(inside_answer, REPORT % "text") == "text"


def test_its_answers_run_no_code(inside: Callable[..., str]) -> None:
    with pytest.raises(StoppedProcessError):
        inside(inside_pickle)


def test_pieces_of_columns_that_nobody_asked_for_end_it(inside: Callable[..., str]) -> None:
    with pytest.raises(StoppedProcessError):
        inside(inside_pieces, 1, 10)


def test_a_piece_of_columns_that_is_too_large_ends_it(upload: Path, processes: ValidationProcesses) -> None:
    received: list[bytes] = []

    asked = call(inside_pieces, 1, 2**31)
    with pytest.raises(StoppedProcessError):
        anyio.run(lambda: processes.run(upload, *asked, limits=LIMITS, sink=received.append))
    assert received == []


def test_more_columns_than_there_may_be_end_it(uploads: Path, upload: Path, processes: ValidationProcesses) -> None:
    with ArchiveStore(uploads.parent).receive(limit=2_500_000) as columns:
        asked = call(inside_pieces, 3, 2**20)
        with pytest.raises(TooLargeError):
            anyio.run(lambda: processes.run(upload, *asked, limits=LIMITS, sink=columns.write))
        assert columns.path.stat().st_size <= columns.limit


@linux
def test_a_system_that_cannot_confine_is_reported_once(
    upload: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("vocboard.app.intake.reading.ALL_MECHANISMS", ALL_MECHANISMS | {"walls"})

    async def ask() -> None:
        with closing(ValidationProcesses()) as processes:
            for _ in range(2):
                await processes.run(upload, *call(inside_environment), limits=LIMITS)

    anyio.run(ask)
    assert [record.getMessage() for record in caplog.records if "walls" in record.getMessage()] == [
        "uploads are read without walls, which this system does not support; see docs/operators.md"
    ]
