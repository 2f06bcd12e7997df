"""Email in tests: a real SMTP server as a process of its own, and the links in what it received."""

import contextlib
import email
import email.policy
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

SECONDS_TO_START = 30.0
PROGRAM = Path(__file__).with_name("smtp_process.py")
_LINK = re.compile(r"https?://\S+\?token=\S+")


@dataclass
class MailServer:
    """A mail server that writes what it takes into a directory.

    Attributes:
        options: of `smtp_process.py`, such as `--tls CERTIFICATE KEY`.
    """

    directory: Path
    port: int
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address without a user."""
        return f"smtp://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(self.port), str(self.directory), *self.options],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            assert self.process.poll() is None, "the mail server does not start"
            assert time.monotonic() < deadline, "the mail server takes too long to start"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)

    def stop(self) -> None:
        """Kill it."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def messages(self) -> list[EmailMessage]:
        """Return what it has taken, in order."""
        return read(self.directory)


@contextlib.contextmanager
def mail_server(directory: Path, *options: str) -> Iterator[MailServer]:
    """Give a mail server that runs; it may be stopped and started again."""
    directory.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = MailServer(directory, port, options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def read(directory: Path) -> list[EmailMessage]:
    """Return the messages in a directory of `.eml` files, in order of their names."""
    found = []
    for file in sorted(directory.glob("*.eml")):
        message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        found.append(message)
    return found


def link_in(text: str) -> str:
    """Return the one link with a secret in a message's text."""
    [link] = _LINK.findall(text)
    return str(link)
