"""What shares of a diagnosis tell somebody who designs an upload: of no box what it is.

Ground truths that differ in one image are compared, over many secrets: each gives the same answers nearly as often.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from vocboard.app.evaluations import diagnosis_shares
from vocboard.evaluator.diagnosis.summary import summarise
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Detections, Entry

EDITION = load("VOC2012")
IMAGES, OBJECTS = 1000, 600  # of one class, one to an image
SECRETS = 4000
PROBE = 0  # the image of which two ground truths differ
FACTOR = math.exp(2 / diagnosis_shares.NOISE)  # between the probabilities of an answer, by one image

BOX, NEAR, FAR = (10.0, 10.0, 59.0, 59.0), (10.0, 35.0, 59.0, 84.0), (200.0, 200.0, 249.0, 249.0)
Box = tuple[float, float, float, float]


def by_image(uploaded: Sequence[tuple[int, Box]], probed: Box) -> dict[str, dict[str, float]]:
    """What an upload of boxes of one class leaves, by rank, if the object of the probed image is in a place."""
    box = np.array([probed, *[BOX] * (OBJECTS - 1)])
    truth = DetectionTruth(
        np.arange(OBJECTS, dtype=np.int32), np.zeros(OBJECTS, np.int16), box, np.zeros(OBJECTS, np.bool_)
    )
    content = Detections(
        np.array([image for image, _ in uploaded], dtype=np.int32),
        -np.arange(len(uploaded), dtype=np.float64),
        np.array([box for _, box in uploaded]),
    )
    entry = Entry(EDITION.competitions["comp3"], ("aeroplane",), {"aeroplane": content})
    images = ImageSet(tuple(map(str, range(IMAGES))))
    found = summarise(entry, truth, EDITION, images, None).by_image
    return {of: dict(sums) for of, sums in found.items()}


def answers(sums: dict[str, dict[str, float]], number: int) -> Counter[str]:
    keys = (hashlib.sha256(str(each).encode()).digest() for each in range(number))
    return Counter(str(diagnosis_shares.diagnosis_shares(sums, key=key, release="a")) for key in keys)


def known(right: int, wrong: int) -> list[tuple[int, Box]]:
    """Boxes whose kind the author knows: the first objects are theirs, the last images show nothing."""
    return [(1 + image, NEAR) for image in range(right)] + [(IMAGES - 1 - image, FAR) for image in range(wrong)]


UPLOADS = {
    # Of 400 images, 29 with poor localisation are rounded to 5 %, and 30 to 10 %.
    "one guess among 400 known boxes": [*known(29, 370), (PROBE, NEAR)],
    "the same with a hundred copies of the guess": [*known(29, 370), *[(PROBE, NEAR)] * 100],
    # All but a few are guesses of which the author is nearly sure: is every single one right?
    "hundreds of guesses to be confirmed at once": [(PROBE, NEAR), *known(389, 10)],
}


@pytest.mark.parametrize("name", UPLOADS)
def test_an_upload_does_not_tell_what_a_box_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (by_image(UPLOADS[name], probed) for probed in (BOX, FAR))
    assert one != other
    monkeypatch.setattr(diagnosis_shares, "NOISE", 0.0)
    assert answers(one, 1).keys() != answers(other, 1).keys()  # without noise, the answer tells
    monkeypatch.undo()
    of_one, of_other = answers(one, SECRETS), answers(other, SECRETS)
    assert len(of_one) > 1
    together = FACTOR**2  # both shares, of results and of objects
    for answer in of_one | of_other:
        least, most = sorted((of_one[answer], of_other[answer]))
        assert most <= together * least + 5 * math.sqrt(together * (least + 1)), answer
    # Somebody who guesses which of the two it is, after seeing the answer, is seldom right more often than not.
    guessed = sum(max(of_one[answer], of_other[answer]) for answer in of_one | of_other) / (2 * SECRETS)
    assert guessed <= together / (1 + together) + 0.02


def test_the_same_archive_is_answered_the_same_and_few_images_not_at_all() -> None:
    sums = by_image(known(30, 400), BOX)

    def shares(of: dict[str, dict[str, float]], *, key: bytes = b"key", archive: str = "a") -> diagnosis_shares.Shares:
        return diagnosis_shares.diagnosis_shares(of, key=key, release=f"truth rules {archive} comp3")

    first = shares(sums)
    assert first == shares(sums)
    assert any(first != shares(sums, archive=str(number)) for number in range(20))
    # Hashes alone are not enough to compute the noise: who knows all but one box could try the hash of each truth.
    assert any(first != shares(sums, key=bytes([number])) for number in range(20))
    few = by_image(known(10, 90), BOX)
    assert shares(few)["first_results"] is None
    assert all(round(share / 0.05) * 0.05 == pytest.approx(share) for share in (first["objects"] or {}).values())


def test_noise_has_the_stated_distribution() -> None:
    drawn = np.array([diagnosis_shares.noise(b"key", str(number)) for number in range(20_000)])
    assert abs(np.median(drawn)) < 0.15
    assert np.mean(np.abs(drawn)) == pytest.approx(diagnosis_shares.NOISE, rel=0.03)
    assert np.mean(np.abs(drawn) > 3 * diagnosis_shares.NOISE) == pytest.approx(math.exp(-3), rel=0.1)
