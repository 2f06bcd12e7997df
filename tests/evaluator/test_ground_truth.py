"""Development kit trees: what is read from them, what is said of broken ones, and how truth is stored."""

import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.evaluator import trees
from tests.evaluator.uploads import zipped
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.ground_truth import (
    DetectionTruth,
    GroundTruth,
    GroundTruthError,
    GroundTruthFileError,
    LabelTruth,
    LayoutTruth,
    SegmentationTruth,
)
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.ground_truth.summary import summarise

EDITION = load("VOC2012")


def read(directory: Path, files: dict[str, str | bytes], edition: str = "VOC2012") -> GroundTruth:
    return read_ground_truth(trees.write(directory, files), load(edition))


def problems_of(directory: Path, files: dict[str, str | bytes], edition: str = "VOC2012") -> list[tuple]:
    with pytest.raises(GroundTruthError) as error:
        read(directory, files, edition)
    return [(problem.file, problem.line, problem.message) for problem in error.value.problems]


class TestContent:
    def test_classification_keeps_the_order_of_each_classs_list(self, tmp_path: Path) -> None:
        truth = read(tmp_path, trees.files_of_2012()).truths[Task.CLASSIFICATION, "test"]
        assert isinstance(truth, LabelTruth)
        assert truth.labels["car"].item.tolist() == [1, 0]  # m2 stands first
        assert truth.labels["car"].label.tolist() == [-1, 1]
        assert truth.labels["dog"].label.tolist() == [-1, 0]

    def test_detection_has_the_objects_of_the_editions_classes(self, tmp_path: Path) -> None:
        files = trees.files_of_2012()
        files["Annotations/m2.xml"] = trees.annotation(
            trees.an_object("unicorn"), trees.an_object("cat", (1.5, 2, 3, 4))
        )
        truth = read(tmp_path, files).truths[Task.DETECTION, "test"]
        assert isinstance(truth, DetectionTruth)
        assert truth.image.tolist() == [0, 0, 1]
        assert [EDITION.classes[index] for index in truth.class_index] == ["car", "dog", "cat"]
        assert truth.difficult.tolist() == [False, True, False]
        assert truth.box[2].tolist() == [1.5, 2, 3, 4]

    def test_layout_has_the_people_listed_with_their_parts(self, tmp_path: Path) -> None:
        truth = read(tmp_path, trees.files_of_2012()).truths[Task.LAYOUT, "test"]
        assert isinstance(truth, LayoutTruth)
        assert truth.object.tolist() == [1, 2]
        assert [(p, EDITION.parts[t]) for p, t in zip(truth.part_person, truth.part_type, strict=True)] == [
            (0, "head"),
            (0, "hand"),
            (1, "foot"),
        ]

    def test_action_people_come_from_the_lists_if_the_image_set_names_images_only(self, tmp_path: Path) -> None:
        truth = read(tmp_path, trees.files_of_2012())
        assert truth.image_sets.sets[Task.ACTION, "test"].persons.tolist() == [[0, 2], [1, 1]]
        labels = truth.truths[Task.ACTION, "test"]
        assert isinstance(labels, LabelTruth)
        assert labels.labels["walking"].label.tolist() == [1, -1]
        assert "other" not in labels.labels

    def test_action_image_set_may_name_people(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {"ImageSets/Action/test.txt": "a2 1\r\na1\t2\r\n"}
        truth = read(tmp_path, files)
        assert truth.image_sets.sets[Task.ACTION, "test"].persons.tolist() == [[0, 1], [1, 2]]
        assert truth.image_sets.sets[Task.ACTION, "test"].images == ("a2", "a1")

    def test_an_actions_list_may_lack_people_of_the_others(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {"ImageSets/Action/jumping_test.txt": "a2 1 1\n"}
        labels = read(tmp_path, files).truths[Task.ACTION, "test"].labels["jumping"]
        assert (labels.item.tolist(), labels.label.tolist()) == ([1], [1])

    def test_label_maps_come_back_as_they_are(self, tmp_path: Path) -> None:
        truth = read(tmp_path, trees.files_of_2012())
        maps = truth.truths[Task.SEGMENTATION, "test"]
        assert isinstance(maps, SegmentationTruth)
        assert maps.runs(0).pixels().tolist() == [[0, 7, 255], [20, 0, 0]]
        assert truth.image_sets.sets[Task.SEGMENTATION, "test"].sizes.tolist() == [[3, 2]]

    def test_the_public_half_holds_nothing_but_identifiers_sizes_and_people(self, tmp_path: Path) -> None:
        sets = read(tmp_path, trees.files_of_2012()).image_sets.sets
        assert sets[Task.DETECTION, "test"].images == ("m1", "m2")
        assert sets[Task.DETECTION, "test"].sizes.tolist() == [[20, 10], [20, 10]]
        assert sets[Task.DETECTION, "test"].persons is None
        assert sets[Task.LAYOUT, "test"].persons.tolist() == [[0, 1], [0, 2]]

    def test_labels_come_from_annotations_where_there_are_no_lists(self, tmp_path: Path) -> None:
        whole = trees.files_of_2012()
        bare = {name: content for name, content in whole.items() if name.count("_test") == 0}
        truth = read(tmp_path, bare)
        labels = truth.truths[Task.CLASSIFICATION, "test"].labels
        assert {name: labels[name].label.tolist() for name in ("car", "dog", "cat")} == {
            "car": [1, -1],
            "dog": [0, -1],
            "cat": [-1, -1],
        }
        walking = truth.truths[Task.ACTION, "test"].labels["walking"]
        assert (walking.item.tolist(), walking.label.tolist()) == ([0, 1], [1, -1])
        jumping = truth.truths[Task.ACTION, "test"].labels["jumping"]
        assert jumping.item.tolist() == []  # nobody was annotated with it

    def test_in_2007_people_are_all_those_of_the_images(self, tmp_path: Path) -> None:
        files = {
            "ImageSets/Layout/test.txt": "l1\nl2  -1\n",
            "Annotations/l1.xml": trees.annotation(trees.an_object("dog"), trees.an_object(more=trees.a_part("head"))),
            "Annotations/l2.xml": trees.annotation(trees.an_object(more="<difficult>1</difficult>")),
        }
        truth = read(tmp_path, files, "VOC2007")
        people = truth.truths[Task.LAYOUT, "test"]
        assert (people.image.tolist(), people.object.tolist()) == ([0, 1], [2, 1])
        assert people.difficult.tolist() == [False, True]
        assert truth.image_sets.sets[Task.LAYOUT, "test"].persons is None


class TestPlaces:
    @pytest.mark.parametrize("prefix", ["", "VOC2012/", "VOCdevkit/VOC2012/", "./VOC2012/"])
    def test_directory_tar_and_zip_are_the_same(self, tmp_path: Path, prefix: str) -> None:
        files = trees.files_of_2012()
        directory = trees.write(tmp_path / "tree", {prefix + name: content for name, content in files.items()})
        digests = {
            read_ground_truth(path, EDITION).sha256
            for path in (
                directory,
                trees.tar(tmp_path / "tree.tar.gz", files, prefix),
                trees.tar(tmp_path / "backwards.tar.gz", files, prefix, backwards=True),
                zipped(tmp_path / "tree.zip", {prefix + name: content for name, content in files.items()}),
            )
        }
        assert len(digests) == 1

    def test_another_editions_folder_next_to_it_is_ignored(self, tmp_path: Path) -> None:
        files = {f"VOC2012/{name}": content for name, content in trees.files_of_2012().items()}
        files["VOC2007/ImageSets/Main/test.txt"] = "other\n"
        assert read(tmp_path, files).image_sets.sets[Task.DETECTION, "test"].images == ("m1", "m2")


class TestMissingParts:
    @pytest.mark.parametrize(
        ("folder", "tasks"),
        [
            ("ImageSets/Action", {Task.ACTION}),
            ("ImageSets/Layout", {Task.LAYOUT}),
            ("SegmentationClass", {Task.SEGMENTATION}),
            ("Annotations", {Task.DETECTION, Task.LAYOUT}),
        ],
    )
    def test_a_task_without_truth_is_not_available_and_the_summary_says_why(
        self, tmp_path: Path, folder: str, tasks: set[Task]
    ) -> None:
        files = {name: content for name, content in trees.files_of_2012().items() if not name.startswith(folder)}
        truth = read(tmp_path, files)
        assert {task for task, _ in truth.missing} == tasks
        assert not tasks & {task for task, _ in truth.truths}
        for summary in summarise(truth, EDITION):
            assert (summary.missing is not None) == (summary.task in tasks)

    def test_an_empty_layout_list_means_no_layout(self, tmp_path: Path) -> None:
        truth = read(tmp_path, trees.files_of_2012() | {"ImageSets/Layout/test.txt": "\n"})
        assert truth.missing[Task.LAYOUT, "test"] == "its image set is empty"

    def test_the_summary_counts_what_there_is_to_find(self, tmp_path: Path) -> None:
        summaries = {summary.task: summary for summary in summarise(read(tmp_path, trees.files_of_2012()), EDITION)}
        detection = summaries[Task.DETECTION]
        assert (detection.images, detection.people) == (2, None)
        assert (detection.classes["car"].positives, detection.classes["dog"].difficult) == (1, 1)
        assert summaries[Task.LAYOUT].people == 2
        assert summaries[Task.LAYOUT].classes["hand"].positives == 1


class TestBrokenTrees:
    def test_something_that_is_not_tree(self, tmp_path: Path) -> None:
        (message,) = [message for _, _, message in problems_of(tmp_path, {"readme.txt": "hello"})]
        assert "ImageSets/Main/test.txt" in message

    def test_something_that_is_not_archive(self, tmp_path: Path) -> None:
        path = tmp_path / "tree.tar.gz"
        path.write_text("not an archive")
        with pytest.raises(GroundTruthError) as error:
            read_ground_truth(path, EDITION)
        assert [problem.code for problem in error.value.problems] == ["not_an_archive"]
        assert "Expected a development kit tree" in str(error.value)
        assert "result files" not in str(error.value)

    def test_everything_wrong_with_the_lists_is_reported_at_once_with_file_and_line(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {
            "ImageSets/Main/test.txt": "m1\nm2\n\nm1\n",
            "ImageSets/Layout/test.txt": "l1 1\nl1 one\nl1 1\nl1 2 3\nl1 2147483648\n",
            "ImageSets/Segmentation/test.txt": b"\xff\xfe",
        }
        found = problems_of(tmp_path, files)
        assert ("ImageSets/Main/test.txt", 4, "m1 repeats line 1") in found
        assert ("ImageSets/Layout/test.txt", 2, "object index 'one', expected a number from 1") in found
        assert ("ImageSets/Layout/test.txt", 3, "l1 1 repeats line 1") in found
        assert ("ImageSets/Layout/test.txt", 4, "3 fields, expected 1 or 2") in found
        assert ("ImageSets/Layout/test.txt", 5, "object index '2147483648', expected a number from 1") in found
        assert ("ImageSets/Segmentation/test.txt", None, "is not a UTF-8 text file (byte 0)") in found
        assert len(found) == 6

    def test_everything_wrong_with_labels_is_reported(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {
            "ImageSets/Main/car_test.txt": "m1 1\n",
            "ImageSets/Main/cat_test.txt": "m1 2\nm3 1\nm2 -1\nm2 -1\n",
            "ImageSets/Action/walking_test.txt": "a1 7 1\n",
        }
        assert problems_of(tmp_path, files) == [
            ("ImageSets/Main/car_test.txt", None, "lists 1 of the 2 test images; without a label: m2"),
            ("ImageSets/Main/cat_test.txt", 1, "label '2', expected 1, 0 or -1"),
            ("ImageSets/Main/cat_test.txt", 2, "image 'm3' is not in the test set"),
            ("ImageSets/Main/cat_test.txt", 4, "m2 -1 repeats line 3"),
            ("ImageSets/Main/cat_test.txt", None, "lists 1 of the 2 test images; without a label: m1"),
            ("ImageSets/Action/test.txt", None, "image a1 has 2 objects, none with index 7"),
        ]

    def test_everything_wrong_with_annotations_is_reported(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {
            "Annotations/m1.xml": trees.annotation(
                trees.an_object("car", (10, 1, 1, 10)), "<object>\n<name>dog</name></object>", size="<size/>"
            ),
            "Annotations/m2.xml": "<annotation>\n<object></annotation>",
            "Annotations/a2.xml": trees.annotation(size="<size><width>2147483648</width><height>1</height></size>"),
            "Annotations/l1.xml": '<!DOCTYPE annotation [<!ENTITY a "b">]>\n<annotation/>',
            "Annotations/a1.xml": trees.annotation(trees.an_object(more="<difficult>maybe</difficult>")),
        }
        found = problems_of(tmp_path, files)
        assert ("Annotations/m1.xml", 5, "<bndbox> is upside down: 10, 1 to 1, 10") in found
        assert ("Annotations/m1.xml", 7, "<object> has no <bndbox>") in found
        assert ("Annotations/m1.xml", 2, "<size> has no <width>") in found
        assert [(file, line) for file, line, _ in found if file == "Annotations/m2.xml"] == [("Annotations/m2.xml", 2)]
        assert [file for file, _, message in found if "document type" in message] == ["Annotations/l1.xml"]
        assert ("Annotations/a2.xml", 2, "an image of 2.14748e+09 x 1 pixels") in found
        assert any("'maybe', expected 0 or 1" in message for _, _, message in found)

    def test_entities_are_not_expanded(self, tmp_path: Path) -> None:
        bomb = '<!DOCTYPE a [<!ENTITY x "xx"><!ENTITY y SYSTEM "file:///etc/passwd">]><annotation>&x;&y;</annotation>'
        found = problems_of(tmp_path, trees.files_of_2012() | {"Annotations/m1.xml": bomb})
        assert [file for file, _, _ in found] == ["Annotations/m1.xml"]

    def test_truth_that_is_there_in_part_is_an_error(self, tmp_path: Path) -> None:
        files = trees.files_of_2012()
        del files["Annotations/m2.xml"]
        files["ImageSets/Segmentation/test.txt"] = "m2\nm9\n"
        assert problems_of(tmp_path, files) == [
            ("Annotations/m2.xml", None, "is not there, although other test images have theirs"),
            ("SegmentationClass/m9.png", None, "is not there, although other test images have theirs"),
        ]

    def test_people_that_the_annotation_does_not_have(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {
            "ImageSets/Layout/test.txt": "l1 1\nl1 3\n",
            "ImageSets/Action/test.txt": "a1 1\n",
        }
        found = problems_of(tmp_path, files)
        assert ("ImageSets/Action/walking_test.txt", 1, "person 2 of image a1 is not listed") in found
        assert ("ImageSets/Layout/test.txt", 2, "image l1 has 2 objects, none with index 3") in found
        assert ("ImageSets/Action/test.txt", 1, "object 1 of image a1 is a horse, expected a person") in found

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"GIF89a", "is not a PNG"),
            (trees.label_map([[0, 1]])[:-24], "cannot be read as a PNG"),
            (trees.label_map([[0, 21]]), "has label 21, expected 0 to 20, or 255 for void"),
        ],
    )
    def test_label_maps_that_are_none(self, tmp_path: Path, content: bytes, message: str) -> None:
        (found,) = problems_of(tmp_path, trees.files_of_2012() | {"SegmentationClass/m2.png": content})
        assert found[0] == "SegmentationClass/m2.png"
        assert message in found[2]

    def test_an_identifier_cannot_lead_out_of_the_tree(self, tmp_path: Path) -> None:
        (tmp_path / "outside.xml").write_text(trees.annotation())
        files = trees.files_of_2012() | {"ImageSets/Main/test.txt": "../../outside\n"}
        ((file, line, message), *_) = problems_of(tmp_path / "tree", files)
        assert (file, line) == ("ImageSets/Main/test.txt", 1)
        assert "is a path" in message

    def test_the_message_is_short_however_much_is_wrong(self, tmp_path: Path) -> None:
        files = trees.files_of_2012() | {"ImageSets/Main/test.txt": "m1\n" * 500}
        with pytest.raises(GroundTruthError) as error:
            read(tmp_path, files)
        assert [problem.code for problem in error.value.problems[:499]] == ["repeated_item"] * 499
        assert str(error.value).count("\n") == 20
        assert str(error.value).endswith(f"and {len(error.value.problems) - 20} more")


class TestStorage:
    def test_comes_back_whole(self, tmp_path: Path) -> None:
        truth = read(tmp_path / "tree", trees.files_of_2012())
        truth.save(tmp_path / "truth.npz")
        loaded = GroundTruth.load(tmp_path / "truth.npz")
        assert loaded.sha256 == truth.sha256
        again = GroundTruth.of(loaded.image_sets, loaded.truths, loaded.missing)
        assert again.sha256 == truth.sha256  # the digest covers every array
        assert [path.name for path in tmp_path.iterdir()].count("truth.npz") == 1
        assert len(list(tmp_path.iterdir())) == 2  # nothing unfinished stays behind

    def test_what_is_missing_comes_back_too(self, tmp_path: Path) -> None:
        truth = read(tmp_path / "tree", {"ImageSets/Main/test.txt": "m1\n", "Annotations/m1.xml": trees.annotation()})
        truth.save(tmp_path / "truth")
        loaded = GroundTruth.load(tmp_path / "truth")
        assert loaded.missing == truth.missing
        assert set(loaded.truths) == {(Task.CLASSIFICATION, "test"), (Task.DETECTION, "test")}
        assert loaded.image_sets.sets[Task.DETECTION, "test"].images == ("m1",)

    def test_files_of_format_1_still_load(self, tmp_path: Path) -> None:
        truth = read(tmp_path / "tree", trees.files_of_2012())
        truth.save(tmp_path / "truth.npz")
        with np.load(tmp_path / "truth.npz") as stored:
            arrays = {name: stored[name] for name in stored.files}
        for name in ("label", "last", "end"):
            del arrays[f"secret/segmentation/test/{name}"]
        maps = truth.truths[Task.SEGMENTATION, "test"]
        assert isinstance(maps, SegmentationTruth)
        deflated = [zlib.compress(maps.runs(image).pixels().tobytes()) for image in range(len(maps))]
        arrays["secret/segmentation/test/data"] = np.frombuffer(b"".join(deflated), dtype=np.uint8)
        arrays["secret/segmentation/test/end"] = np.cumsum([len(each) for each in deflated], dtype=np.int64)
        header = json.loads(arrays["header"].tobytes()) | {"format": 1}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(tmp_path / "old.npz", **arrays)
        loaded = GroundTruth.load(tmp_path / "old.npz")
        assert GroundTruth.of(loaded.image_sets, loaded.truths, loaded.missing).sha256 == truth.sha256

    def test_refuses_a_format_it_does_not_know(self, tmp_path: Path) -> None:
        header = np.frombuffer(json.dumps({"format": 3}).encode(), dtype=np.uint8)
        np.savez(tmp_path / "newer.npz", header=header)
        with pytest.raises(GroundTruthFileError, match="format 3, this version reads 1 and 2"):
            GroundTruth.load(tmp_path / "newer.npz")

    @pytest.mark.parametrize("array", ["header", "public/classification/test/images"])
    def test_refuses_pickled_objects(self, tmp_path: Path, array: str) -> None:
        read(tmp_path / "tree", trees.files_of_2012()).save(tmp_path / "truth.npz")
        with np.load(tmp_path / "truth.npz") as stored:
            arrays = {name: stored[name] for name in stored.files}
        np.savez(tmp_path / "other.npz", **arrays | {array: np.array([{}], dtype=object)})
        with pytest.raises(GroundTruthFileError, match="is not stored ground truth"):
            GroundTruth.load(tmp_path / "other.npz")

    def test_refuses_damaged_arrays(self, tmp_path: Path) -> None:
        read(tmp_path / "tree", trees.files_of_2012()).save(tmp_path / "truth.npz")
        with zipfile.ZipFile(tmp_path / "truth.npz") as stored:
            members = {name: stored.read(name) for name in stored.namelist()}
        for name, content in members.items():
            for damaged in (content[:-1], content[:20], b"", content.replace(b"NUMPY\x01", b"NUMPY\x09")):
                with zipfile.ZipFile(tmp_path / "other.npz", "w") as other:
                    for each, own in members.items():
                        other.writestr(each, damaged if each == name else own)
                with pytest.raises(GroundTruthFileError, match="is not stored ground truth"):
                    GroundTruth.load(tmp_path / "other.npz")

    def test_loaded_arrays_cannot_be_changed(self, tmp_path: Path) -> None:
        read(tmp_path / "tree", trees.files_of_2012()).save(tmp_path / "truth.npz")
        truth = GroundTruth.load(tmp_path / "truth.npz").truths[Task.DETECTION, "test"]
        assert isinstance(truth, DetectionTruth)
        with pytest.raises(ValueError, match="read-only"):
            truth.box[0, 0] = 1

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04N.", b"hello"])
    def test_refuses_what_is_something_else(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "truth"
        path.write_bytes(content)
        with pytest.raises(GroundTruthFileError):
            GroundTruth.load(path)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("Annotations/m1.xml", trees.annotation(trees.an_object("car", (1, 1, 10, 9)))),
            ("ImageSets/Main/car_test.txt", "m2 1\nm1 1\n"),
            ("ImageSets/Main/test.txt", "m2\nm1\n"),
            ("SegmentationClass/m2.png", trees.label_map([[0, 7, 255], [20, 0, 1]])),
        ],
    )
    def test_the_digest_changes_with_the_content(self, tmp_path: Path, name: str, content: str | bytes) -> None:
        files = trees.files_of_2012()
        before = read(tmp_path / "before", files).sha256
        assert read(tmp_path / "after", files | {name: content}).sha256 != before

    def test_the_digest_does_not_change_with_white_space(self, tmp_path: Path) -> None:
        files = trees.files_of_2012()
        before = read(tmp_path / "before", files).sha256
        spaced = files | {"ImageSets/Main/test.txt": "\r\n m1 \r\n\r\nm2"}
        assert read(tmp_path / "after", spaced).sha256 == before


def test_arrays_have_the_types_promised(tmp_path: Path) -> None:
    truths = read(tmp_path, trees.files_of_2012()).truths
    objects = truths[Task.DETECTION, "test"]
    assert (objects.image.dtype, objects.class_index.dtype, objects.box.dtype) == (np.int32, np.int16, np.float64)
    people = truths[Task.LAYOUT, "test"]
    assert (people.object.dtype, people.part_person.dtype, people.part_type.dtype) == (np.int32, np.int32, np.int8)
