"""Image sets: their JSON, and reading them from a participant's tree."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from tests.evaluator.uploads import directory, image_sets, label_map, tar
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.image_sets import ImageSet, ImageSets, ImageSetsFormatError
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.trees import TreeProblems
from vocboard.evaluator.public_api.inputs import read_image_sets as read_tree_or_file
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.tasks.image_set_files import ImageSetFiles

ANNOTATION = "<annotation><size><width>{}</width><height>{}</height></size></annotation>"
LISTS = {
    "ImageSets/Main/test.txt": "000002\r\n000001\r\n\r\n",
    "ImageSets/Layout/test.txt": "000007  2\n000007  1\n",
    "ImageSets/Segmentation/test.txt": " 000005\n",
    "ImageSets/Action/test.txt": "000008 1\n",
}


def jpeg(size: tuple[int, int]) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size).save(file, "JPEG")
    return file.getvalue()


def below(prefix: str, content: dict[str, str]) -> dict[str, str]:
    return {prefix + name: text for name, text in content.items()}


class TestJson:
    def test_what_was_written_is_read(self) -> None:
        original = image_sets()
        again = ImageSets.from_json(original.to_json())
        assert again.edition == original.edition
        assert list(again.sets) == list(original.sets)
        for key, image_set in original.sets.items():
            assert again.sets[key].images == image_set.images
            for found, expected in (
                (again.sets[key].sizes, image_set.sizes),
                (again.sets[key].persons, image_set.persons),
            ):
                assert (found is None) == (expected is None)
                assert found is None or (found.dtype == np.int32 and np.array_equal(found, np.array(expected)))

    def test_equal_sets_are_written_once(self) -> None:
        images = tuple(f"{number:06}" for number in range(1_000))
        both = ImageSets(
            "X", {(Task.CLASSIFICATION, "test"): ImageSet(images), (Task.DETECTION, "test"): ImageSet(images)}
        )
        assert len(both.to_json()) < 10_000

    @pytest.mark.parametrize("persons", [None, np.zeros((0, 2), dtype=np.int32)])
    def test_no_people_and_unknown_people_differ(self, persons: np.ndarray | None) -> None:
        sets = ImageSets("X", {(Task.ACTION, "test"): ImageSet(("a",), None, persons)})
        again = ImageSets.from_json(sets.to_json()).sets[Task.ACTION, "test"]
        assert (again.persons is None) == (persons is None)

    @pytest.mark.parametrize(
        "change",
        [
            {"format": 2},
            {"image_sets": None},
            {
                "image_sets": [
                    {"tasks": ["action"], "name": "test", "images": ["a", "a"], "sizes": None, "persons": None}
                ]
            },
            {"image_sets": [{"tasks": ["action"], "name": "test", "images": ["a"], "sizes": [], "persons": None}]},
            {
                "image_sets": [
                    {"tasks": ["action"], "name": "test", "images": ["a"], "sizes": None, "persons": [[1, 1]]}
                ]
            },
            {"image_sets": [{"tasks": ["cooking"], "name": "test", "images": [], "sizes": None, "persons": None}]},
        ],
    )
    def test_anything_else_is_refused(self, change: dict[str, object]) -> None:
        document = json.loads(image_sets().to_json()) | change
        with pytest.raises(ImageSetsFormatError):
            ImageSets.from_json(json.dumps(document))

    @pytest.mark.parametrize("text", ["", "[]", "{}", "null", "[" * 100_000, b"\xff"])
    def test_what_is_not_a_such_document_is_refused(self, text: str | bytes) -> None:
        with pytest.raises(ImageSetsFormatError):
            ImageSets.from_json(text)


class TestParticipantsTree:
    @pytest.mark.parametrize("prefix", ["", "VOC2012/", "VOCdevkit/VOC2012/"])
    def test_lists_keep_the_order_of_their_files_wherever_the_folder_is(self, tmp_path: Path, prefix: str) -> None:
        content = below(prefix, LISTS)
        for tree in (directory(tmp_path / "tree", content), tar(tmp_path / "tree.tgz", content)):
            sets = read_image_sets(tree, load("VOC2012")).sets
            assert sets[Task.DETECTION, "test"].images == ("000002", "000001")
            layout = sets[Task.LAYOUT, "test"].persons
            assert layout.tolist() == [[0, 2], [0, 1]]
            assert all(image_set.sizes is None for image_set in sets.values())

    def test_people_come_from_the_actions_lists_where_test_txt_has_images_only(self, tmp_path: Path) -> None:
        content = LISTS | {
            "ImageSets/Action/test.txt": "000009\n000008\n",
            "ImageSets/Action/jumping_test.txt": "000008 3 -1\n",
            "ImageSets/Action/walking_test.txt": "000009  1 1\n000008  10 -1\n000008  2  1\n",
        }
        action = read_image_sets(directory(tmp_path, content), load("VOC2012")).sets[Task.ACTION, "test"]
        assert action.images == ("000009", "000008")
        assert action.persons.tolist() == [[0, 1], [1, 2], [1, 3], [1, 10]]

    def test_people_are_unknown_where_nothing_names_them(self, tmp_path: Path) -> None:
        content = LISTS | {"ImageSets/Action/test.txt": "000009\n"}
        assert read_image_sets(directory(tmp_path, content), load("VOC2012")).sets[Task.ACTION, "test"].persons is None

    def test_people_of_2007_are_named_by_box(self, tmp_path: Path) -> None:
        content = LISTS | {"ImageSets/Layout/test.txt": "000007\n"}
        assert read_image_sets(directory(tmp_path, content), load("VOC2007")).sets[Task.LAYOUT, "test"].persons is None

    def test_sizes_come_from_annotations_or_images_whichever_has_them(self, tmp_path: Path) -> None:
        content: dict[str, bytes | str] = {
            **LISTS,
            "Annotations/000001.xml": ANNOTATION.format(500, 375),
            "JPEGImages/000002.jpg": jpeg((333, 500)),
            "SegmentationClass/000005.png": label_map((20, 10)),
            "JPEGImages/000008.jpg": b"not an image",
        }
        linked = directory(tmp_path / "linked", content)  # several trees often share their pictures
        (linked / "JPEGImages").rename(tmp_path / "pictures")
        (linked / "JPEGImages").symlink_to(tmp_path / "pictures")
        for tree in (directory(tmp_path / "tree", content), tar(tmp_path / "tree.tgz", content), linked):
            sets = read_image_sets(tree, load("VOC2012")).sets
            sizes = {task: image_set.sizes for (task, _), image_set in sets.items()}
            main, maps = sizes[Task.CLASSIFICATION], sizes[Task.SEGMENTATION]
            assert main.tolist() == [[333, 500], [500, 375]]
            assert maps.tolist() == [[20, 10]]
            assert sizes[Task.LAYOUT] is None
            assert sizes[Task.ACTION] is None

    def test_a_tree_without_image_sets_is_reported_with_what_is_expected(self, tmp_path: Path) -> None:
        with pytest.raises(GroundTruthError, match=r"ImageSets/Main/test\.txt"):
            read_image_sets(directory(tmp_path, {"JPEGImages/000001.jpg": b""}), load("VOC2012"))

    def test_what_is_not_a_tree_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "tree.tar").write_text("nothing")
        with pytest.raises(GroundTruthError, match="not a tar or zip archive"):
            read_image_sets(tmp_path / "tree.tar", load("VOC2012"))


IMAGES = {"2008_000002": 0, "2008_000003": 1, "1": 2}

lines = st.tuples(
    st.sampled_from([*IMAGES] * 4 + ["other", "-1", "../1", "é"]),
    st.sampled_from([" ", "  ", "\t"]),
    st.sampled_from(["1", "-1", "0"] * 4 + ["+1", "2", "", "1 1", "1\n1"]),
    st.sampled_from(["\n"] * 8 + ["\r\n", " \n", "", "\n\n", "\x0b"]),
).map("".join)
in_order = st.permutations(list(IMAGES)).map(lambda images: "".join(f"{image} -1\n" for image in images))


def read(content: bytes, *, by_line: bool) -> tuple[list[int], list[int], tuple[Problem, ...]]:
    collector = TreeProblems()
    with pytest.MonkeyPatch.context() as patch:
        if by_line:
            patch.setattr(ImageSetFiles, "_plain_image_labels", lambda *_: None)
        labels = ImageSetFiles({"cow_test.txt": content}, collector).image_labels("cow_test.txt", IMAGES)
    problems: tuple[Problem, ...] = ()
    try:
        collector.raise_if_any()
    except GroundTruthError as error:
        problems = error.problems
    return labels.item.tolist(), labels.label.tolist(), problems


@given(text=in_order | st.lists(lines, max_size=5).map("".join))
@example(text="\ufeff2008_000003  1\n2008_000002 0\n1 -1")
@example(text="2008_000003\n1 2008_000002 0\n1 -1")
def test_labels_are_the_same_at_once_and_line_by_line(text: str) -> None:
    assert read(text.encode(), by_line=False) == read(text.encode(), by_line=True)


def test_labels_are_in_the_order_of_the_file() -> None:
    assert read(b"2008_000003 1\n1 -1\n2008_000002 0\n", by_line=False) == ([1, 2, 0], [1, -1, 0], ())


def test_a_file_that_is_not_text_is_reported() -> None:
    items, _, problems = read(b"2008_000003 \xff\n", by_line=False)
    assert items == []
    assert [problem.code for problem in problems] == ["not_text", "missing_labels"]


def test_the_json_of_another_edition_or_image_set_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sets.json"
    file.write_text(ImageSets("VOC2007", {(Task.DETECTION, "test"): ImageSet(("000001",))}).to_json())
    assert read_tree_or_file(file, "VOC2007", "test").images("detection") == ("000001",)
    for edition, image_set, message in (("VOC2012", None, "of VOC2007"), ("VOC2007", "val", "no image set 'val'")):
        with pytest.raises(ValueError, match=message):
            read_tree_or_file(file, edition, image_set)
