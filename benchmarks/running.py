"""A whole installation for benchmarks: web process and workers as operators start them, with databases of their own."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.support.postgres import SETTINGS, postgres_server
from tests.support.processes import free_port
from tests.support.redis_server import redis_server
from tests.support.services import in_full
from vocboard import migrations
from vocboard.app.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
# As it is installed: what is committed is on the disk. (The tests' own settings leave that out, and save memory.)
DURABLE = {
    **SETTINGS,
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
}
SECONDS_TO_START = 60
SECONDS_TO_STOP = 20
MIB = 1024 * 1024


@dataclass(frozen=True)
class Installation:
    """A running installation.

    Attributes:
        settings: of all its processes; enough to open its database and archives.
        environment: the same for other processes.
        url: where the web process answers.
        directory: with its data, and its processes' `serve.log` and `worker.log`.
        processes: those that have been started, by command.
    """

    settings: Settings
    environment: Mapping[str, str]
    url: str
    directory: Path
    processes: dict[str, psutil.Popen] = field(default_factory=dict)

    def processor_seconds(self) -> float:
        """Resources used so far by all processes and their children, without the database and the broker."""
        return sum(_processor_seconds(process) for process in self.processes.values())

    def peak_mib(self, command: str) -> float:
        """The largest resident size that one process has had, without its children."""
        status = Path(f"/proc/{self.processes[command].pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    @contextlib.contextmanager
    def run(self, *command: str) -> Iterator[None]:
        """Run `vocboard` with a command until the block ends."""
        with (self.directory / f"{command[0]}.log").open("ab") as log:
            process = psutil.Popen(
                [sys.executable, "-m", "vocboard.commands.main", *command],
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.processes[command[0]] = process
        try:
            yield
        finally:
            _stop(process)
            del self.processes[command[0]]

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Run workers until the block ends; where one is embedded in the web process it runs already."""
        with contextlib.nullcontext() if self.is_embedded else self.run("worker"):
            yield

    @property
    def is_embedded(self) -> bool:
        """Whether it is on SQLite and a directory of messages."""
        return not self.settings.database_url


@contextlib.contextmanager
def installed(directory: Path, *, embedded: bool = False, **given: object) -> Iterator[Installation]:
    """Yield an installation with a migrated, empty database, of which no process runs yet.

    Args:
        directory: an empty one.
        embedded: on SQLite and a directory of messages instead of PostgreSQL and Redis.
        given: settings that are not as by default.

    Raises:
        UnavailableError: there is no PostgreSQL or no Redis on this machine.
    """
    url = f"http://127.0.0.1:{free_port()}"
    with contextlib.ExitStack() as stack:
        if not embedded:
            server = stack.enter_context(postgres_server(DURABLE))
            given |= {
                "environment": "production",
                "secret_key": os.urandom(32).hex(),
                "proxy_secret": os.urandom(32).hex(),
                "public_url": "https://voc.example.org",
                "database_url": in_full(server.create_database()),
                "broker_url": f"{stack.enter_context(redis_server())}/0",
            }
        # One person uploads all that is measured.
        unlimited = {"uploads_per_hour": 100_000, "upload_bytes_per_day": 1 << 40}
        given = {"data_directory": directory / "data", **unlimited, **given}
        settings = Settings.model_validate(given)
        for path in (settings.data_directory, settings.archives, settings.truth, settings.ground_truth_inbox):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        migrations.upgrade(settings.database)
        environment = {f"VOCBOARD_{name.upper()}": str(value) for name, value in given.items()}
        yield Installation(settings, environment, url, directory)


@contextlib.contextmanager
def serving(installation: Installation, *, processes: int = 1) -> Iterator[None]:
    """Run the web process (with its worker, where that is embedded) until the block ends, from when it answers on."""
    port = installation.url.rpartition(":")[2]
    with installation.run("serve", "--port", port, "--processes", str(processes)):
        deadline = time.monotonic() + SECONDS_TO_START
        while not _is_ready(installation.url):
            if installation.processes["serve"].poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((installation.directory / "serve.log").read_text())
            time.sleep(0.05)
        yield


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _processor_seconds(process: psutil.Process) -> float:
    found = 0.0
    for each in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            found += times.user + times.system + times.children_user + times.children_system
    return found


def _stop(process: psutil.Popen) -> None:
    """End a process in order, and whatever is left of its children by force."""
    left = process.children(recursive=True) if process.poll() is None else []
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(SECONDS_TO_STOP)
    for each in (process, *left):
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
