"""`vocboard statistics`, `check` and `view` on local trees."""

import json
from pathlib import Path

import pytest

from tests.commands.board import Run
from tests.evaluator.trees import files_of_2012, write
from tests.support.golden import golden
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.ground_truth.reader import read_ground_truth


class TestStatistics:
    def test_the_numbers_of_the_document_of_voc2007(self, run: Run) -> None:
        """Source: "The VOC2007 Development Kit", table 1, test set: images and objects."""
        status, out, _ = run("statistics", golden("voc2007-real").ground_truth, "--json")
        document = json.loads(out)
        [detection] = [each for each in document["image_sets"] if each["task"] == "detection"]
        found = {name: (row["images"], row["objects"]) for name, row in detection["classes"].items()}
        assert status == 0
        assert detection["images"] == 4952
        assert detection["total"]["objects"] == 12032
        assert found["aeroplane"] == (204, 285)
        assert found["car"] == (721, 1201)
        assert found["person"] == (2007, 4528)
        assert found["tvmonitor"] == (229, 308)

    def test_every_set_and_task_has_its_table(self, tmp_path: Path, run: Run) -> None:
        files = files_of_2012()
        files |= {name.replace("test", "val"): text for name, text in files.items() if "ImageSets/Main" in name}
        status, out, _ = run("statistics", write(tmp_path / "VOC2012", files).parent)
        assert status == 0
        assert "val img  obj  test img  obj" in out
        for task in ("classification and detection", "segmentation", "layout", "action"):
            assert f"{task}\n" in out


class TestCheck:
    def test_says_exactly_what_the_server_says(self, tmp_path: Path, run: Run) -> None:
        files = files_of_2012()
        files["Annotations/m1.xml"] = str(files["Annotations/m1.xml"]).replace("<xmax>10<", "<xmax>ten<")
        tree = write(tmp_path / "VOC2012", files).parent
        with pytest.raises(GroundTruthError) as caught:
            read_ground_truth(tree, load("VOC2012"))
        status, out, _ = run("check", tree, "--json")
        assert status == 1
        assert json.loads(out)["problems"] == [problem.as_json() for problem in caught.value.problems]
        status, out, _ = run("check", tree)
        assert "<xmax> is 'ten'" in out
        assert "Not valid" in out

    def test_a_valid_tree_and_what_it_lacks(self, tmp_path: Path, run: Run) -> None:
        files = {name: text for name, text in files_of_2012().items() if "Segmentation" not in name}
        status, out, _ = run("check", write(tmp_path / "VOC2012", files).parent)
        assert status == 0
        assert "segmentation, test: cannot be scored" in out
        assert "detection, test: 2 images" in out
        assert out.endswith("Valid: 3 warnings.\n")

    def test_a_tree_of_other_sets_says_which(self, tmp_path: Path, run: Run) -> None:
        files = {name.replace("test", "val"): text for name, text in files_of_2012().items()}
        tree = write(tmp_path / "VOC2012", files).parent
        status, out, _ = run("check", tree)
        assert status == 1
        assert "it has val (Action)" in out
        status, _, _ = run("check", tree, "--image-set", "val")
        assert status == 0

    def test_the_edition_is_named_by_the_folder_or_by_hand(self, tmp_path: Path, run: Run) -> None:
        write(tmp_path / "mine", files_of_2012())
        status, _, err = run("check", tmp_path / "mine")
        assert status == 2
        assert "--edition" in err
        assert run("check", tmp_path / "mine", "--edition", "VOC2012")[0] == 0
        write(tmp_path / "VOC2012", files_of_2012())
        write(tmp_path / "VOC2011", files_of_2012())
        status, _, err = run("check", tmp_path)
        assert status == 2
        assert "VOC2011, VOC2012" in err


class TestView:
    def test_wrong_results_are_reported_and_left_out(self, tmp_path: Path, run: Run) -> None:
        tree = write(tmp_path / "kit" / "VOC2012", files_of_2012()).parent
        write(tmp_path / "results", {"comp3_det_test_car.txt": "zebra 1 1 1 2 2\n"})
        options = ("--results", tmp_path / "results", "--output", tmp_path / "page")
        status, out, _ = run("view", tree, *options)
        assert status == 1
        assert "'zebra'" in out
        assert '"competitions":[]' in (tmp_path / "page" / "data.js").read_text()

    def test_a_tree_without_the_set_says_which_it_has(self, tmp_path: Path, run: Run) -> None:
        tree = write(tmp_path / "kit" / "VOC2012", files_of_2012()).parent
        status, _, err = run("view", tree, "--image-set", "val", "--output", tmp_path / "page")
        assert status == 2
        assert "It has test (Action)" in err
        assert not (tmp_path / "page").exists()
