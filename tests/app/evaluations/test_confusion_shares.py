"""Shares of confusion matrices do not tell which of the images with a label of their own show a class."""

import numpy as np
import pytest

from vocboard.app.evaluations.confusion_shares import confusion_shares


@pytest.mark.parametrize("images", [8, 44, 150, 1000])
def test_an_image_of_average_size_does_not_show(images: int) -> None:
    """Each of the first twenty images of a class has a label of its own; the rest are background."""
    pixels = 10_000
    row = np.zeros(21, dtype=int)
    row[1 : min(images, 21)] = pixels
    row[0] = pixels * images - row.sum()
    (shown,) = confusion_shares([row.tolist()], [images])
    assert not any(shown[1:])


def test_right_pixels_show() -> None:
    (shown,) = confusion_shares([[100, 900]], [500])
    assert shown == [0.1, 0.9]


def test_a_class_in_few_images_shows_nothing() -> None:
    assert confusion_shares([[0, 500]], [3]) == [[None, None]]


def test_a_class_without_pixels_shows_nothing() -> None:
    assert confusion_shares([[0, 0]], [0]) == [[None, None]]
