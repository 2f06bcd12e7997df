"""What the tests of the participant's commands share: a server, the command line, a terminal."""

import codecs
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.factories import make_token, make_user
from vocboard.app.accounts.models import Scope
from vocboard.app.database import Database
from vocboard.commands.demo.scenes import World
from vocboard.commands.main import main
from vocboard.evaluator import editions

EDITION = editions.load("VOC2012")
COMPETITIONS = ("comp1", "comp3")
# What the fixture `run` returns.
Run = Callable[..., tuple[int, str, str]]


@dataclass(frozen=True)
class Board:
    """A server with one open challenge, `voc`, and its worker."""

    url: str
    database: Database
    world: World
    tree: Path

    def token(self, *scopes: Scope) -> str:
        """Make a new participant and return a token of theirs."""
        with self.database.writing() as session:
            return make_token(session, make_user(session), *scopes)


def submit(archive: Path, *arguments: str, challenge: str = "voc", method: str = "Shape finder") -> int:
    return main(["submit", challenge, str(archive), "--method", method, *arguments])


class Shown:
    """What a program has written to its terminal."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.text = ""

    def until(self, expected: str) -> None:
        """Read until this has been shown."""
        while expected not in self.text:
            self.text += self._decoder.decode(os.read(self._terminal, 65536))


@contextmanager
def pseudo_terminal(*arguments: str) -> Iterator[tuple[int, Shown]]:
    """Run the program on a terminal; give our end of it, and what is shown there."""
    ours, theirs = os.openpty()
    program = [sys.executable, "-m", "vocboard.commands.main", *arguments]
    process = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    try:
        yield ours, Shown(ours)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
