"""The notifier wakes workers, and never fails."""

import json
import logging
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.settings import Settings


def settings(tmp_path: Path, broker_url: str = "") -> Settings:
    return Settings(data_directory=tmp_path, broker_url=broker_url)


def test_a_message_in_the_directory_is_json_and_complete(tmp_path: Path) -> None:
    embedded = settings(tmp_path)
    WorkerNotifier(embedded).wake({Kind.EVALUATION})
    (message,) = (Path(urlsplit(embedded.broker).path) / "messages").iterdir()
    assert json.loads(message.read_text())["headers"]["task"] == "worker.work"


def test_a_broker_that_refuses_connections_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"redis://127.0.0.1:{closed.getsockname()[1]}/0"
    with caplog.at_level(logging.WARNING):
        WorkerNotifier(settings(tmp_path, address)).wake({Kind.EVALUATION})
    assert "could not send a wake-up" in caplog.text


def test_a_broker_that_says_nothing_delays_one_notification_briefly_and_the_next_not_at_all(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        notifier = WorkerNotifier(settings(tmp_path, f"redis://127.0.0.1:{silent.getsockname()[1]}/0"))
        started = time.monotonic()
        notifier.wake({Kind.EVALUATION})
        first = time.monotonic()
        notifier.wake({Kind.EVALUATION})
        second = time.monotonic()
    assert first - started < 2
    assert second - first < 0.1


def test_a_reader_never_sees_half_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a message is written, the directory has nothing that a queue would read as a message."""
    seen: list[list[str]] = []
    write = Path.write_text

    def watched(path: Path, *content: str, **options: str) -> int:
        written = write(path, *content, **options)
        seen.append([other.name for other in path.parent.iterdir() if not other.name.startswith(".")])
        return written

    monkeypatch.setattr(Path, "write_text", watched)
    WorkerNotifier(settings(tmp_path)).wake({Kind.EVALUATION})
    assert seen == [[]]
