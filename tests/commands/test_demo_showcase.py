"""The demo's challenges with results have a showcase, whose pictures have the sizes of their test images."""

import io

import pytest
from PIL import Image

from vocboard.commands.demo.drawings import photograph
from vocboard.commands.demo.examples import EXAMPLES
from vocboard.commands.demo.scenes import SIZES, Scene, SceneObject

SCORED = [example for example in EXAMPLES if any(step["do"] == "submit" for step in example["steps"])]


@pytest.mark.parametrize("example", SCORED, ids=lambda example: str(example["slug"]))
def test_examples_with_results_have_a_showcase_of_their_ground_truth(example: dict[str, list[dict[str, str]]]) -> None:
    steps = [step["do"] for step in example["steps"]]
    assert steps.index("upload_truth") < steps.index("add_showcase") < steps.index("submit")


def test_a_picture_shows_where_objects_are_but_not_of_which_class() -> None:
    width, height = SIZES[0]
    pictures = {
        name: photograph(Scene("1", width, height, (SceneObject(name, (10, 10, 200, 200)),))) for name in ("car", "dog")
    }
    assert pictures["car"] == pictures["dog"]
    with Image.open(io.BytesIO(pictures["car"])) as found:
        assert found.size == (width, height)
