"""Edition files: what the six years are, and how a wrong file is told."""

from pathlib import Path

import pytest

from evaluator.editions import (
    EditionFileError,
    Interpolation,
    LayoutProtocol,
    Metric,
    Task,
    Training,
    UnknownEditionError,
    load,
    names,
    read,
)

TASKS = (Task.CLASSIFICATION, Task.DETECTION, Task.SEGMENTATION, Task.LAYOUT, Task.ACTION)

MINIMAL = """
name = "ROADS"
title = "Roads"
classes = ["car", "bus"]
parts = []
actions = []

[tasks.detection]
file = "{competition}_{image_set}_{class}.txt"
metric = "average_precision"
interpolation = "11-point"

[[competitions]]
number = 1
task = "detection"
training = "any"
image_set = "val"
"""


def test_there_are_the_six_years() -> None:
    assert names() == tuple(f"VOC{year}" for year in range(2007, 2013))


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownEditionError, match="VOC2007, VOC2008"):
        load("../VOC2007")


def test_names_are_the_same_in_lower_case() -> None:
    assert load("voc2012") is load("VOC2012")


@pytest.mark.parametrize("year", range(2007, 2013))
def test_odd_competitions_are_for_trainval_and_even_ones_for_any_data(year: int) -> None:
    competitions = list(load(f"VOC{year}").competitions.values())
    assert [competition.number for competition in competitions] == list(range(1, 9 if year < 2010 else 11))
    assert [competition.task for competition in competitions] == [task for task in TASKS for _ in (1, 2)][
        : len(competitions)
    ]
    assert all(
        (competition.number % 2 == 1) == (competition.training is Training.TRAINVAL) for competition in competitions
    )
    assert {competition.image_set for competition in competitions} == {"test"}


@pytest.mark.parametrize(
    ("year", "interpolation", "segmentation", "protocol", "layout_classes", "actions"),
    [
        (2007, "11-point", "pixel_accuracy", LayoutProtocol.WHOLE_PERSON_BY_BOX, 1, 0),
        (2008, "11-point", "intersection_over_union", LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER, 1, 0),
        (2009, "11-point", "intersection_over_union", LayoutProtocol.WHOLE_PERSON_BY_INDEX, 1, 0),
        (2010, "area", "intersection_over_union", LayoutProtocol.PARTS, 3, 9),
        (2011, "area", "intersection_over_union", LayoutProtocol.PARTS, 3, 10),
        (2012, "area", "intersection_over_union", LayoutProtocol.PARTS, 3, 10),
    ],
)
def test_scores_are_those_of_the_year(
    year: int,
    interpolation: str,
    segmentation: str,
    protocol: LayoutProtocol,
    layout_classes: int,
    actions: int,
) -> None:
    edition = load(f"VOC{year}")
    rules = {competition.task: competition.rules for competition in edition.competitions.values()}
    for task in (Task.CLASSIFICATION, Task.DETECTION, Task.LAYOUT):
        assert rules[task].interpolation == Interpolation(interpolation)
        assert rules[task].metric is Metric.AVERAGE_PRECISION
    assert rules[Task.SEGMENTATION].metric == Metric(segmentation)
    assert rules[Task.LAYOUT].layout_protocol is protocol
    assert len(rules[Task.LAYOUT].classes) == layout_classes
    assert len(edition.actions) == actions
    assert "other" not in edition.actions
    assert len(edition.classes) == 20
    assert not edition.overlap.strict


def test_an_edition_file_of_ones_own_is_read(tmp_path: Path) -> None:
    (tmp_path / "roads.toml").write_text(MINIMAL)
    edition = read(tmp_path / "roads.toml")
    assert edition.competitions["comp1"].classes == ("car", "bus")
    assert edition.competitions["comp1"].image_set == "val"
    assert edition.overlap.threshold == 0.5


@pytest.mark.parametrize(
    ("found", "wrong", "message"),
    [
        ('title = "Roads"', "", "roads.toml: title must be a text, but it is missing"),
        ('title = "Roads"', "title = 7", "title must be a text, not 7"),
        ('["car", "bus"]', '["car", "car"]', "classes must be a list without repetitions"),
        ('["car", "bus"]', "[]", "classes must be a list of 1 to 254 names"),
        ('"11-point"', '"12-point"', "tasks.detection.interpolation must be one of 11-point, area, not '12-point'"),
        ("_{class}", "", "tasks.detection.file must be a file name with the fields {class}, {competition}"),
        ("metric =", "metrik =", "tasks.detection.metric must be one of average_precision"),
        ("number = 1", "number = 0", r"competitions\[1\].number must be a whole number from 1 on, not 0"),
        ('task = "detection"', 'task = "action"', r"competitions\[1\].task must be a task that has its own table"),
        ('training = "any"', 'training = "some"', r"competitions\[1\].training must be one of trainval, any"),
        ("[tasks.detection]", "[limits]\nlines = 5\n[tasks.detection]", "limits.lines: no such key"),
        ("[tasks.detection]", "[overlap]\nthreshold = 0.5\n[tasks.detection]", "overlap.strict must be true or false"),
        ("[[competitions]]", "[competitions]", "competitions must be a list of tables"),
        ("name =", "name", "not a TOML file"),
    ],
)
def test_a_wrong_file_is_told_its_place_and_what_was_expected(
    tmp_path: Path, found: str, wrong: str, message: str
) -> None:
    assert found in MINIMAL
    (tmp_path / "roads.toml").write_text(MINIMAL.replace(found, wrong))
    with pytest.raises(EditionFileError, match=message):
        read(tmp_path / "roads.toml")


def test_limits_can_be_lowered(tmp_path: Path) -> None:
    (tmp_path / "roads.toml").write_text(MINIMAL + "\n[limits]\ndetections_per_image = 100\nabsolute_number = 1e6\n")
    limits = read(tmp_path / "roads.toml").limits
    assert (limits.detections_per_image, limits.absolute_number) == (100, 1e6)
