"""Problems grouped by cause: what the first line tells people to do, and how much there is of it; their catalogue."""

import io
import re
import tarfile
from pathlib import Path

import pytest

from tests.evaluator.uploads import IMAGES, any_edition, directory, image_sets, label_map
from tests.support.golden import golden
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.problem_catalogue import CATALOGUE
from vocboard.evaluator.problem_groups import ProblemGroup, counted_in_files, groups_of
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.result_files.report import LISTED

TEST_SET_OF_2012 = ("2008_000001", "2010_000002", "2011_000003")


def groups(tmp_path: Path, content: dict[str, bytes | str], images: tuple[str, ...] = IMAGES) -> list[ProblemGroup]:
    read = read_results(directory(tmp_path / "upload", content), any_edition(), image_sets(images=images))
    return list(read.groups)


def only(tmp_path: Path, content: dict[str, bytes | str], images: tuple[str, ...] = IMAGES) -> ProblemGroup:
    (group,) = groups(tmp_path, content, images)
    return group


def detections(*images: str) -> str:
    return "".join(f"{image} 0.9 1 1 5 5\n" for image in images)


def test_counts_what_the_list_leaves_out(tmp_path: Path) -> None:
    many = 2 * LISTED + 3
    lines = "000001 x 1 1 5 5\n" * many
    group = only(tmp_path, {"comp3_det_test_car.txt": lines, "comp3_det_test_dog.txt": "000001 x 1 1 5 5\n"})
    assert (group.code, group.count, group.file_count, len(group.problems)) == ("not_a_number", many + 1, 2, LISTED + 1)
    assert group.headline == (
        f"Not a number: {many + 1} places in 2 files. Write decimal numbers such as 0.75, -12 or 1e-5."
    )


def test_a_kind_that_is_only_counted_has_a_group_too(tmp_path: Path) -> None:
    lines = "000001 x 1 1 5 5\n" * LISTED + "000001 0,5 1 1 5 5\n" * 7
    numbers, commas = sorted(groups(tmp_path, {"comp3_det_test_car.txt": lines}), key=lambda group: -group.count)
    assert (numbers.count, commas.count, commas.file_count, commas.problems) == (LISTED, 7, 1, ())
    assert commas.headline.startswith("7 numbers have a decimal comma. Write a decimal point")


def test_images_of_the_other_test_set_are_recognised(tmp_path: Path) -> None:
    sets = {
        (Task.CLASSIFICATION, "test1"): ImageSet(("000001",)),
        (Task.CLASSIFICATION, "test2"): ImageSet(("000002",)),
    }
    upload = directory(tmp_path, {"comp1_cls_test1_cars.txt": "000002 0.5\n000002 0.5\n"})
    (group,) = read_results(upload, load("VOC2005"), ImageSets("VOC2005", sets)).groups
    assert group.headline == (
        "All 2 lines name images of another test set; they look like images of test2. Run the method on the test1 "
        "images of VOC2005, such as '000001'."
    )
    assert "it is in test2, which is for other competitions. Take" in group.problems[0].message


def test_files_for_the_other_test_set_are_not_said_to_be_for_neither(tmp_path: Path) -> None:
    upload = directory(tmp_path, {f"comp2_cls_test1_{name}.txt": "000001 0.5\n" for name in ("cars", "people")})
    (group,) = read_results(upload, load("VOC2005"), None).groups
    assert group.headline == (
        "A result file for another image set: 2 files. The file name says image set 'test1', but comp2 uses 'test2'. "
        "Run the method on 'test2'. If you did, rename the file."
    )


def test_a_single_problem_is_its_own_headline(tmp_path: Path) -> None:
    group = only(tmp_path, {"comp3_det_test_car.txt": "000001 high 1 1 5 5\n"})
    assert group.headline == group.problems[0].message


