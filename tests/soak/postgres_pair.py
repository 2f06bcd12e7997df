"""A PostgreSQL and its stand-by, which has everything that was confirmed and takes over when the first is lost."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
from sqlalchemy.engine import URL

from tests.support import postgres
from tests.support.crashing_servers import SURVIVES_CRASHES, CrashingServer
from tests.support.postgres import DRIVER, PostgresServer, conninfo, run_as
from tests.support.processes import free_port, temporary_directory, unprivileged_user

PASSWORD = "crashing"
SETTINGS = {**SURVIVES_CRASHES, "max_connections": "150", "autovacuum": "on", "wal_retrieve_retry_interval": "200ms"}
SETTINGS |= {"wal_keep_size": "512MB", "max_wal_size": "512MB"}
SECONDS_TO_FOLLOW = 60


@dataclass(frozen=True)
class Node:
    """One of the two."""

    address: URL
    directory: Path
    server: CrashingServer


class PostgresPair:
    """The two servers; `primary` is the one that writes. Commits wait until the stand-by has them."""

    def __init__(self, directory: Path, user: str) -> None:
        self._user = user
        self._binaries = postgres.reachable_binaries(postgres.find_binaries(), directory, user)
        self.primary, self.stand_by = (self._node(directory / name) for name in ("a", "b"))

    def _node(self, directory: Path) -> Node:
        directory.mkdir()
        if self._user:
            shutil.chown(directory, self._user)
        address = URL.create(DRIVER, "postgres", PASSWORD, "127.0.0.1", free_port(), database="postgres")
        command = [str(self._binaries / "postgres"), "-D", str(directory / "data"), "-p", str(address.port)]
        command += [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        answers = partial(postgres.answers, address)
        return Node(address, directory, CrashingServer(command, directory, self._user, signal.SIGINT, answers))

    def start(self) -> URL:
        """Start both, and return the address of a new database."""
        postgres.initialise(self._binaries, self.primary.directory, self._user, PASSWORD)
        self.primary.server.start()
        database = PostgresServer(self.primary.address).create_database()
        self._add_stand_by()
        return database

    def fail_over(self) -> None:
        """Kill the primary, and let the stand-by take over."""
        self.primary.server.kill()
        self._execute(self.stand_by, "ALTER SYSTEM RESET synchronous_standby_names")
        self._execute(self.stand_by, f"SELECT pg_promote(true, {SECONDS_TO_FOLLOW})", "SELECT pg_reload_conf()")
        self.primary, self.stand_by = self.stand_by, self.primary

    def replace_stand_by(self) -> None:
        """Make a new stand-by of what was the primary before."""
        shutil.rmtree(self.stand_by.directory / "data")
        self._add_stand_by()

    def stop(self) -> None:
        """Stop both, and delete their directories."""
        for node in (self.primary, self.stand_by):
            node.server.stop()

    def _add_stand_by(self) -> None:
        source = self.primary.address
        copy = [str(self._binaries / "pg_basebackup"), "-D", str(self.stand_by.directory / "data"), "-R", "--no-sync"]
        copy += ["-X", "stream", "-c", "fast", "-h", str(source.host), "-p", str(source.port), "-U", "postgres"]
        subprocess.run(copy, env={**os.environ, "PGPASSWORD": PASSWORD}, **run_as(self._user), cwd="/", check=True)
        self.stand_by.server.start()
        deadline = time.monotonic() + SECONDS_TO_FOLLOW
        while not self._execute(self.primary, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"):
            assert time.monotonic() < deadline, "the stand-by does not follow"
            time.sleep(0.1)
        self._execute(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")

    @staticmethod
    def _execute(node: Node, *statements: str) -> object:
        with psycopg.connect(conninfo(node.address), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchone() if cursor.description else None


@contextlib.contextmanager
def postgres_pair() -> Iterator[PostgresPair]:
    """Give two servers that are not started yet.

    Raises:
        UnavailableError: there is no PostgreSQL.
    """
    user = unprivileged_user()
    directory = temporary_directory(user)
    try:
        pair = PostgresPair(directory, user)
        try:
            yield pair
        finally:
            pair.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
