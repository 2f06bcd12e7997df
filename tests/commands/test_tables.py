import pytest

from vocboard.client.scores import CompetitionScores, Measure
from vocboard.commands.score_tables import score_lines
from vocboard.commands.tables import Column, render


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