CAR, DOG = "comp3_det_test_car.txt", "comp3_det_test_dog.txt"
ONE = detections("000001")
LAYOUT = "<layout><image>2009_000008</image><object>1</object><confidence>1</confidence></layout>\n"
# What there is to do about an upload; an ellipsis stands for any text.
HEADLINES: dict[str, tuple[dict[str, bytes | str], tuple[str, ...], str]] = {
    "another year of the same form": (
        {CAR: detections("2008_000007", "2009_000008")},
        IMAGES,
        "All 2 lines name images of another test set; they look like VOC2009 or later.…",
    ),
    "the last year of all": (
        {CAR: detections("2008_000007", "2012_000008")},
        IMAGES,
        "…they look like VOC2012.…",
    ),
    "images of train or val have the years of the test set": (
        {CAR: detections("2008_000007", "2010_000008")},
        TEST_SET_OF_2012,
        "All 2 lines name images that are not in the test set; they look like images of another split (train or "
        "val). Run the method on the test images of VOC2012, such as '2008_000001'.",
    ),
    "mixed years are counted apart": (
        {CAR: detections("000007", "000008", "2010_000002", "2011_000009"), DOG: detections("2010_000002")},
        TEST_SET_OF_2012,
        "3 of 4 lines name images that are not in the test set: 2 look like VOC2007 and 1 look like images of "
        "another split (train or val). Remove them, and enter only the test images of VOC2012, such as "
        "'2008_000001'.",
    ),
    "one file of several": (
        {CAR: detections("2008_000007", "2008_000008"), DOG: ONE},
        IMAGES,
        "All 2 lines of 1 file name images of another test set…"
        " Leave this file out, or run the method on the test images of …",
    ),
    "unrecognised identifiers are not guessed": (
        {CAR: detections("img_a", "img_b")},
        IMAGES,
        "All 2 lines name images that are not in the test set. Run…",
    ),
    "numbers without their leading zeros": (  # as programs write that read them as numbers
        {CAR: detections("1", "2"), DOG: ONE},
        IMAGES,
        "2 lines name test images with other zeros, punctuation or endings. Write identifiers as in the image set "
        "file, such as '000001'.",
    ),
    "quotation marks, and numbers without their underscore": (  # as programs write that quote, or read numbers
        {CAR: detections('"2008_000001"', '"2010_000002"'), DOG: detections("2008000001")},
        TEST_SET_OF_2012,
        "3 lines in 2 files name test images with other zeros, punctuation or endings. Write identifiers as in the …",
    ),
    "leading zeros that the test set does not have": (  # with six digits, as in VOC2007
        {CAR: detections("000151", "000153")},
        ("151", "153"),
        "2 lines name test images with other zeros, punctuation or endings. Write identifiers as in the image set "
        "file, such as '151'.",
    ),
    "layouts are not label maps": (
        {"comp7_layout_test.xml": f"<results>{LAYOUT * 2}</results>"},
        IMAGES,
        "2 results are of images of another test set; they look like VOC2009 or later. Remove them, and enter only "
        "the test images of VOC2012, such as '000001'.",
    ),
    "layouts are not lines": (
        {CAR: detections("2009_000008", "000001"), "comp7_layout_test.xml": f"<results>{LAYOUT * 2}</results>"},
        IMAGES,
        "3 results in 2 files are of images of another test set…",
    ),
    "label maps without a folder": (
        {f"{image}.png": label_map() for image in IMAGES},
        IMAGES,
        "3 label maps are not in a folder; put them into Segmentation/comp5_test_cls/ (trained on trainval) or "
        "Segmentation/comp6_test_cls/ (trained on any data).",
    ),
    "label maps named after image files": (
        {f"comp5_test_cls/{image}.jpg.png": label_map() for image in IMAGES[:2]}
        | {f"comp5_test_cls/{image}.png": label_map() for image in IMAGES},
        IMAGES,
        "2 label maps are named after image files, such as '000001.jpg.png'. Name them <image>.png.",
    ),
    "label maps with an ending": (
        {f"comp5_test_cls/{image}_mask.png": label_map() for image in IMAGES[:2]}
        | {f"comp5_test_cls/{image}.png": label_map() for image in IMAGES},
        IMAGES,
        "2 label maps in 2 files name test images with other zeros, punctuation or endings. Write identifiers as in …",
    ),
    "a whole experiment names the folder to pack": (
        {f"exp7/{name}": "x" for name in ("config.yaml", "train.log", "model.pth")}
        | {f"exp7/eval/VOC2012/Main/{name}": ONE for name in (CAR, DOG)},
        IMAGES,
        "3 of the 5 files in the archive are not result files. Pack only the folder 'exp7/eval/VOC2012/'.",
    ),
    "the same results of two years": (
        {f"results/{folder}/Main/{name}": ONE for folder in ("VOC2010", "VOC2012") for name in (CAR, DOG)},
        IMAGES,
        "2 result files are in the archive twice. Pack only the folder 'results/VOC2012/'.",
    ),
    "the same results in a folder and one within": (  # who packs new/ packs both
        {f"results/{folder}/Main/{name}": ONE for folder in ("new", "new/old") for name in (CAR, DOG)},
        IMAGES,
        "2 result files are in the archive twice. Keep one of each.",
    ),
    "results spread over folders are all needed": (
        {
            f"{folder}/comp3_det_test_{name}.txt": ONE
            for folder, names in {"a": ("car", "dog", "cat"), "b": ("car", "dog", "bus")}.items()
            for name in names
        },
        IMAGES,
        "… Keep one of each.",
    ),
    "the folder of label maps of another split is named": (
        {f"comp5_val_cls/{image}.png": label_map() for image in IMAGES},
        IMAGES,
        f"…, such as 'comp5_val_cls/{IMAGES[0]}.png'. …",
    ),
    "names of another split": (
        {f"Main/comp3_det_val_{name}.txt": ONE for name in ("car", "dog")},
        IMAGES,
        "2 files are named for another image set than 'test', such as 'comp3_det_val_car.txt'. Run the method on "
        "the test images; if you did, write test in the names.",
    ),
    "semicolons with decimal commas are one cause": (
        {CAR: "000001;0,5;1,0;1,0;5,0;5,0\n" * 2},
        IMAGES,
        "Wrong separator: 2 places in 1 file. The fields are separated by semicolons, and numbers have decimal commas, "
        "which must be points. Separate them with spaces: <image> <confidence> <left> <top> <right> <bottom>.",
    ),
    "colours instead of indices": (
        {f"comp5_test_cls/{image}.png": label_map(mode="RGB") for image in IMAGES},
        IMAGES,
        "3 label maps hold colours instead of class indices. Save the class indices…",
    ),
}


