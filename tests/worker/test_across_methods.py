"""What workers compute across methods, from made-up results of known pixels and confidences."""

import io
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from tests.support.backend import Backend
from tests.support.browsing import sign_in
from tests.support.jobs import evaluate_next, sweep
from tests.support.phases import main_phase
from tests.support.site import serving
from tests.worker.test_sequences import seen
from tests.worker.test_statistics import rounded_ends, update_all, withdraw
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.intake.report import EnteredCompetition
from vocboard.app.leaderboards import freezing, statistics_queue
from vocboard.app.leaderboards.across_methods import AcrossMethods
from vocboard.app.pages.formats import percent, signed_interval, signed_percent
from vocboard.app.participating import publishing
from vocboard.evaluator.editions import Edition, Task, load
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.ground_truth import GroundTruth, Key, Labels, LabelTruth, SegmentationTruth, Truth
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.results import Confidences, Entry, Segmented
from vocboard.evaluator.statistics.across import combined
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.comparison import compare
from vocboard.evaluator.statistics.simultaneous import changes, minus, minus_independent
from vocboard.evaluator.stored_results.stored_results import ResultsWriter
from vocboard.worker import image_sets

RANDOM = np.random.default_rng(5)


def publish_all(
    backend: Backend,
    challenge: Challenge,
    edition: Edition,
    truth: GroundTruth,
    keys: Sequence[str],
    write: Sequence[Callable[[ResultsWriter], bool]],
) -> list[uuid.UUID]:
    """Submit and publish what each function writes."""
    user, submitted = backend.user(), []
    entries = tuple(EnteredCompetition(key, edition.competitions[key].classes) for key in keys)
    for number, each in enumerate(write):
        file = io.BytesIO()
        assert each(ResultsWriter(file.write, edition, truth.image_sets, limit=10_000_000))
        columns, archive = file.getvalue(), bytes([number])
        given: dict[str, Any] = {
            "archive": archive,
            "columns": columns,
            "entries": entries,
            "method_name": f"M{number}",
        }
        if edition.competitions[keys[0]].task is Task.SEGMENTATION:
            given["declarations"] = {"training_annotation": "segmentation_only"}
        submitted.append(backend.submit(user, challenge, **given))
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    with backend.database.writing() as session:
        for submission_id in submitted:
            publishing.publish(session, submission_id=submission_id, user=user)
    update_all(backend)
    return submitted


def organisers_read(backend: Backend, challenge: Challenge) -> None:
    """The page and the API show the same, to organisers."""
    with backend.database.reading() as session:
        email = session.scalars(select(User.email).where(User.role == Role.ORGANISER)).one()
    with serving(backend.settings) as site, site.client() as client:
        address = f"/challenges/{challenge.slug}/statistics/comp1"
        assert client.get(f"/api/v1{address}").status_code == 401
        sign_in(client, email)
        answer = client.get(f"/api/v1{address}").json()
        page = client.get(f"/organise/{challenge.slug}/statistics/comp1").text
    [both] = answer["image_sets"]
    assert (both["image_sets"], both["is_compared"], both["pairs"]) == (["test1", "test2"], True, 6)
    for one in both["methods"]:
        assert one["difference"] == pytest.approx(one["means"][1] - one["means"][0], abs=1.01e-4)
        assert signed_percent(one["difference"], 4) in page
        assert " to ".join(signed_interval((one["change"]["low"], one["change"]["high"]), 3)) in page
    assert [one["methods"] for one in answer["combinations"]] == [2, 3, 4]
    for one in answer["combinations"]:
        assert percent(one["score"], 4) in page
        assert " to ".join(signed_interval((one["change"]["low"], one["change"]["high"]), 3)) in page
    assert "All 4" in page


