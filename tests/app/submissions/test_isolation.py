"""What a process that reads uploads cannot do: tried from inside, as code that an upload has smuggled in would."""

import json
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.app.submissions.inside import (
    inside_answer,
    inside_clone3,
    inside_connect,
    inside_database,
    inside_delete,
    inside_descriptors,
    inside_environment,
    inside_fork,
    inside_limit,
    inside_list,
    inside_listen,
    inside_own_limit,
    inside_pickle,
    inside_pieces,
    inside_priority,
    inside_read,
    inside_run,
    inside_shared_memory,
    inside_signal,
    inside_signal_by_pipe,
    inside_thread,
    inside_touch,
    inside_unix_socket,
    inside_write,
)
from vocboard.app.errors import TooLargeError
from vocboard.app.isolation.confinement import ALL_MECHANISMS
from vocboard.app.storage.directory_store import DirectoryStore
from vocboard.app.submissions.report import Report
from vocboard.app.submissions.validation_processes import StoppedProcessError, ValidationProcesses

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux confines without privileges")


INSIDE = Path(__file__).with_name("inside.py")
REPORT = (
    '{"report": {"problems": [{"code": "a", "severity": "error", "message": "%s", "file": null, "line": null}], '
    '"entries": [], "columns": false, "groups": []}}'
)
CALL = "(exec(source, scope), scope[name](*arguments))[1]"


def call(function: Callable[..., Report], *arguments: object) -> tuple[Any, ...]:
    """Return what the pool is to run, so that a function of the module `inside` is called there."""
    name = function.__name__
    return eval, CALL, {"source": INSIDE.read_text(), "scope": {}, "name": name, "arguments": arguments}


def call_with_columns(function: Callable[..., Report], *arguments: object) -> tuple[Any, ...]:
    """Return the same where a sink is given: what sends columns is passed by keyword, which `eval` does not take."""
    scope = {"source": INSIDE.read_text(), "scope": {}, "name": function.__name__, "arguments": arguments}
    return _Evaluated(CALL), scope


class _Evaluated:
    """Pickled, it becomes a function of a scope and a keyword, made of what the child has."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (f"lambda scope, send_columns: eval({self._text!r}, scope)",)

    def __call__(self, scope: dict[str, Any]) -> Report:
        raise NotImplementedError


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    directory = tmp_path / "archives" / "incoming"
    directory.mkdir(parents=True)
    return directory


@pytest.fixture
def inside(uploads: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Give what runs a function in a process for validation and returns what it said."""
    monkeypatch.setenv("VOCBOARD_SECRET_KEY", "the secret of the web application")
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", "postgresql://web:password@postgres/vocboard")

    def run(function: Callable[..., Report], *arguments: object) -> str:
        async def ask() -> Report | None:
            processes = ValidationProcesses(uploads)
            return await processes.run(*call(function, *arguments))

        report = anyio.run(ask)
        assert report is not None
        return report.problems[0].message

    return run


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Give a listening socket that children inherit, as the web application's server makes its own."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        opened.set_inheritable(True)
        yield opened


def test_has_no_variable_of_the_web_application(inside: Callable[..., str]) -> None:
    environment = json.loads(inside(inside_environment))
    assert set(environment) <= {"LANG", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"}


def test_inherits_no_socket_and_no_file(inside: Callable[..., str], listener: socket.socket, uploads: Path) -> None:
    with (uploads.parent / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        modes = json.loads(inside(inside_descriptors)).values()
    assert {mode[:-4] for mode in modes} <= {"2", "1"}  # /dev/null and pipes: neither a socket (14) nor a file (10)


@linux
def test_reaches_no_network(inside: Callable[..., str], listener: socket.socket) -> None:
    assert inside(inside_connect, listener.getsockname()[1]) == "refused: PermissionError"
    assert inside(inside_listen) == "refused: PermissionError"
    assert inside(inside_unix_socket) == "refused: PermissionError"


@linux
def test_reads_uploads_and_nothing_else(inside: Callable[..., str], uploads: Path) -> None:
    directory = uploads.parent
    database = directory / "vocboard.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path in (directory / "ab", directory / "worker.private-key", uploads / "upload"):
        path.write_bytes(b"content")
    assert inside(inside_read, str(uploads / "upload")) == "done: b'content'"
    assert inside(inside_read, str(directory / "ab")) == "refused: PermissionError"
    assert inside(inside_read, str(directory / "worker.private-key")) == "refused: PermissionError"
    assert inside(inside_list, str(directory)) == "refused: PermissionError"
    assert inside(inside_database, str(database)).startswith("refused")
    assert inside(inside_read, f"/proc/{os.getpid()}/environ") == "refused: PermissionError"


@linux
def test_changes_nothing(inside: Callable[..., str], uploads: Path) -> None:
    (uploads / "upload").write_bytes(b"content")
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
    assert inside(inside_own_limit) == "refused: ValueError"


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
    (uploads / "upload").write_bytes(b"content")
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
        '{"report": {"problems": 7, "entries": [], "columns": true, "groups": []}}',
        '{"report": {"problems": [], "entries": [["comp1"]], "columns": true, "groups": []}}',
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


def test_a_piece_of_columns_that_is_too_large_ends_it(uploads: Path) -> None:
    received: list[bytes] = []

    async def ask() -> None:
        await ValidationProcesses(uploads).run(*call_with_columns(inside_pieces, 1, 2**31), sink=received.append)

    with pytest.raises(StoppedProcessError):
        anyio.run(ask)
    assert received == []


def test_more_columns_than_there_may_be_end_it(uploads: Path) -> None:
    with DirectoryStore(uploads.parent).receive(limit=2_500_000) as columns:

        async def ask() -> None:
            await ValidationProcesses(uploads).run(*call_with_columns(inside_pieces, 3, 2**20), sink=columns.write)

        with pytest.raises(TooLargeError):
            anyio.run(ask)
        assert columns.path.stat().st_size <= columns.limit


@linux
def test_a_system_that_cannot_confine_is_reported_once(
    uploads: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("vocboard.app.submissions.validation_processes.ALL_MECHANISMS", ALL_MECHANISMS | {"walls"})

    async def ask() -> None:
        processes = ValidationProcesses(uploads)
        await processes.run(*call(inside_environment))
        await processes.run(*call(inside_environment))

    anyio.run(ask)
    assert [record.getMessage() for record in caplog.records if "walls" in record.getMessage()] == [
        "uploads are read without walls, which this system does not support; see docs/operators.md"
    ]
