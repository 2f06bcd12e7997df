"""Whole uploads: what is entered, what is wrong with it, and in which order it is told."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evaluator.uploads import add, any_edition, codes, directory, errors, image_sets, label_map, tar, zipped
from tests.support.golden import CASES_IN_TIERS, golden, golden_truth
from tests.support.unpacking import unpack
from vocboard.evaluator.editions import load
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.results import Segmented

CLS = "000001 1\n000002 2\n000003 3\n"
DET = "000001 1 1 1 2 2\n"


def test_results_are_by_competition_and_class_in_the_editions_order(tmp_path: Path) -> None:
    content: dict[str, bytes | str] = {
        "results/VOC2012/Main/comp3_det_test_dog.txt": DET,
        "results/VOC2012/Main/comp3_det_test_car.txt": DET,
        "comp1_cls_test_person.txt": CLS,
        "comp7_layout_test.xml": "<results><layout><image>000001</image><object>1</object><confidence>1</confidence>"
        "</layout></results>",
        "x/comp9_action_test_walking.txt": "000001 1 1\n000002 1 1\n000003 1 1\n000003 2 1\n",
        **{f"comp5_test_cls/00000{number}.png": label_map() for number in (1, 2, 3)},
    }
    read = read_results(tar(tmp_path / "a.tgz", content), any_edition(), image_sets())
    assert read.problems == ()
    assert read.is_valid
    assert {key: entry.classes for key, entry in read.results.items()} == {
        "comp1": ("person",),
        "comp3": ("car", "dog"),
        "comp5": any_edition().classes,
        "comp7": ("head", "hand", "foot"),
        "comp9": ("walking",),
    }
    assert isinstance(read.results["comp5"].content, Segmented)
    assert read.results["comp5"].content.images.tolist() == [0, 1, 2]


def test_archive_directory_and_zip_give_the_same_problems(tmp_path: Path) -> None:
    content = {"Main/comp1_cls_test_car.txt": "000001 x\n", "Main/comp3_det_test_car.txt": "9 1 1 1 1\n"}
    found = [
        read_results(path, any_edition(), image_sets()).problems
        for path in (
            tar(tmp_path / "a.tgz", content),
            zipped(tmp_path / "a.zip", content),
            directory(tmp_path / "a", content),
        )
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 2


@pytest.mark.parametrize("comment", ["", "<!-- ours -->"], ids=["plain", "by-element"])
@pytest.mark.parametrize("confidence", ["-0.1", "1.5", "0", "1"])
def test_layouts_keep_to_the_editions_range_of_confidences(tmp_path: Path, confidence: str, comment: str) -> None:
    edition = any_edition()
    competition = edition.competitions["comp7"]
    limited = replace(competition, rules=replace(competition.rules, confidence_range=(0, 1)))
    person = f"<image>000001</image><object>1</object><confidence>{confidence}</confidence>"
    content = f"<results>{comment}\n<layout>{person}</layout></results>"
    read = read_results(
        tar(tmp_path / "a.tgz", {"comp7_layout_test.xml": content}),
        replace(edition, competitions={**edition.competitions, "comp7": limited}),
        image_sets(),
    )
    expected = [] if confidence in {"0", "1"} else [("confidence_out_of_range", "comp7_layout_test.xml", 2)]
    assert codes(errors(read.problems)) == expected


def test_problems_keep_the_order_of_the_archive(tmp_path: Path) -> None:
    content = {"comp3_det_test_dog.txt": "x\n", "comp3_det_test_car.txt": "\nx\ny\n"}
    read = read_results(tar(tmp_path / "a.tgz", content), any_edition(), image_sets())
    assert [(problem.file, problem.line) for problem in read.problems] == [
        ("comp3_det_test_dog.txt", 1),
        ("comp3_det_test_car.txt", 2),
        ("comp3_det_test_car.txt", 3),
    ]


def test_one_class_under_two_names_is_one_problem_naming_both(tmp_path: Path) -> None:
    content = {"Main/comp3_det_test_car.txt": DET, "old/comp3_det_test_car.txt": "broken\n"}
    (problem,) = read_results(tar(tmp_path / "a.tgz", content), any_edition(), image_sets()).problems
    assert (problem.code, problem.file) == ("duplicate_file", "old/comp3_det_test_car.txt")
    assert "'Main/comp3_det_test_car.txt'" in problem.message
    assert "comp3 car" in problem.message


def test_an_unknown_name_is_an_error_with_what_it_may_have_been_meant_to_be(tmp_path: Path) -> None:
    content = {"comp3_det_test_car.txt": DET, "comp3_det_test_dogs.txt": DET}
    (problem,) = read_results(tar(tmp_path / "a.tgz", content), any_edition(), image_sets()).problems
    assert (problem.code, problem.file, problem.severity) == ("unknown_class", "comp3_det_test_dogs.txt", "error")
    assert "'comp3_det_test_dog.txt'" in problem.message


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("comp3_det_test_airplane.txt", "unknown_class", "the most similar is 'aeroplane'"),
        ("comp3_det_test_dining_table.txt", "unknown_class", "'comp3_det_test_diningtable.txt'"),
        ("Comp3_det_test_Car.txt", "unknown_class", "'comp3_det_test_car.txt'"),
        ("comp3_det_test_zebra.txt", "unknown_class", "expected one of aeroplane, bicycle"),
        ("comp9_action_test_jump.txt", "unknown_class", "comp9 in VOC2012 has no action 'jump'"),
        ("comp3_det_val_car.txt", "wrong_image_set", "image set 'val', but comp3 uses 'test'"),
        ("comp7_layout_test_person.xml", "file_of_another_edition", "of VOC2007, not of VOC2012"),
        ("comp5_test_cls/maps/000001.png", "nested_too_deep", "Move it to 'results/comp5_test_cls/000001.png'"),
        ("notes.txt", "unknown_file", "expected "),
        ("results.zip", "nested_archive", "is a zip archive"),
        ("other.tar", "unknown_file", "expected "),
    ],
)
@pytest.mark.parametrize("beside", [{}, {"comp3_det_test_car.txt": DET}])
def test_names_that_look_alike_are_distinguished(
    tmp_path: Path, name: str, code: str, message: str, beside: dict[str, str]
) -> None:
    content = "PK\3\4" if name.endswith(".zip") else ""
    upload = tar(tmp_path / "a.tgz", {f"results/{name}": content, **beside})
    (problem,) = read_results(upload, any_edition(), image_sets()).problems
    alone_and_unknown = code == "unknown_file" and not beside
    assert problem.code == ("no_result_files" if alone_and_unknown else code)
    assert message in problem.message


def test_what_all_files_share_is_one_warning_an_upload(tmp_path: Path) -> None:
    content = {f"comp3_det_test_{label}.txt": DET.replace("\n", "\r\n") for label in ("car", "dog", "cat")}
    (problem,) = read_results(tar(tmp_path / "a.tgz", content), any_edition(), image_sets()).problems
    assert (problem.code, problem.file) == ("line_ends_of_windows", "comp3_det_test_car.txt")
    assert "3 files" in problem.message


@pytest.mark.parametrize("content", [{}, {"README": "hello"}, {f"{number}.txt": "" for number in range(50)}])
def test_an_archive_without_any_result_file_is_one_problem(tmp_path: Path, content: dict[str, str]) -> None:
    for path in (tar(tmp_path / "a.tgz", content), zipped(tmp_path / "a.zip", content)):
        (problem,) = read_results(path, any_edition(), image_sets()).problems
        assert (problem.code, problem.file) == ("no_result_files", None)
        assert "VOC2012" in problem.message


def test_a_competition_that_is_not_held_is_one_problem_however_many_its_files(tmp_path: Path) -> None:
    content = {"comp3_det_test_car.txt": DET, "comp4_det_test_car.txt": DET, "comp4_det_test_dog.txt": "broken"}
    upload = tar(tmp_path / "a.tgz", content)
    read = read_results(upload, any_edition(), image_sets(), competitions=["comp3", "comp1"])
    (problem,) = read.problems
    assert (problem.code, problem.file) == ("competition_not_open", "comp4_det_test_car.txt")
    assert "2 files" in problem.message
    assert "is not open here. Open: comp1, comp3." in problem.message
    assert list(read.results) == ["comp3"]


def test_only_competitions_that_are_open_are_expected(tmp_path: Path) -> None:
    upload = tar(tmp_path / "a.tgz", {})
    (problem,) = read_results(upload, any_edition(), image_sets(), competitions=["comp3"]).problems
    assert "expected Main/comp3_det_test_aeroplane.txt. Name" in problem.message


def test_what_to_do_about_competitions_that_are_not_open_is_said_once(tmp_path: Path) -> None:
    content = {"comp1_cls_test_car.txt": "", "comp4_det_test_car.txt": DET}
    read = read_results(tar(tmp_path / "a.tgz", content), any_edition(), image_sets(), competitions=["comp3"])
    (group,) = read.groups
    assert (group.headline.count("Open: comp3."), group.headline.count("Remove them")) == (2, 1)


def test_declared_segmentation_classes_are_those_entered(tmp_path: Path) -> None:
    upload = tar(tmp_path / "a.tgz", {f"comp5_test_cls/00000{number}.png": label_map() for number in (1, 2, 3)})
    read = read_results(upload, any_edition(), image_sets(), segmentation_classes=["person", "car"])
    assert read.results["comp5"].classes == ("car", "person")


@pytest.mark.parametrize("option", [{"competitions": ["comp99"]}, {"segmentation_classes": ["cars"]}])
def test_what_the_edition_does_not_have_cannot_be_asked_for(tmp_path: Path, option: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match="not among"):
        read_results(tmp_path, any_edition(), None, **option)  # type: ignore[arg-type]


def test_a_damaged_archive_is_reported_before_what_was_found_until_there(tmp_path: Path) -> None:
    whole = tar(tmp_path / "a.tar", {"comp3_det_test_car.txt": "x\n", "comp3_det_test_dog.txt": DET * 1_000}, "w")
    (tmp_path / "cut.tar").write_bytes(whole.read_bytes()[:4_000])
    found = [problem.code for problem in read_results(tmp_path / "cut.tar", any_edition(), image_sets()).problems]
    assert found == ["damaged_archive", "wrong_number_of_fields"]


def test_hostile_members_are_capped_like_lines(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        add(archive, "comp3_det_test_car.txt", DET)
        for number in range(50):
            link = tarfile.TarInfo(f"link{number}")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
    problems = read_results(tmp_path / "a.tar.gz", any_edition(), image_sets()).problems
    assert [problem.code for problem in problems] == ["not_a_regular_file"] * 20 + ["more_problems"]


class TestWrongArchive:
    """The archive of the acceptance list: six mistakes, six problems."""

    def test_each_mistake_is_one_problem_in_its_place(self, tmp_path: Path) -> None:
        main = "results/VOC2012/Main"
        content: dict[str, bytes | str] = {
            f"{main}/comp1_cls_test_car.txt": "000001 1\n00000x 2\n000003 3\n",
            f"{main}/comp1_cls_test_dog.txt": "000001 1\n000002 2 0 0 1\n000003 3\n",
            f"{main}/comp3_det_test_car.txt": "000001 1 1 1 2 2\n000001 1 1 1 2 2\n000002 NaN 1 1 2 2\n",
            f"{main}/comp3_det_test_dog.txt": DET,
            "results/comp3_det_test_dog.txt": DET,
            "results/VOC2012/notes.tgz": "not an archive\n",
            **{
                f"results/VOC2012/Segmentation/comp5_test_cls/00000{number}.png": label_map((8, 6 + (number == 2)))
                for number in (1, 2, 3)
            },
        }
        problems = read_results(tar(tmp_path / "wrong.tar.gz", content), any_edition(), image_sets()).problems
        assert codes(problems) == [
            ("unknown_file", "results/VOC2012/notes.tgz", None),
            ("unknown_image", f"{main}/comp1_cls_test_car.txt", 2),
            ("wrong_number_of_fields", f"{main}/comp1_cls_test_dog.txt", 2),
            ("not_finite", f"{main}/comp3_det_test_car.txt", 3),
            ("duplicate_file", "results/comp3_det_test_dog.txt", None),
            ("png_wrong_size", "results/VOC2012/Segmentation/comp5_test_cls/000002.png", None),
        ]
        assert errors(problems) == list(problems)

    def test_a_text_file_named_tgz_is_one_problem(self, tmp_path: Path) -> None:
        (tmp_path / "results.tgz").write_text("000001 0.5\n")
        problems = read_results(tmp_path / "results.tgz", any_edition(), image_sets()).problems
        assert codes(problems) == [("not_an_archive", None, None)]


@pytest.mark.parametrize("name", CASES_IN_TIERS)
class TestGoldenCase:
    def test_results_are_valid_by_either_list_of_images_with_the_same_warnings(self, name: str) -> None:
        case = golden(name)
        edition = load(case.edition)
        public = read_image_sets(case.ground_truth, edition)
        assert public.to_json() == golden_truth(name).image_sets.to_json()
        read = read_results(case.results, edition, ImageSets.from_json(public.to_json()))
        assert not has_errors(read.problems)
        assert set(read.results) >= set(case.expected())
        assert {problem.code for problem in read.problems} <= {
            "images_without_confidence",
            "persons_without_confidence",
            "box_outside_image",
        }

    def test_an_unpacked_archive_has_the_same_problems(self, name: str, tmp_path: Path) -> None:
        case = golden(name)
        if "real" in name:
            pytest.skip("large; the synthetic cases show it")
        edition = load(case.edition)
        unpack(case.results, tmp_path)
        public = read_image_sets(case.ground_truth, edition)
        unpacked, packed = (read_results(path, edition, public).problems for path in (tmp_path, case.results))
        assert sorted(map(repr, unpacked)) == sorted(map(repr, packed))