def test_both_image_sets_of_voc2005_and_a_combination_are_what_a_fresh_computation_gives(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition, keys = load("VOC2005"), ("comp1", "comp2")
    sizes = {"test1": 120, "test2": 120}  # as many images, whose replicates draw the same places
    labels = {name: RANDOM.permutation(np.repeat([1, -1], (50, 70))) for name in sizes}
    sets = {(Task.CLASSIFICATION, name): ImageSet(tuple(f"{name}-{i}" for i in range(n))) for name, n in sizes.items()}
    items = np.arange(120, dtype=np.int32)
    truths: dict[Key, Truth] = {
        (Task.CLASSIFICATION, name): LabelTruth(dict.fromkeys(edition.classes, Labels(items, each.astype(np.int8))))
        for name, each in labels.items()
    }
    truth = GroundTruth.of(ImageSets("VOC2005", sets), truths, {})
    challenge = backend.challenge(truth=truth, edition=edition.name, competitions=list(keys), statistics=True)

    # The first method is by far the better on test1, and by far the worse on test2; the last two are alike.
    noise = {"test1": (0.5, 3.0, 1.5, 1.5), "test2": (3.0, 0.5, 1.5, 1.5)}
    results = [
        {
            key: Entry(
                competition,
                edition.classes,
                {
                    name: Confidences(items, label + RANDOM.normal(0, noise[competition.image_set][number], 120))
                    for name in edition.classes
                },
            )
            for key, competition in ((key, edition.competitions[key]) for key in keys)
            for label in (labels[competition.image_set],)
        }
        for number in range(4)
    ]
    submitted = publish_all(
        backend, challenge, edition, truth, keys, [lambda writer, one=one: writer.finish(one) for one in results]
    )
    weights = draw_weights(120)
    evidence = {key: [collect_evidence({key: one[key]}, edition, truth)[key] for one in results] for key in keys}
    metric = edition.competitions["comp1"].rules.metric

    def means(key: str) -> list:
        return [replicate(one, metric, edition, edition.competitions[key], weights).mean for one in evidence[key]]

    first, second = means("comp1"), means("comp2")
    expected = changes([minus_independent(later, one) for one, later in zip(first, second, strict=True)])
    for competition in keys:  # the same on either page
        [both] = seen(backend, challenge, competition).image_sets
        assert (both.first.image_set, both.second.image_set, both.is_compared) == ("test1", "test2", True)
        assert [one.first.mean for one in both.methods] == sorted((one.score for one in first), reverse=True)
        for one in both.methods:
            number = submitted.index(one.first.submission_id)
            assert one.difference == pytest.approx(second[number].score - first[number].score, abs=1e-12)
            assert (one.change.low, one.change.high) == rounded_ends(expected[number], 2)
            assert one.change.is_significant == expected[number].is_significant == (number < 2)
        orders = [
            {pair for pair, one in compare({str(n): each for n, each in enumerate(scores)}).differences.items()
             if one.is_significant}
            for scores in (first, second)
        ]  # fmt: skip
        opposite = sum((worse, better) in orders[1] for better, worse in orders[0])
        assert (both.pairs, both.same, both.reversed) == (6, len(orders[0] & orders[1]), opposite)
        assert both.reversed >= 1
        assert both.swapped >= both.reversed

    page = seen(backend, challenge, "comp1")
    ranked = sorted(range(4), key=lambda number: -first[number].score)
    best = first[ranked[0]]
    assert [one.methods for one in page.combinations] == [2, 3, 4]
    found = []
    for one in page.combinations:
        together = combined([evidence["comp1"][number] for number in ranked[: one.methods]])
        assert together is not None
        found.append(replicate(together, metric, edition, edition.competitions["comp1"], weights).mean)
        assert one.score == round(found[-1].score, 4)
    for one, change in zip(page.combinations, changes([minus(each, best) for each in found]), strict=True):
        assert (one.change.low, one.change.high) == rounded_ends(change, 2)
        assert one.change.is_significant == change.is_significant

    organisers_read(backend, challenge)
    withdraw(backend, challenge, submitted)
    [stale] = seen(backend, challenge, "comp2").image_sets
    assert (len(stale.methods), stale.is_compared, {one.change for one in stale.methods}) == (3, False, {None})
    update_all(backend)
    [again] = seen(backend, challenge, "comp2").image_sets
    assert (len(again.methods), again.is_compared) == (3, True)
    with backend.database.writing() as session:
        main_phase(session, challenge.id).closes_at = now()
        session.flush()
        freezing.freeze_phase(session, main_phase(session, challenge.id).id)
    update_all(backend)
    for module in (statistics_queue, image_sets):  # frozen replicates are not drawn again
        monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    sweep(backend.database, backend.settings)
    update_all(backend)
    [frozen] = seen(backend, challenge, "comp2").image_sets
    assert (len(frozen.methods), frozen.is_compared, frozen.reversed) == (3, True, again.reversed)


def test_agreement_of_segmentations_is_the_correlation_of_the_shares_of_right_pixels(backend: Backend) -> None:
    edition, images, shape = load("VOC2012"), 24, (6, 5)
    maps = RANDOM.choice([0, 1, 2, 255], (images, *shape), p=[0.5, 0.2, 0.2, 0.1]).astype(np.uint8)
    image_set = ImageSet(
        tuple(f"i{i}" for i in range(images)), np.tile(np.array([[5, 6]], dtype=np.int32), (images, 1))
    )
    sets = ImageSets("VOC2012", {(Task.SEGMENTATION, "test"): image_set})
    truth = GroundTruth.of(sets, {(Task.SEGMENTATION, "test"): SegmentationTruth.of(maps)}, {})
    competition = edition.competitions["comp5"]
    answers = []
    for share in (0.5, 0.3, 0.2):  # of the pixels are random
        wrong = RANDOM.random(maps.shape) < share
        answers.append(np.where(wrong | (maps == 255), RANDOM.integers(0, 3, maps.shape), maps).astype(np.uint8))
    answers += 2 * answers[:1]  # equal ones

    def writing(labels: np.ndarray) -> Callable[[ResultsWriter], bool]:
        def write(writer: ResultsWriter) -> bool:
            for image in range(images):
                writer.add_label_map(competition, image, labels[image])()
            return writer.finish(
                {"comp5": Entry(competition, edition.classes, Segmented(np.arange(images, dtype=np.int32)))}
            )

        return write

    challenge = backend.challenge(truth=truth, edition=edition.name, competitions=["comp5"], statistics=True)
    submitted = publish_all(backend, challenge, edition, truth, ("comp5",), [writing(labels) for labels in answers])
    page: AcrossMethods = seen(backend, challenge, "comp5")

    shares: list[list[float]] = [[] for _ in answers]
    for label in range(3):
        for image in range(images):
            pixels = [place for place in np.ndindex(*shape) if maps[image][place] == label]
            for own, labels in zip(shares, answers, strict=True):
                if pixels:
                    own.append(sum(labels[image][place] == label for place in pixels) / len(pixels))
    expected = np.round(np.corrcoef(shares), 2)
    order = [submitted.index(one.entry.submission_id) for one in page.agreement]
    assert sorted(order) == list(range(len(answers)))
    for one, number in zip(page.agreement, order, strict=True):
        assert list(one.with_others) == [expected[number, other] for other in order]
        assert one.found == round(float(np.mean(shares[number])), 2)
        of_others = [expected[number, other] if other != number else np.nan for other in order]
        # Of several that agree equally, the best.
        assert (one.closest, one.farthest) == (np.nanargmax(of_others), np.nanargmin(of_others))
    assert page.combinations == []
