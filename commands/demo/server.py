"""The demo's server, `vocboard serve` as a child process with its data in one directory, and its accounts."""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from vocboard.app.accounts import administration, tokens
from vocboard.app.accounts.models import Role, Scope
from vocboard.app.accounts.people import new_user
from vocboard.app.database import Database
from vocboard.app.errors import NotFoundError
from vocboard.app.settings import Settings
from vocboard.commands.serve import address

START_SECONDS = 600  # on a slow machine
SECONDS_BETWEEN_NOTES = 30.0
STOP_SECONDS = 25  # longer than the server's own grace period for requests and the worker
POLL_SECONDS = 0.1
UPLOADS_OF_DEMO = 100  # in the first hour, by its organiser
TOKEN_LIFETIME = timedelta(days=90)
SECRET_FILE = "secret-key"  # noqa: S105  # the name of the file


class ServerError(Exception):
    """The server did not start, or exited unexpectedly."""


class DemoServer:
    """A running server, stopped at the end of the block."""

    def __init__(self, settings: Settings, *, host: str, port: int) -> None:
        self._environment = environment(settings)
        self._host, self._port = host, port or _free_port(host)
        self.url = address(host, self._port)
        self._log_file = settings.data_directory / "server.log"

    def __enter__(self) -> Self:
        serve = [sys.executable, "-m", "vocboard.commands.main", "serve"]
        command = [*serve, "--host", self._host, "--port", str(self._port)]
        with self._log_file.open("ab") as log:
            # Its own session: Ctrl-C reaches only this process, which then stops the server cleanly.
            self._process = subprocess.Popen(  # noqa: S603  # our own program
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._wait_until_it_answers()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def wait(self) -> None:
        """Wait until the server exits, which is always an error.

        Raises:
            ServerError: the server exited.
        """
        status = self._process.wait()
        raise ServerError(f"The server exited with status {status}; see {self._log_file}.")

    def _wait_until_it_answers(self) -> None:
        began = noted = time.monotonic()
        with httpx.Client(timeout=5) as client:
            while (now := time.monotonic()) < began + START_SECONDS:
                if self._process.poll() is not None:
                    self.wait()
                if now - noted > SECONDS_BETWEEN_NOTES:
                    print(
                        f"The server is still starting, after {now - began:.0f} seconds; see {self._log_file}.",
                        flush=True,
                    )
                    noted = now
                try:
                    if client.get(f"{self.url}/readyz").is_success:
                        return
                except httpx.TransportError:
                    pass
                time.sleep(POLL_SECONDS)
        raise ServerError(f"The server did not respond within {START_SECONDS} seconds; see {self._log_file}.")

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()


@contextlib.contextmanager
def only_demo_in(directory: Path, ready_file: Path) -> Iterator[None]:
    """Lock the data directory of a demo. The system releases the lock when the process ends.

    Raises:
        ServerError: another demo runs with it.
    """
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ServerError(
                f"A demo with the data in {directory} is running already; see {ready_file}. Stop it first, or choose "
                "another directory with --data and another port with --port."
            ) from error
        yield
    finally:
        os.close(descriptor)


def check_port(host: str, port: int) -> None:
    """Check that the server can listen there.

    Raises:
        ServerError: it cannot. Otherwise another server could answer in its place.
    """
    try:
        _listen(host, port).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ServerError(f"Port {port} is in use. Choose another with --port; 0 picks a free one.") from error
        raise ServerError(f"The server cannot listen on {host}, port {port}: {error}.") from error


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment of the server process: ours, plus its data directory, its notice and a secret key.

    It permits more uploads than by default, because the organiser of all challenges uploads their files at once.
    """
    directory = settings.data_directory.resolve()
    own = {"VOCBOARD_DATA_DIRECTORY": str(directory), "VOCBOARD_NOTICE": settings.notice}
    own["VOCBOARD_UPLOADS_PER_HOUR"] = str(settings.uploads_per_hour + UPLOADS_OF_DEMO)
    if not settings.secret_key.get_secret_value():
        own["VOCBOARD_SECRET_KEY"] = _secret(directory / SECRET_FILE)
    return os.environ | own


def _secret(path: Path) -> str:
    """Return the secret key of an earlier start, so that sessions stay valid, or a new one."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32))
    return path.read_text()


def _free_port(host: str) -> int:
    with _listen(host, 0) as listener:
        port: int = listener.getsockname()[1]
        return port


def _listen(host: str, port: int) -> socket.socket:
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


@dataclass(frozen=True, slots=True)
class Account:
    """One user's credentials."""

    email: str
    password: str
    token: str


@dataclass(frozen=True, slots=True)
class DemoFile:
    """`demo.json`: the demo's URL and credentials. The file exists once the demo is ready."""

    url: str
    participant: Account
    organiser: Account

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the file of an earlier start; None if there is none or it cannot be read."""
        try:
            content = json.loads(path.read_text())
            return cls(content["url"], Account(**content["participant"]), Account(**content["organiser"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path) -> None:
        """Write the file atomically, readable only by its owner."""
        partial = path.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(asdict(self), indent=2) + "\n")
        partial.replace(path)


def ensure_account(
    database: Database, *, email: str, name: str, affiliation: str, role: Role, known: Account | None = None
) -> Account:
    """Create an account, or reset an existing one, and return its credentials.

    Args:
        known: credentials of an earlier start, returned unchanged if their token is still valid.
    """
    password = secrets.token_urlsafe(12)
    person = new_user(email=email, name=name, affiliation=affiliation, password=password, role=role)
    with database.writing() as session:
        if known is not None and tokens.user_of_token(session, known.token) is not None:
            return known
        try:
            user = administration.get_user(session, email)
            user.password_hash = person.password_hash
            administration.confirm(session, user=user)
        except NotFoundError:
            user = administration.create_user(session, person=person)
        scopes = set(Scope) if role is Role.ORGANISER else {Scope.READ, Scope.SUBMIT}
        _, token = tokens.create_token(session, user=user, label="demo", scopes=scopes, lifetime=TOKEN_LIFETIME)
        return Account(email, password, token)
