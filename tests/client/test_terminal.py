from datetime import timedelta

import pytest

from vocboard.client.terminal import display_width, duration, printable, size


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
