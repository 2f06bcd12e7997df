"""`vocboard serve`: run the web application. The embedded set-up also migrates the database and runs a worker."""

import argparse
import gc
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from vocboard.evaluator.garbage import collection_paused

if TYPE_CHECKING:
    from fastapi import FastAPI

    from vocboard.app.settings import Settings

HOST = "127.0.0.1"
PORT = 8000
GRACE_SECONDS = 10  # for requests, then for the worker
RESTART_PAUSE_SECONDS = 2
STARTED_AFTER_SECONDS = 60  # by default, uvicorn kills web processes that a busy machine takes 5 s to start, for ever
SWITCH_SECONDS = 0.0005
WORKER = (sys.executable, "-m", "vocboard.commands.main", "worker")

_log = logging.getLogger(__name__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--host", default=HOST, help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=port, default=PORT, help="port; 0 picks a free port (default: %(default)s)")
    parser.add_argument(
        "--processes",
        type=processes,
        default=1,
        help="number of web processes (default: %(default)s); the embedded set-up has one",
    )


def port(text: str) -> int:
    """Return the number of a port; raises `ValueError` if it cannot be one."""
    number = int(text)
    if number not in range(65536):
        raise ValueError
    return number


def processes(text: str) -> int:
    """Return how many web processes to run; raises `ValueError` if it cannot be that many."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    import uvicorn  # noqa: PLC0415  # participants' commands must start without the server's packages

    from vocboard import migrations  # noqa: PLC0415
    from vocboard.app import logs  # noqa: PLC0415
    from vocboard.app.counters import SHARED_DIRECTORY  # noqa: PLC0415
    from vocboard.app.settings import Environment, Settings  # noqa: PLC0415
    from vocboard.app.web.http_protocol import BoundedHttpProtocol  # noqa: PLC0415
    from vocboard.app.web.processes import WebProcesses  # noqa: PLC0415

    # Checked once here, not in each web process.
    settings = Settings.of_process("secret_key", "proxy_secret", "database_url", "broker_url")
    _check_terms(settings)
    logs.configure(settings.log_format)
    if settings.environment is not Environment.EMBEDDED:
        migrations.require_newest(settings.database)
    config = uvicorn.Config(
        "vocboard.commands.serve:web_process",
        factory=True,
        http=BoundedHttpProtocol,
        ws="none",
        host=arguments.host,
        port=arguments.port,
        workers=arguments.processes,
        proxy_headers=False,  # app.web.middleware decides
        server_header=False,
        log_config=logs.configuration(settings.log_format),
        access_log=False,  # `AccessLog` writes a line that knows more
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=STARTED_AFTER_SECONDS,
    )
    listener = config.bind_socket()
    # In the environment: web processes and the worker read their settings from there.
    os.environ.setdefault("VOCBOARD_PUBLIC_URL", address(*listener.getsockname()[:2]))
    settings = Settings()
    server = uvicorn.Server(config)
    with _stopped_by_signals(), listener, _metrics_published(settings):
        if settings.environment is Environment.EMBEDDED:
            from vocboard.worker.ground_truth_directory import GroundTruthDirectory, LostKeyError  # noqa: PLC0415

            settings.data_directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # password hashes, exact scores
            migrations.upgrade(settings.database)
            try:  # published, so that ground truth is taken from the first moment on
                GroundTruthDirectory(settings).private_key()
            except LostKeyError as error:
                raise SystemExit(f"vocboard serve: {error}") from error
            with worker_kept_running():
                server.run(sockets=[listener])
        elif arguments.processes > 1:
            with tempfile.TemporaryDirectory(prefix="vocboard-counts-") as directory:
                os.environ[SHARED_DIRECTORY] = directory
                WebProcesses(config, sockets=[listener]).run()
        else:
            server.run(sockets=[listener])
    return 0


@contextmanager
def _metrics_published(settings: "Settings") -> Iterator[None]:
    if not settings.metrics_address:
        yield
        return
    from vocboard.app.web.metrics import published_apart  # noqa: PLC0415  # the whole application, which may not be needed

    with published_apart(settings):
        yield


def _check_terms(settings: "Settings") -> None:
    """Refuse to start with terms that cannot be read: every request of people with an account would fail."""
    from vocboard.app.settings import UnsafeSettingsError  # noqa: PLC0415

    try:
        if settings.terms_file is not None:
            settings.terms_file.read_bytes()
    except OSError as error:
        raise UnsafeSettingsError([f"VOCBOARD_TERMS_FILE: {error}"]) from error


def web_process() -> "FastAPI":
    """Return the web application of a long-running process."""
    with collection_paused():  # it would find nothing, and take a quarter of the time
        from vocboard.app import tracing  # noqa: PLC0415
        from vocboard.app.main import create_app  # noqa: PLC0415

        tracing.configure("vocboard-web")
        application = create_app()
    # Exclude loaded modules from garbage collection: scanning them would delay all requests by 0.1 s each time.
    gc.collect()
    gc.freeze()
    # By default a thread waits up to 5 ms for the interpreter lock after each database response; that delays requests.
    sys.setswitchinterval(SWITCH_SECONDS)
    return application


@contextmanager
def worker_kept_running() -> Iterator[None]:
    """Run a worker process with the periodic sweep until the block ends; restart it if it dies."""
    stop = threading.Event()
    worker = _start_worker()

    def watch() -> None:
        nonlocal worker
        while not stop.wait(RESTART_PAUSE_SECONDS):
            if worker.poll() is not None:
                _log.warning("the worker exited with status %s; restarting it", worker.returncode)
                _kill_group(worker)
                worker = _start_worker()

    watcher = threading.Thread(target=watch, name="worker watcher", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        _end(worker)


def _start_worker() -> subprocess.Popen[bytes]:
    # Its own session: Ctrl-C reaches only this process, which then stops the worker cleanly.
    return subprocess.Popen(WORKER, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603  # our own program


def _end(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        worker.terminate()
        with suppress(subprocess.TimeoutExpired):
            worker.wait(GRACE_SECONDS)
    _kill_group(worker)
    worker.wait()


def _kill_group(worker: subprocess.Popen[bytes]) -> None:
    """Kill the worker and its remaining children; the queue reassigns their submissions."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGINT raise an exception in the block, so that its clean-up runs."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise _Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except _Stopped:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Stopped(BaseException):
    """Raised by SIGTERM and SIGINT; not an `Exception`, so that no handler treats it as an error."""


def address(host: str, port: int) -> str:
    """Return the address at which a server that listens there answers on this machine."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104  # compared with, not bound to
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