@pytest.mark.parametrize("case", HEADLINES)
def test_one_headline_says_what_to_do(tmp_path: Path, case: str) -> None:
    content, images, expected = HEADLINES[case]
    headline = only(tmp_path, content, images).headline
    assert re.fullmatch(".*".join(map(re.escape, expected.split("…"))), headline), headline


@pytest.mark.full
def test_all_lines_of_the_real_results_of_another_year(tmp_path: Path) -> None:
    case = golden("voc2007-real")
    sets = {
        (competition.task, "test"): ImageSet(TEST_SET_OF_2012) for competition in load("VOC2012").competitions.values()
    }
    read = read_results(case.results, load("VOC2012"), ImageSets("VOC2012", sets), competitions=["comp2", "comp4"])
    (unknown,) = [group for group in read.groups if group.code == "unknown_image"]
    lines = 52_404 + 12_134  # of detection and of classification
    assert (unknown.count, unknown.file_count) == (lines, 40)
    assert unknown.headline == (
        f"All {lines:,} lines name images of another test set; they look like VOC2007. Run the method on the test "
        f"images of VOC2012, such as '2008_000001'."
    )


def test_only_the_challenges_folders_are_named(tmp_path: Path) -> None:
    upload = directory(tmp_path, {f"maps/{image}.png": label_map() for image in IMAGES})
    read = read_results(upload, any_edition(), image_sets(), competitions=["comp3", "comp6"])
    assert read.groups[0].headline == (
        "3 label maps are in the folder 'maps/'; put them into Segmentation/comp6_test_cls/."
    )


def test_label_maps_without_a_folder_beside_other_results(tmp_path: Path) -> None:
    content: dict[str, bytes | str] = {f"{image}.png": label_map() for image in IMAGES}
    content |= {"comp3_det_test_car.txt": detections("000001"), "notes.txt": "x"}
    group = only(tmp_path, content)
    assert (group.code, group.count) == ("unknown_file", 4)
    assert group.headline.startswith("3 label maps are not in a folder; put them into ")
    assert group.headline.endswith(" 1 other file is not a result file.")


def test_two_runs_in_an_experiment_name_both_folders(tmp_path: Path) -> None:
    runs = [f"runs/exp{number}" for number in (1, 2)]
    content: dict[str, bytes | str] = {f"{run}/train.log": "x" for run in runs}
    content |= {
        f"{run}/VOC2012/Main/comp3_det_test_{name}.txt": detections("000001") for run in runs for name in ("car", "dog")
    }
    unknown, duplicates = groups(tmp_path, content)
    folders = "Pack only one of the folders 'runs/exp1/VOC2012/' and 'runs/exp2/VOC2012/'."
    assert unknown.headline == f"2 of the 6 files in the archive are not result files. {folders}"
    assert duplicates.headline == f"2 result files are in the archive twice. {folders}"


