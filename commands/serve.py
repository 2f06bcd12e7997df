"""`vocboard serve`: the web application. In the embedded set-up it also migrates and keeps a worker running."""

import argparse
import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

HOST = "127.0.0.1"
PORT = 8000
GRACE_SECONDS = 10  # for requests, then for the worker
RESTART_PAUSE_SECONDS = 2
SWITCH_SECONDS = 0.0005
WORKER = (sys.executable, "-m", "vocboard.commands.main", "worker")

_log = logging.getLogger(__name__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--host", default=HOST, help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="port; 0 for a free one (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=1, help="web processes (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    import uvicorn  # noqa: PLC0415  # what the participant's commands do without
    from uvicorn.supervisors import Multiprocess  # noqa: PLC0415

    from vocboard.app.settings import Environment, Settings  # noqa: PLC0415
    from vocboard.app.web.http_protocol import BoundedHttpProtocol  # noqa: PLC0415

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    # At once, not in each web process.
    Settings().require("secret_key", "proxy_secret", "database_url", "broker_url")
    config = uvicorn.Config(
        "vocboard.commands.serve:web_process",
        factory=True,
        http=BoundedHttpProtocol,
        host=arguments.host,
        port=arguments.port,
        workers=arguments.processes,
        proxy_headers=False,  # app.security.forwarded decides
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    listener = config.bind_socket()
    # Environment, not arguments: web processes and worker read their settings from there.
    os.environ.setdefault("VOCBOARD_PUBLIC_URL", _address(listener))
    settings = Settings()
    server = uvicorn.Server(config)
    with _stopped_by_signals(), listener:
        if settings.environment is Environment.EMBEDDED:
            from vocboard import migrations  # noqa: PLC0415
            from vocboard.worker.ground_truth_directory import GroundTruthDirectory  # noqa: PLC0415

            settings.data_directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # password hashes, exact scores
            migrations.upgrade(settings.database)
            GroundTruthDirectory(
                settings
            ).private_key()  # published, so that ground truth is taken from the first moment on
            with worker_kept_running():
                server.run(sockets=[listener])
        elif arguments.processes > 1:
            Multiprocess(config, sockets=[listener]).run()
        else:
            server.run(sockets=[listener])
    return 0


def web_process() -> "FastAPI":
    """Return the web application of a process that lives long."""
    from vocboard.app.main import create_app  # noqa: PLC0415

    application = create_app()
    # What has been loaded stays: looking through it for garbage again and again would hold all requests up for 0.1 s.
    gc.collect()
    gc.freeze()
    # A thread with an answer of the database's waits for its turn, by default for 5 ms each time; requests wait for it.
    sys.setswitchinterval(SWITCH_SECONDS)
    return application


@contextmanager
def worker_kept_running() -> Iterator[None]:
    """Keep a worker process, with the periodic sweep, running until the block ends; start it anew should it die."""
    stop = threading.Event()
    worker = _start_worker()

    def watch() -> None:
        nonlocal worker
        while not stop.wait(RESTART_PAUSE_SECONDS):
            if worker.poll() is not None:
                _log.warning("the worker ended with status %s and is started anew", worker.returncode)
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
    # A session of its own: an interrupt from the keyboard is for us, who then end the worker in order.
    return subprocess.Popen(WORKER, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603  # our own program


def _end(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        worker.terminate()
        with suppress(subprocess.TimeoutExpired):
            worker.wait(GRACE_SECONDS)
    _kill_group(worker)
    worker.wait()


def _kill_group(worker: subprocess.Popen[bytes]) -> None:
    """End the worker and what is left of its children; the queue gives back what they had."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGINT end the block as an exception would, so that everything in it is cleaned up."""

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
    """A signal to end; not an `Exception`, so that nothing on the way takes it for a failure."""


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # noqa: S104  # compared with, not bound to
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
