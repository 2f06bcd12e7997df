"""What each edition is, and the examples of edition files in the documentation."""

import io
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.golden import golden
from vocboard.evaluator.editions import (
    Edition,
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
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth.reader import read_ground_truth

TASKS = (Task.CLASSIFICATION, Task.DETECTION, Task.SEGMENTATION, Task.LAYOUT, Task.ACTION, Task.ACTION)  # 2012's twice


def test_there_are_the_eight_years_and_paralleleye() -> None:
    assert names() == (*(f"VOC{year}" for year in range(2005, 2013)), "ParallelEye")
    assert [load(name).name for name in names()] == list(names())


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownEditionError, match="VOC2005, VOC2006, VOC2007"):
        load("../VOC2007")


def test_names_are_the_same_in_lower_case() -> None:
    assert load("voc2012") is load("VOC2012")
    assert load("PARALLELEYE") is load("ParallelEye")


@pytest.mark.parametrize(
    ("year", "last"), [(2006, 4), (2007, 8), (2008, 8), (2009, 8), (2010, 10), (2011, 10), (2012, 12)]
)
def test_odd_competitions_are_for_trainval_and_even_ones_for_any_data(year: int, last: int) -> None:
    competitions = list(load(f"VOC{year}").competitions.values())
    assert [competition.number for competition in competitions] == list(range(1, last + 1))
    assert [competition.task for competition in competitions] == [task for task in TASKS for _ in (1, 2)][:last]
    by_parity = [Training.ANY, Training.TRAINVAL]
    assert all(competition.training is by_parity[int(competition.key[4:]) % 2] for competition in competitions)
    assert {competition.image_set for competition in competitions} == {"test"}


def test_2012_distinguishes_the_boxless_actions_from_the_others() -> None:
    variants = {key: competition.variant for key, competition in load("VOC2012").competitions.items()}
    assert [key for key, variant in variants.items() if variant == "boxless"] == ["comp11", "comp12"]


def test_2005_has_two_test_sets_for_each_task_and_training() -> None:
    competitions = load("VOC2005").competitions.values()
    assert [(item.key, item.task.value, item.training.value, item.image_set) for item in competitions] == [
        ("comp1", "classification", "trainval", "test1"),
        ("comp2", "classification", "trainval", "test2"),
        ("comp3", "classification", "any", "test1"),
        ("comp4", "classification", "any", "test2"),
        ("comp5", "detection", "trainval", "test1"),
        ("comp6", "detection", "trainval", "test2"),
        ("comp7", "detection", "any", "test1"),
        ("comp8", "detection", "any", "test2"),
    ]


def test_2005_is_ranked_by_the_area_and_shows_the_equal_error_rate_with_it() -> None:
    rules = load("VOC2005").competitions["comp1"].rules
    assert (rules.metric, rules.secondary, rules.board) == (
        Metric.ROC_AUC,
        (Metric.EQUAL_ERROR_RATE,),
        (Metric.EQUAL_ERROR_RATE,),
    )
    assert load("VOC2006").competitions["comp1"].rules.metric is Metric.ROC_AUC


def test_only_2006_takes_repeats_on_difficult_objects_for_false() -> None:
    takes = {
        name: [c.rules.repeats_on_difficult_are_false for c in load(name).competitions.values()] for name in names()
    }
    assert [name for name, rules in takes.items() if any(rules)] == ["VOC2006"]


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


def test_paralleleye_has_one_file_without_number_and_a_stricter_overlap() -> None:
    edition = load("ParallelEye")
    [competition] = edition.competitions.values()
    assert (competition.key, competition.number, competition.classes) == ("detection", None, ("Car", "Bus", "Truck"))
    assert competition.rules.class_in_lines
    assert competition.rules.confidence_range == (0.0, 1.0)
    assert edition.overlap.strict


EXAMPLES = Path(__file__).parents[2] / "docs" / "editions" / "examples"
VOC2009 = load("VOC2009")


def renamed(archive: Path, target: Path, new_name: dict[str, str], edition: Edition) -> Path:
    """Rewrite an archive with other names of edition and classes."""
    old = "|".join(new_name)

    def of_class(found: re.Match[str]) -> str:
        return found[0].replace(found[1], new_name[found[1]])

    with tarfile.open(archive) as source, tarfile.open(target, "w") as written:
        for member in source:
            content = source.extractfile(member)
            if content is None:
                continue
            data = content.read()
            if member.name.endswith(".xml"):
                data = re.sub(rf"<name>({old})</name>", of_class, data.decode()).encode()
            name = re.sub(rf"(?:(?<=_)|(?<=/))({old})(?=_|\.txt)", of_class, member.name)
            copied = tarfile.TarInfo(name.replace(VOC2009.name, edition.name))
            copied.size = len(data)
            written.addfile(copied, io.BytesIO(data))
    return target


def test_voc2009_with_other_classes_scores_as_voc2009(tmp_path: Path) -> None:
    case = golden("voc2009-synthetic")
    edition = read(EXAMPLES / "harbour.toml")
    new_name = dict(zip(VOC2009.classes, edition.classes, strict=True))
    assert sum(old != new for old, new in new_name.items()) == 19  # people stay people: they have parts
    expected = evaluate(case.results, VOC2009, read_ground_truth(case.ground_truth, VOC2009)).as_json()
    truth = read_ground_truth(renamed(case.ground_truth, tmp_path / "tree.tar", new_name, edition), edition)
    found = evaluate(renamed(case.results, tmp_path / "results.tar", new_name, edition), edition, truth).as_json()
    assert found["edition"] == "Harbour"
    assert set(found["competitions"]) == set(expected["competitions"])
    assert found["competitions"] == with_names(expected["competitions"], new_name)


def with_names(content: Any, new_name: dict[str, str]) -> Any:
    """The same JSON with other class names as keys and in lists."""
    if isinstance(content, dict):
        return {new_name.get(key, key): with_names(value, new_name) for key, value in content.items()}
    if isinstance(content, list):
        return [with_names(value, new_name) for value in content]
    return new_name.get(content, content) if isinstance(content, str) else content


def test_the_aerial_example_is_an_edition_of_its_own() -> None:
    edition = read(EXAMPLES / "aerial.toml")
    assert len(edition.competitions) == 8
    assert {item.image_set for item in edition.competitions.values()} == {"city", "country"}
    assert edition.limits.detections_per_image == 50_000
