"""The servers of the tests are real, fresh for each test, and gone with the run."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from sqlalchemy.engine import make_url

from tests.support.postgres import conninfo, reachable_binaries
from tests.support.processes import skip_or_fail

pytestmark = pytest.mark.services
ROOT = Path(__file__).parents[2]


def test_checks_passwords(empty_postgres_url: str) -> None:
    url = make_url(empty_postgres_url)
    if url.host != "127.0.0.1":
        pytest.skip("a server given by address has its own rules")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(conninfo(url.set(password="another")))


@pytest.mark.parametrize("_time", [1, 2])
def test_every_test_gets_an_empty_redis(redis_url: str, _time: int) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.keys() == []
        client.set("left", "behind")


def test_servers_end_with_a_killed_run(tmp_path: Path) -> None:
    pids_file = tmp_path / "pids"
    script = f"""
        import os, signal, psutil
        from tests.support.postgres import postgres_server
        from tests.support.redis_server import redis_server
        with postgres_server(), redis_server():
            guards = psutil.Process().children()
            children = psutil.Process().children(recursive=True)
            print(*(child.pid for child in children), file=open({str(pids_file)!r}, "w"))
            print(*(guard.cmdline()[2] for guard in guards), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("VOCBOARD_TEST_")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if not pids_file.exists():
        skip_or_fail(done.stderr)
    assert done.returncode == -signal.SIGKILL
    pids = [int(pid) for pid in pids_file.read_text().split()]
    assert len(pids) > 3  # two guards, two servers and PostgreSQL's own children
    deadline = time.monotonic() + 15
    while any(psutil.pid_exists(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(psutil.pid_exists(pid) for pid in pids)
    directories = [Path(path) for path in done.stdout.split()]
    assert len(directories) == 2
    assert not any(directory.exists() for directory in directories)


def test_processes_of_a_killed_soak_end_with_it(tmp_path: Path) -> None:
    script = f"""
        import os, signal, time
        from pathlib import Path
        from tests.soak.world import Processes
        directory = Path({str(tmp_path)!r})
        (directory / "clock").write_text("0")
        processes = Processes(directory)
        environment = {{**os.environ, "VOCBOARD_DATA_DIRECTORY": str(directory)}}
        processes.start("beat", (str(directory / "clock"), "beat"), environment)
        print(processes.pid("beat"), flush=True)
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    beat = int(done.stdout)
    deadline = time.monotonic() + 20
    while psutil.pid_exists(beat) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(beat)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_copies_binaries_that_the_servers_user_cannot_reach(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    for part in ("bin", "lib", "share"):
        (hidden / "package" / "install" / part).mkdir(parents=True)
    (hidden / "package" / "install" / "bin" / "postgres").touch(mode=0o700)
    hidden.chmod(0o700)
    open_to_all = reachable_binaries(hidden / "package" / "install" / "bin", tmp_path, "nobody")
    assert open_to_all == tmp_path / "copy" / "package" / "install" / "bin"
    assert (open_to_all / "postgres").stat().st_mode & 0o005 == 0o005


def test_a_missing_service_skips_a_test_but_fails_it_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no such server"):
        skip_or_fail("no such server")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no such server"):
        skip_or_fail("no such server")
