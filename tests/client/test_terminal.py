import io
import re
from datetime import timedelta

import pytest

from vocboard.client.terminal import ProgressBar, display_width, duration, printable, size


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


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b]0;owned\x07", "\ufffd]0;owned\ufffd"),
        ("a\x9b31mb", "a\ufffd31mb"),
        ("\u202egnp.exe", "\ufffdgnp.exe"),
        ("two\nlines\there", "two lines here"),
        ("Zoë 検出 👩\u200d🔬", "Zoë 検出 👩\u200d🔬"),
    ],
)
def test_text_of_others_cannot_steer_the_terminal(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


def test_wide_and_combining_characters_are_measured_as_terminals_draw_them() -> None:
    assert display_width("検出") == 4
    assert display_width("e\u0301") == 1


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (999_600, "1.0 MB"), (536_870_912, "537 MB")],
)
def test_sizes_are_rounded_for_people(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 seconds"), (1, "1 second"), (89, "89 seconds"), (90, "2 min"), (3600, "1 h"), (86_400, "1 day")],
)
def test_waiting_times_are_rounded_up_for_people(seconds: int, text: str) -> None:
    assert duration(timedelta(seconds=seconds)) == text


def test_the_bar_shows_share_sizes_speed_and_time_left() -> None:
    clock, terminal = Clock(), Terminal()
    with ProgressBar("r.tar.gz", 400_000_000, terminal, clock) as bar:
        clock.now = 10.0
        bar.advance(100_000_000)

    last = terminal.frames()[-2]
    assert last.startswith("r.tar.gz  ██████░░")
    assert " 25%  100 MB of 400 MB" in last


def test_the_bar_is_not_drawn_more_often_than_eyes_follow() -> None:
    clock, terminal = Clock(), Terminal()
    with ProgressBar("r", 10_000, terminal, clock) as bar:
        for _ in range(9_999):
            clock.now += 0.001
            bar.advance(1)

    assert len(terminal.frames()) < 110


def test_the_bar_leaves_an_empty_line() -> None:
    terminal = Terminal()
    with ProgressBar("r", 10, terminal) as bar:
        bar.advance(10)

    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nothing_is_drawn_where_no_terminal_is() -> None:
    log = io.StringIO()
    with ProgressBar("r", 10, log) as bar:
        bar.advance(10)
        bar.say("checking")

    assert log.getvalue() == ""


def test_the_label_cannot_steer_the_terminal_nor_the_line_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    with ProgressBar("\x1b[2J" + "r" * 100, 10, terminal):
        pass

    assert all(len(frame) < 40 and "\x1b" not in frame for frame in terminal.frames())
