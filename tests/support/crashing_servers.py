"""A real PostgreSQL and Redis that tests kill and start again: on the same port, with what is on their disk."""

import contextlib
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
from sqlalchemy.engine import URL

from tests.support import postgres, redis_server
from tests.support.postgres import DRIVER, PostgresServer
from tests.support.processes import (
    GUARD,
    UnavailableError,
    free_port,
    guarded,
    temporary_directory,
    unprivileged_user,
)

# What PostgreSQL has confirmed outlives its crash; only a power cut could take it.
SURVIVES_CRASHES = {**postgres.SETTINGS, "synchronous_commit": "on"}
STARTS_TRIED = 5  # the memory of a PostgreSQL that was killed is in use until the last of its processes has ended


class CrashingServer:
    """A server process and the right to kill it.

    Args:
        command: its program and arguments; it must stay in the foreground.
        directory: its working directory.
        user: whom it runs as; "" for the current user.
        stop_signal: what asks it to end at once.
        answers: whether it takes connections yet.
    """

    def __init__(
        self, command: list[str], directory: Path, user: str, stop_signal: signal.Signals, answers: Callable[[], bool]
    ) -> None:
        self._start = partial(guarded, command, directory, user, stop_signal, answers)
        self._directory = directory
        self._running = contextlib.ExitStack()

    def start(self) -> None:
        """Start it, and wait until it answers.

        Raises:
            UnavailableError: it does not start.
        """
        for attempt in range(1, STARTS_TRIED + 1):
            try:
                self._running.enter_context(self._start())
            except UnavailableError:
                if attempt == STARTS_TRIED:
                    raise
            else:
                return

    def kill(self) -> None:
        """Kill it with SIGKILL, and wait for its end."""
        guards = [process for process in psutil.Process().children() if self._guards(process)]
        servers = [server for guard in guards for server in guard.children()]
        for server in servers:
            server.kill()
        psutil.wait_procs([*servers, *guards])
        self._running.close()

    def _guards(self, process: psutil.Process) -> bool:
        try:
            return {str(GUARD), str(self._directory)} <= set(process.cmdline())
        except psutil.NoSuchProcess:  # another fault has just killed that one
            return False

    def stop(self) -> None:
        """Stop it, and delete its directory."""
        self._running.close()
        shutil.rmtree(self._directory, ignore_errors=True)


@contextlib.contextmanager
def crashing_redis(password: str = "") -> Iterator[tuple[str, CrashingServer]]:
    """Give the URL of a Redis, without a database number, and the server.

    Raises:
        UnavailableError: there is none, or it does not start.
    """
    program, directory, port = redis_server.find_program(), temporary_directory(""), free_port()
    command = [str(program), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    command += ["--dir", str(directory), *(["--requirepass", password] if password else [])]
    server = CrashingServer(command, directory, "", signal.SIGTERM, partial(redis_server.answers, password, port))
    try:
        server.start()
        yield f"redis://:{password}@127.0.0.1:{port}" if password else f"redis://127.0.0.1:{port}", server
    finally:
        server.stop()


@contextlib.contextmanager
def crashing_postgres() -> Iterator[tuple[PostgresServer, CrashingServer]]:
    """Give a PostgreSQL, and the server.

    Raises:
        UnavailableError: there is none, or it does not start.
    """
    user = unprivileged_user()
    directory, port = temporary_directory(user), free_port()
    try:
        binaries = postgres.reachable_binaries(postgres.find_binaries(), directory, user)
        password = "crashing"
        postgres.initialise(binaries, directory, user, password)
        address = URL.create(DRIVER, "postgres", password, "127.0.0.1", port, database="postgres")
        settings = {**SURVIVES_CRASHES, "port": str(port)}
        command = [str(binaries / "postgres"), "-D", str(directory / "data")]
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        server = CrashingServer(command, directory, user, signal.SIGINT, partial(postgres.answers, address))
        server.start()
        try:
            yield PostgresServer(address), server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
