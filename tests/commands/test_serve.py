"""`vocboard serve` brings up a whole embedded server, and takes all of it down again."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.backend import wait_until
from tests.support.life import is_served
from tests.support.processes import free_port
from vocboard.commands.main import main

PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Served:
    """A running `vocboard serve`."""

    process: psutil.Process
    log: Path
    data: Path
    metrics: str  # host:port

    @property
    def url(self) -> str:
        """Where it says that it answers."""
        found = re.search(r"http://127\.0\.0\.1:\d+", self.log.read_text())
        return found[0] if found else ""

    def worker(self) -> psutil.Process | None:
        """The worker's process."""
        for child in self.process.children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                if child.status() != psutil.STATUS_ZOMBIE and "worker" in child.cmdline():
                    return child
        return None


@contextlib.contextmanager
def running(directory: Path) -> Iterator[Served]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VOCBOARD_")}
    log, data, metrics = directory / "log", directory / "data", f"127.0.0.1:{free_port()}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "vocboard.commands.main", "serve", "--port", "0"],
            env={**environment, "VOCBOARD_DATA_DIRECTORY": str(data), "VOCBOARD_METRICS_ADDRESS": metrics},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    children: list[psutil.Process] = []
    try:
        server = psutil.Process(process.pid)
        served = Served(server, log, data, metrics)
        wait_until(lambda: answers(served))
        yield served
        children = server.children(recursive=True) if server.is_running() else []
    finally:
        for left in (*children, psutil.Process(process.pid)) if process.poll() is None else children:
            left.kill()
        process.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a server that all tests but the last leave running."""
    with running(tmp_path_factory.mktemp("serve")) as one:
        yield one


def answers(served: Served) -> bool:
    assert served.process.status() != psutil.STATUS_ZOMBIE, served.log.read_text()
    return bool(served.url) and is_served(f"{served.url}/readyz")


def test_a_worker_that_dies_is_replaced(served: Served) -> None:
    wait_until(served.worker)
    first = served.worker()
    wait_until(first.children)  # those that evaluate
    orphans = first.children(recursive=True)
    first.kill()

    def replaced() -> bool:
        present = served.worker()
        return present is not None and present.pid != first.pid

    wait_until(replaced)
    _, alive = psutil.wait_procs(orphans, timeout=PATIENCE_SECONDS)
    assert alive == []
    assert answers(served)


def test_nobody_else_on_the_machine_reads_its_data(served: Served) -> None:
    assert (served.data / "vocboard.sqlite3").exists()
    assert served.data.stat().st_mode & 0o077 == 0


def test_metrics_have_an_address_of_their_own(served: Served) -> None:
    assert [httpx.get(served.url + path, trust_env=False).status_code for path in ("/", "/metrics")] == [200, 404]
    answer = httpx.get(f"http://{served.metrics}/metrics", trust_env=False)
    assert answer.status_code == 200
    assert 'vocboard_check{check="database"} 1.0' in answer.text
    assert "vocboard_request_seconds_count{" in answer.text  # of the web process
    one = httpx.get(f"http://{served.metrics}/metrics", params={"name[]": "vocboard_build"}, trust_env=False)
    assert (one.status_code, "vocboard_check" in one.text) == (200, False)


def test_everything_ends_with_it_when_it_is_interrupted(served: Served) -> None:
    """The last test that has this server. tests/deployment/test_extensions.py terminates another."""
    wait_until(served.worker)
    family = [served.process, *served.process.children(recursive=True)]
    served.process.send_signal(signal.SIGINT)
    _, alive = psutil.wait_procs(family, timeout=PATIENCE_SECONDS)
    assert alive == []
    assert "Traceback" not in served.log.read_text()


@pytest.mark.parametrize("command", ["serve", "demo"])
@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_what_is_no_port_is_a_usage_error(command: str, port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, f"--port={port}"])
    assert stopped.value.code == 2
    assert f"argument --port: invalid port value: '{port}'" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_what_is_no_number_of_processes_is_a_usage_error(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["serve", f"--processes={number}"])
    assert stopped.value.code == 2
    assert f"argument --processes: invalid processes value: '{number}'" in capsys.readouterr().err