def test_problems_of_many_files_do_not_hide_what_is_missing_or_not_open(tmp_path: Path) -> None:
    images = tuple(f"{number:06d}" for number in range(LISTED + 3))
    content: dict[str, bytes | str] = {f"comp6_test_cls/{image}.png": label_map(mode="RGB") for image in images[1:]}
    content |= {f"log{number}.csv": "x" for number in range(LISTED)} | {CAR: ONE, "comp1_cls_test_car.txt": "000001 1"}
    upload = directory(tmp_path / "upload", content)
    read = read_results(upload, any_edition(), image_sets(images=images), competitions=["comp5", "comp6"])
    found = {group.code: group for group in read.groups}
    assert found["missing_maps"].headline.startswith("comp6 has no label map for 1 image of 23: 000000.")
    not_open = [problem.message.partition(" which")[0] for problem in found["competition_not_open"].problems]
    assert not_open == ["1 file (this one first) for comp1,", "1 file (this one first) for comp3,"]
    assert (found["png_rgb"].count, found["unknown_file"].count) == (LISTED + 2, LISTED)
    assert (len(found["png_rgb"].problems), len(found["unknown_file"].problems)) == (LISTED - 1, LISTED - 2)


def test_names_come_before_lines(tmp_path: Path) -> None:
    content: dict[str, bytes | str] = {
        "comp3_det_test_car.txt": "000001 x 1 1 5 5\n",
        "comp3_det_test_dog.txt.zip": b"PK\x03\x04" + bytes(30),
    }
    assert [group.code for group in groups(tmp_path, content)] == ["nested_archive", "not_a_number"]


def test_files_of_a_cause_are_in_order_whatever_the_order_in_the_archive(tmp_path: Path) -> None:
    packed = tmp_path / "results.tar"
    with tarfile.open(packed, "w") as archive:
        for name in ("comp3_det_test_dog.txt", "notes/b.md", "comp3_det_test_car.txt", "notes/a.md"):
            member = tarfile.TarInfo(name)
            member.size = 2
            archive.addfile(member, io.BytesIO(b"x\n"))
    groups = read_results(packed, any_edition(), image_sets()).groups
    assert {group.code: group.files for group in groups} == {
        "unknown_file": ("notes/a.md", "notes/b.md"),
        "wrong_number_of_fields": ("comp3_det_test_car.txt", "comp3_det_test_dog.txt"),
    }


def test_warnings_come_last(tmp_path: Path) -> None:
    content: dict[str, bytes | str] = {"comp3_det_test_car.txt": "000001\t0.5 1 1 5 5\r\n000001 x 1 1 5 5\r\n"}
    found = groups(tmp_path, content)
    assert [group.severity for group in found] == [Severity.ERROR, Severity.WARNING, Severity.WARNING]


def test_the_text_of_an_upload_is_quoted(tmp_path: Path) -> None:
    content: dict[str, bytes | str] = {"x\u202ey.zip": b"PK\x03\x04" + bytes(30)}
    for group in groups(tmp_path, content):
        assert "\u202e" not in group.headline


def test_a_list_alone_can_be_grouped() -> None:
    problems = [Problem("not_a_number", Severity.ERROR, "Bad.", "a.txt", line) for line in (1, 2)]
    problems.append(Problem("from_another_version", Severity.ERROR, "New.", "b.txt"))
    found = groups_of(problems)
    assert {group.code: group.count for group in found} == {"not_a_number": 2, "from_another_version": 1}
    assert counted_in_files(found, Severity.ERROR) == "3 errors in 2 files"


@pytest.mark.parametrize("name", [pytest.param("voc2007-real", marks=pytest.mark.full), "voc2012-synthetic"])
def test_valid_results_have_no_groups_of_errors(name: str) -> None:
    case = golden(name)
    edition = load(case.edition)
    read = read_results(case.results, edition, read_image_sets(case.ground_truth, edition))
    assert [group for group in read.groups if group.severity is Severity.ERROR] == []
    assert sum(group.count for group in read.groups) == len(read.problems)


TESTS = Path(__file__).parents[1]


def test_every_kind_of_problem_has_a_code_a_title_and_whole_sentences_and_says_how_to_fix_it() -> None:
    for kind in CATALOGUE.values():
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", kind.code)
        assert kind.title, kind.code
        assert not kind.title.endswith("."), kind.code
        assert kind.found.endswith((".", ".{hint}")), kind.code
        assert kind.example, kind.code
        assert not kind.remedy or kind.remedy.endswith((".", "}")), kind.code
        if kind.severity is Severity.ERROR and kind.code != "more_problems":
            assert kind.remedy or "expected" in kind.found, kind.code


def test_every_kind_of_problem_is_provoked_by_a_test_so_that_its_wording_is_complete() -> None:
    sources = (path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    named = set(re.findall(r'"([a-z0-9_]+)"', "\n".join(sources)))
    assert set(CATALOGUE) <= named
