"""Servers that live exactly as long as the tests, and what happens where one cannot be had."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

GUARD = Path(__file__).with_name("guard.py")
SECONDS_TO_START = 60.0
STARTS_TRIED = 3


class UnavailableError(Exception):
    """Something the tests need from the machine is not there; the message says what and how to get it."""


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test for want of something on this machine; fail it in CI, where everything has to be there."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        pytest.fail(f"{reason} (skipped elsewhere, but CI must not leave tests out)", pytrace=False)
    pytest.skip(reason)


def free_port() -> int:
    """Return a port of the loopback address that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def unprivileged_user() -> str:
    """Return the user to run servers as: "" for the current one, `nobody` for root, as whom PostgreSQL won't run."""
    return "nobody" if os.geteuid() == 0 else ""


def temporary_directory(user: str) -> Path:
    """Make a directory with a short path (sockets live in it) that the user can reach and owns."""
    parent = None if readable_by_all(Path(tempfile.gettempdir())) or not user else "/tmp"
    directory = Path(tempfile.mkdtemp(prefix="vocboard-", dir=parent))
    if user:
        shutil.chown(directory, user)
    return directory


def readable_by_all(path: Path) -> bool:
    """Tell whether another user can get to this file or directory and read it."""
    resolved = path.resolve()
    return bool(resolved.stat().st_mode & 0o004) and all(parent.stat().st_mode & 0o001 for parent in resolved.parents)


@contextlib.contextmanager
def listening(
    command: Callable[[int], list[str]],
    *,
    directory: Path,
    user: str,
    stop_signal: signal.Signals,
    answers: Callable[[int], bool],
) -> Iterator[int]:
    """Run a server on a free port of the loopback address until the block ends, or this process does.

    Args:
        command: from the port, the server's program and arguments; it must stay in the foreground.
        directory: its working directory; its output goes into `log` there; deleted in the end.
        user: whom it runs as; "" for the current user.
        stop_signal: what asks it to end at once.
        answers: from the port, whether it takes connections yet.

    Yields:
        The port.

    Raises:
        UnavailableError: it ended, or did not answer within `SECONDS_TO_START`; with the end of its output.
    """
    with contextlib.ExitStack() as stack:
        for attempt in range(1, STARTS_TRIED + 1):
            port = free_port()
            try:
                stack.enter_context(guarded(command(port), directory, user, stop_signal, partial(answers, port)))
                break
            except UnavailableError:  # someone else may have taken the port in between; not three times
                if attempt == STARTS_TRIED or not directory.exists():  # it is deleted with a server that was stopped
                    raise
        yield port


@contextlib.contextmanager
def guarded(
    command: list[str], directory: Path, user: str, stop_signal: signal.Signals, ready: Callable[[], bool]
) -> Iterator[None]:
    """Run a server under the guard; see `listening`."""
    log = directory / "log"
    log.touch()
    guard = subprocess.Popen(
        [sys.executable, str(GUARD), str(directory), str(int(stop_signal)), user, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the tests; the server ends after them
    )
    assert guard.stdin is not None
    try:
        deadline = time.monotonic() + SECONDS_TO_START
        while not ready():
            if guard.poll() is not None or time.monotonic() > deadline:
                output = log.read_text(errors="replace").strip()[-2000:]
                raise UnavailableError(f"{Path(command[0]).name} does not start: {output or 'it says nothing'}")
            time.sleep(0.05)
        yield
    finally:
        guard.stdin.close()
        guard.wait()
