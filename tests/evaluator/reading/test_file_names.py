"""Names of result files."""

import pytest

from vocboard.evaluator.editions import load, names, read_text, source
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.result_files.names import expected_name


@pytest.mark.parametrize("edition", names())
@pytest.mark.parametrize("prefix", ["", "results/{edition}/", "my/results/", "comp5_test_cls/"])
def test_every_expected_name_is_known_below_any_prefix(edition: str, prefix: str) -> None:
    files = FileNames(load(edition))
    for competition in load(edition).competitions.values():
        for label in competition.classes:
            image = "2008_000001" if competition.task == "segmentation" else None
            name = prefix.format(edition=edition) + expected_name(competition, label, image)
            found = files.identify(name)
            assert found.competition is competition
            assert found.label in {label, None}
            assert found.image == image


@pytest.mark.parametrize(
    ("edition", "name", "competition", "label"),
    [
        ("VOC2007", "comp4_det_test_car.txt", "comp4", "car"),
        ("VOC2007", "comp8_layout_test_person.xml", "comp8", None),
        ("VOC2010", "results/VOC2010/Action/comp10_action_test_walking.txt", "comp10", "walking"),
        ("VOC2012", "comp7_layout_test.xml", "comp7", None),
    ],
)
def test_the_directory_may_be_left_out(edition: str, name: str, competition: str, label: str | None) -> None:
    found = FileNames(load(edition)).identify(name)
    assert (found.competition.key, found.label) == (competition, label)


@pytest.mark.parametrize(
    ("edition", "name"),
    [
        ("VOC2012", "Main/comp4_det_test_cars.txt"),
        ("VOC2012", "Main/comp4_det_val_car.txt"),
        ("VOC2012", "Main/comp4_det_test_car.TXT"),
        ("VOC2012", "2008_000001.png"),
        ("VOC2012", "comp5_test_cls/.png"),
        ("VOC2012", "comp5_test_cls/2008_000001.jpg"),
        ("VOC2012", "Layout/comp7_layout_test_person.xml"),
        ("VOC2012", "Action/comp9_action_test_other.txt"),
        ("VOC2010", "Action/comp9_action_test_jumping.txt"),
        ("VOC2009", "Action/comp9_action_test_walking.txt"),
        ("VOC2007", "Layout/comp7_layout_test.xml"),
        ("VOC2012", "README"),
    ],
)
def test_no_other_name_is_known(edition: str, name: str) -> None:
    assert FileNames(load(edition)).identify(name) is None


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("Main/comp4_det_test_cars.txt", "'comp4_det_test_car.txt'"),
        ("COMP4_DET_TEST_CAR.TXT", "'comp4_det_test_car.txt'"),
        ("Segmentation/comp5_test_clas/2008_000001.png", "'comp5_test_cls/2008_000001.png'"),
        ("Segmentation/comp5_test_cls/2008_000001.PNG", "'comp5_test_cls/2008_000001.png'"),
        ("notes.doc", "Main/comp1_cls_test_aeroplane.txt"),
    ],
)
def test_what_is_expected_is_what_is_most_alike_or_an_example(name: str, suggested: str) -> None:
    assert suggested in FileNames(load("VOC2012")).expectation(name)


def test_accents_are_composed_or_not() -> None:
    edition = read_text(source("VOC2012").replace('"car"', '"v\u00e9lo"'), "velo.toml")
    found = FileNames(edition).identify("Main/comp4_det_test_ve\u0301lo.txt")
    assert found.label == "v\u00e9lo"
