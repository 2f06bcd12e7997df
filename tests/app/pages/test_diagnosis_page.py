"""What the page of a submission says of exact diagnoses."""

import re
from typing import Any

from vocboard.app.evaluations.visible import VisibleDiagnosis
from vocboard.app.pages.diagnosis import diagnosis_view
from vocboard.app.pages.rendering import environment


def section(macro: str, found: Any) -> str:
    """Return what a macro of the template says, in one line."""
    text: str = getattr(environment().get_template("diagnosis.html").module, macro)(found)
    return " ".join(text.split())


def test_images_that_show_the_class_count_for_no_other_class() -> None:
    """Of the cat's first four images, two show a cat, whatever else they show; the others show a dog."""
    cat = {"images": 4, "precision": 0.5, "mistaken_for": {"dog": 2}, "none": 0}
    view = diagnosis_view(VisibleDiagnosis({}, {"first_images": {"cat": cat}}), ("cat", "dog"))
    text = section("mistaken", view.mistaken)
    assert re.findall('title="(.*?)"', text) == [
        "cat: 2 of 4 show cat",
        "cat: 2 of 4 show dog instead",
        "cat: 0 of 4 show no class instead",
    ]
    assert "on the diagonal, those that show the class; elsewhere, what the others show" in text


def test_void_is_no_part_of_the_share_of_right_pixels() -> None:
    view = diagnosis_view(VisibleDiagnosis({}, {"pixel_accuracy": 0.75, "confusions": []}), ())
    assert "Without void, 75.0 % of the pixels are right." in section("pixels", view.pixels)
