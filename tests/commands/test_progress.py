"""Commands that take a while show how far they are, on a terminal and nowhere else."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.golden import golden
from vocboard.commands.progress import Progress

COMMAND = [str(Path(sys.executable).with_name("vocboard"))]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_is_drawn_once_it_takes_long_and_removed_at_the_end() -> None:
    now, stream = [0.0], Terminal()
    with Progress("files", stream=stream, clock=lambda: now[0]) as progress:
        progress.advance(3)
        assert stream.getvalue() == ""
        now[0] = 0.6
        progress.advance(4)
        assert stream.getvalue().startswith("\r7 files")
        progress.stage("images", 10)
        now[0] = 0.8
        progress.advance(5)
        assert "50%  5 of 10 images" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("command", ["evaluate", "validate"])
def test_commands_draw_on_a_terminal_alone(command: str) -> None:
    case = golden("voc2007-real")
    option = "--ground-truth" if command == "evaluate" else "--image-sets"
    arguments = [*COMMAND, command, "VOC2007", str(case.results), option, str(case.ground_truth), "--json"]
    plain = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert plain.stderr == ""
    leader, follower = pty.openpty()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=follower, text=True) as running:
        os.close(follower)
        assert running.stdout is not None
        printed = running.stdout.read()
    drawn = os.read(leader, 1 << 20).decode()
    os.close(leader)
    assert printed == plain.stdout
    assert " files" in drawn  # of the tree, or the results, whichever takes long enough on this machine
    assert drawn.endswith("\r\x1b[K")
