"""How editions differ, in words; and which differences stored columns survive."""

from dataclasses import dataclass, fields, replace

import pytest

from tests.evaluator.test_stored_results import IMAGE_SETS
from vocboard.app.rescores.edition_changes import changed_names
from vocboard.evaluator.editions import Annotations, Edition, Limits, Overlap, load, names
from vocboard.evaluator.editions.comparison import differences
from vocboard.evaluator.rules import OPTIONAL_RULES, Competition, TaskRules
from vocboard.evaluator.stored_results.stored_results import digest
from vocboard.evaluator.tasks.definitions import name_lists
from vocboard.evaluator.tasks.detection.definition import Detection

EDITION = load("VOC2012")


def with_rules(edition: Edition, **changed: object) -> Edition:
    """Return an edition with other rules of detection."""
    rules = replace(edition.competitions["comp3"].rules, **changed)  # type: ignore[arg-type]
    competitions = {
        key: replace(one, rules=rules) if one.task is rules.task else one for key, one in edition.competitions.items()
    }
    return replace(edition, competitions=competitions)


@pytest.mark.parametrize("name", names())
def test_an_edition_does_not_differ_from_itself(name: str) -> None:
    assert differences(load(name), load(name)) == ()


def test_every_pair_of_editions_differs() -> None:
    editions = [load(name) for name in names()]
    assert all(differences(one, other) for one in editions for other in editions if one is not other)


def test_a_difference_is_said_in_words() -> None:
    changed = replace(EDITION, overlap=Overlap(0.75, strict=True))
    [found] = differences(EDITION, changed)
    assert (found.what, found.before, found.after) == ("Overlap that is enough", "at least 0.5", "more than 0.75")
    [found] = differences(replace(EDITION, similar_classes=()), replace(EDITION, similar_classes=(("cat", "dog"),)))
    assert (found.what, found.before, found.after) == ("Similar classes", "none", "cat, dog")


def test_no_rule_can_change_silently() -> None:
    """A field that is added to the rules and forgotten here would change scores without a word."""
    compared = {
        Edition: {"name", "title", "classes", *name_lists(), "competitions", "overlap", "limits", "annotations"}
        | {"has_set_folders", "similar_classes"},
        TaskRules: {"task", "file", "classes", "metric", "secondary", "interpolation", "roc", "without_positives"}
        | {"layout_protocol", "board", "groups", *OPTIONAL_RULES},
        Competition: {"key", "number", "rules", "training", "image_set", "variant", "declarations"},
        Overlap: {"threshold", "strict"},
        Annotations: {"format", "labels"},
    }
    for kind, known in compared.items():
        assert {field.name for field in fields(kind)} == known, kind
    for field in fields(Limits):
        changed = replace(EDITION, limits=replace(EDITION.limits, **{field.name: 7}))
        assert len(differences(EDITION, changed)) == 1


@dataclass(frozen=True)
class EditionWithPoses(Edition):
    """An edition as it would be with a task that needs a further list of names."""

    poses: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("after", "obstacle"),
    [
        (("sitting", "standing"), "their order changes"),
        (("standing",), "sitting is missing"),
        (("standing", "sitting", "lying"), "lying is new"),
    ],
)
def test_a_further_list_of_names_cannot_change_silently(
    monkeypatch: pytest.MonkeyPatch, after: tuple[str, ...], obstacle: str
) -> None:
    stored = digest(EDITION, IMAGE_SETS, ["comp3"])
    monkeypatch.setattr(Detection, "needed_names", "poses")
    rules = {field.name: getattr(EDITION, field.name) for field in fields(EDITION)}
    old, new = EditionWithPoses(**rules, poses=("standing", "sitting")), EditionWithPoses(**rules, poses=after)
    [found] = differences(old, new)
    assert (found.what, found.before, found.after) == ("Poses", "standing, sitting", ", ".join(after))
    [said] = changed_names(old, new)
    assert said.startswith(f"The list of poses changes ({obstacle}), but")
    without = EditionWithPoses(**rules)
    assert len({digest(each, IMAGE_SETS, ["comp3"]) for each in (old, new, without)}) == 3
    assert digest(without, IMAGE_SETS, ["comp3"]) == stored  # of a program without this list


def test_columns_outlive_rules_of_scoring_and_nothing_else() -> None:
    scored_otherwise = with_rules(
        replace(EDITION, title="Another title", overlap=Overlap(0.75, strict=True)),
        interpolation="11-point",
        secondary=(),
        repeats_on_difficult_are_false=True,
    )
    assert digest(scored_otherwise, IMAGE_SETS, ["comp3"]) == digest(EDITION, IMAGE_SETS, ["comp3"])
    turned = with_rules(EDITION, classes=EDITION.classes[::-1])
    elsewhere = replace(
        EDITION,
        competitions={**EDITION.competitions, "comp3": replace(EDITION.competitions["comp3"], image_set="val")},
    )
    for other in (replace(EDITION, name="VOC2013"), replace(EDITION, classes=EDITION.classes[::-1]), turned, elsewhere):
        assert digest(other, IMAGE_SETS, ["comp3"]) != digest(EDITION, IMAGE_SETS, ["comp3"])
