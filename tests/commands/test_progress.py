"""Progress and tables, as commands draw them."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.golden import golden
from vocboard.client.scores import CompetitionScores, Measure
from vocboard.commands.progress import Progress, ProgressBar
from vocboard.commands.score_tables import score_lines
from vocboard.commands.tables import Column, render

COMMAND = [str(Path(sys.executable).with_name("vocboard"))]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def frames(self) -> list[str]:
        return re.findall(r"\r([^\r]*)\x1b\[K", self.getvalue())


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


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


def test_the_bar_shows_share_sizes_speed_and_time_left() -> None:
    clock, terminal = Clock(), Terminal()
    with ProgressBar("r.tar.gz", 400_000_000, terminal, clock) as bar:
        clock.now = 10.0
        bar.move_to(100_000_000)

    last = terminal.frames()[-2]
    assert last.startswith("r.tar.gz  ██████░░")
    assert " 25%  100 MB of 400 MB" in last


def test_the_bar_is_not_drawn_more_often_than_eyes_follow() -> None:
    clock, terminal = Clock(), Terminal()
    with ProgressBar("r", 10_000, terminal, clock) as bar:
        for done in range(9_999):
            clock.now += 0.001
            bar.move_to(done)

    assert len(terminal.frames()) < 110


def test_the_bar_leaves_an_empty_line() -> None:
    terminal = Terminal()
    with ProgressBar("r", 10, terminal) as bar:
        bar.move_to(10)

    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nothing_is_drawn_where_no_terminal_is() -> None:
    log = io.StringIO()
    with ProgressBar("r", 10, log) as bar:
        bar.move_to(10)
        bar.show("checking")

    assert log.getvalue() == ""


def test_the_label_cannot_steer_the_terminal_nor_the_line_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    with ProgressBar("\x1b[2J" + "r" * 100, 10, terminal):
        pass

    assert all(len(frame) < 40 and "\x1b" not in frame for frame in terminal.frames())


# An idle machine may have done its work before a line is drawn.
DRAWING_IMMEDIATELY = """
import sys
from vocboard.commands import main, progress
progress.SHOWN_AFTER_SECONDS = 0.0
sys.exit(main.main())
"""


@pytest.mark.full
@pytest.mark.parametrize("command", ["evaluate", "validate"])
def test_commands_draw_on_a_terminal_alone(command: str) -> None:
    case = golden("voc2012-synthetic")
    option = "--ground-truth" if command == "evaluate" else "--image-sets"
    arguments = [*COMMAND, command, case.edition, str(case.results), option, str(case.ground_truth), "--json"]
    plain = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert plain.stderr == ""
    leader, follower = pty.openpty()
    immediately = [sys.executable, "-c", DRAWING_IMMEDIATELY, *arguments[len(COMMAND) :]]
    with subprocess.Popen(immediately, stdout=subprocess.PIPE, stderr=follower, text=True) as running:
        os.close(follower)
        printed = running.stdout.read()
    drawn = os.read(leader, 1 << 20).decode()
    os.close(leader)
    assert printed == plain.stdout
    assert " files" in drawn  # of the tree, or the results, whichever takes long enough on this machine
    assert drawn.endswith("\r\x1b[K")


def test_columns_that_do_not_fit_go_into_blocks_that_name_the_rows_again() -> None:
    columns = [Column("METHOD", ["A", "B"])] + [
        Column(name, ["0.5", "0.25"], right=True) for name in ("car", "cat", "dog")
    ]

    assert render(columns, width=19) == (
        "METHOD   car   cat\nA        0.5   0.5\nB       0.25  0.25\n\nMETHOD   dog\nA        0.5\nB       0.25"
    )


@pytest.mark.parametrize("width", [0, 5, 16])
def test_a_column_too_wide_for_the_terminal_stands_alone(width: int) -> None:
    table = render([Column("METHOD", ["A"]), Column("car", ["0.5"]), Column("cat", ["0.25"])], width=width)
    assert table.split("\n\n") == ["METHOD  car\nA       0.5", "METHOD  cat\nA       0.25"]


def test_names_alone_are_a_table_too() -> None:
    assert render([Column("METHOD", ["A"])], width=3) == "METHOD\nA"


def test_wide_characters_keep_the_columns_straight() -> None:
    assert render([Column("METHOD", ["検出器", "B"]), Column("AP", ["1", "2"])]) == "METHOD  AP\n検出器  1\nB       2"


@pytest.mark.parametrize(("decimals", "shown"), [(None, "66.00"), (4, "66.00"), (3, "66.0"), (2, "66"), (1, "66")])
def test_scores_have_the_decimals_of_the_challenge(decimals: int | None, shown: str) -> None:
    measure = Measure("average_precision", {"car": 0.66}, 0.66)
    (table,) = score_lines(CompetitionScores("comp3", "detection", measure, (), {}, (), decimals=decimals))
    assert [line.split()[-1] for line in table.splitlines()[1:]] == [shown, shown]
