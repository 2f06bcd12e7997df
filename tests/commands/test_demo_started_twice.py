"""How `vocboard demo` starts: beside another server it fails with a message, and changes nothing of the other."""

import contextlib
import fcntl
import os
import re
import socket
from pathlib import Path

import httpx
import pytest

from vocboard.app.settings import Settings
from vocboard.commands.demo import INCOMPLETE_FILE, READY_FILE, remove_incomplete
from vocboard.commands.demo.server import DemoServer
from vocboard.commands.main import main


def start(data: Path, port: int, capsys: pytest.CaptureFixture[str]) -> str:
    """Start a demo that cannot start, and return its message."""
    assert main(["demo", "--port", str(port), "--data", str(data)]) == 1
    return capsys.readouterr().err


def test_a_demo_on_a_port_that_is_in_use_says_so_and_keeps_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / READY_FILE).write_text("{}")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = start(tmp_path, port, capsys)
    assert f"Port {port} is in use. Choose another with --port" in message
    assert [file.name for file in tmp_path.iterdir()] == [READY_FILE]


def test_a_demo_with_the_data_of_a_running_one_says_so_and_keeps_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / READY_FILE).write_text("{}")
    with contextlib.ExitStack() as stack:
        descriptor = os.open(tmp_path, os.O_RDONLY)
        stack.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # as the running demo
        message = start(tmp_path, 0, capsys)
    assert "is running already" in message
    assert "--data" in message
    assert [file.name for file in tmp_path.iterdir()] == [READY_FILE]


def test_a_first_start_that_was_interrupted_begins_again_and_other_directories_stay(tmp_path: Path) -> None:
    def started(data: Path) -> list[str]:
        remove_incomplete(data)
        return sorted(file.name for file in data.iterdir())

    new, others = tmp_path / "new", tmp_path / "others"
    new.mkdir()
    assert started(new) == [INCOMPLETE_FILE]
    (new / "vocboard.sqlite3").touch()
    (new / "archives" / "ab").mkdir(parents=True)
    assert started(new) == [INCOMPLETE_FILE]
    others.mkdir()
    (others / "thesis.tex").touch()
    assert started(others) == ["thesis.tex"]


def test_a_demo_can_listen_on_an_address_of_ipv6(tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    server = DemoServer(Settings(data_directory=tmp_path), host="::1", port=0)
    assert re.fullmatch(r"http://\[::1\]:\d+", server.url)
    assert httpx.URL(server.url).host == "::1"
