"""Says in words how two editions differ, for organisers who change the rules of a challenge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from vocboard.evaluator.declarations import BUILT_IN, Declaration
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import OPTIONAL_RULES, Competition, Edition, Limits, Overlap, TaskRules
from vocboard.evaluator.tasks.definitions import METRICS, TASKS, name_lists

NONE = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of two editions.

    Attributes:
        what: the rule, for example "Detection: metric that ranks".
        before: its value in the first edition, in words.
        after: its value in the second one.
    """

    what: str
    before: str
    after: str


def differences(old: Edition, new: Edition) -> tuple[Difference, ...]:
    """Return how two editions differ, from what concerns everything to single competitions; empty if they are equal."""
    found = [*_of_edition(old, new), *_of_tasks(old, new), *_of_competitions(old, new)]
    return tuple(Difference(what, before, after) for what, before, after in found if before != after)


def rules_by_task(edition: Edition) -> dict[Task, TaskRules]:
    """Return the rules of each task that the edition has competitions of."""
    return {competition.task: competition.rules for competition in edition.competitions.values()}


def _of_edition(old: Edition, new: Edition) -> Iterator[tuple[str, str, str]]:
    yield "Name", old.name, new.name
    yield "Title", old.title, new.title
    yield "Classes", _listed(old.classes), _listed(new.classes)
    for key in name_lists():
        yield key.capitalize(), _listed(getattr(old, key)), _listed(getattr(new, key))
    yield "Similar classes", _similar(old), _similar(new)
    yield "Overlap that is enough", _overlap(old.overlap), _overlap(new.overlap)
    yield "Format of annotations", old.annotations.format.value, new.annotations.format.value
    yield "Labels of annotations", _labels(old), _labels(new)
    yield "A folder of image sets for each task", _yes(old.has_set_folders), _yes(new.has_set_folders)
    for each in fields(Limits):
        title = f"Limit of {each.name.replace('_', ' ')}"
        yield title, f"{getattr(old.limits, each.name):,}", f"{getattr(new.limits, each.name):,}"


def _of_tasks(old: Edition, new: Edition) -> Iterator[tuple[str, str, str]]:
    rules_before, rules_after = rules_by_task(old), rules_by_task(new)
    for task, before in rules_before.items():
        if (after := rules_after.get(task)) is None:
            continue  # its competitions are gone, which is said of these
        title = TASKS[task].title
        yield f"{title}: result files", before.file, after.file
        yield f"{title}: metric that ranks", _metrics([before.metric]), _metrics([after.metric])
        yield f"{title}: other metrics", _metrics(before.secondary), _metrics(after.secondary)
        yield f"{title}: other metrics on leaderboards", _metrics(before.board), _metrics(after.board)
        yield f"{title}: average precision", _interpolation(before), _interpolation(after)
        yield f"{title}: points of the ROC curve", before.roc.value, after.roc.value
        yield f"{title}: class without positives", before.without_positives.value, after.without_positives.value
        yield f"{title}: groups of classes", _groups(before), _groups(after)
        yield f"{title}: protocol", str(before.layout_protocol or NONE), str(after.layout_protocol or NONE)
        for name, rule in OPTIONAL_RULES.items():
            yield f"{title}: {rule.title}", rule.in_words(getattr(before, name)), rule.in_words(getattr(after, name))


def _of_competitions(old: Edition, new: Edition) -> Iterator[tuple[str, str, str]]:
    for key in dict.fromkeys([*old.competitions, *new.competitions]):
        before, after = old.competitions.get(key), new.competitions.get(key)
        if before is None or after is None:
            yield f"Competition {key}", _in_words(before), _in_words(after)
            continue
        yield f"{key}: number", str(before.number or NONE), str(after.number or NONE)
        yield f"{key}: task", TASKS[before.task].title, TASKS[after.task].title
        yield f"{key}: image set", before.image_set, after.image_set
        yield f"{key}: training data", before.training.value, after.training.value
        yield f"{key}: variant", before.variant or NONE, after.variant or NONE
        yield f"{key}: declarations", _declarations(before), _declarations(after)
    shared = [key for key in old.competitions if key in new.competitions]
    yield "Order of competitions", _listed(shared), _listed([key for key in new.competitions if key in shared])


def _in_words(competition: Competition | None) -> str:
    if competition is None:
        return NONE
    return f"{TASKS[competition.task].title} on {competition.image_set}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or NONE


def _similar(edition: Edition) -> str:
    return "; ".join(_listed(group) for group in edition.similar_classes) or NONE


def _declarations(competition: Competition) -> str:
    """Return their names; those that the edition defines with everything that it says of them."""
    return _listed(
        each.name if each == BUILT_IN.get(each.name) else f"{each.name} ({_definition(each)})"
        for each in competition.declarations
    )


def _definition(declaration: Declaration) -> str:
    kind = "; ".join(f"{value} = {words}" for value, words in declaration.choices.items()) or declaration.kind.value
    return f"{declaration.heading}: {kind}{'' if declaration.is_required else ', can be made later'}"


def _labels(edition: Edition) -> str:
    return _listed(f"{label} = {name}" for label, name in edition.annotations.labels.items())


def _groups(rules: TaskRules) -> str:
    return "; ".join(f"{name}: {_listed(group)}" for name, group in rules.groups) or NONE


def _metrics(metrics: Iterable[Metric]) -> str:
    return "; ".join(METRICS[metric].title for metric in metrics) or NONE


def _interpolation(rules: TaskRules) -> str:
    if not any(METRICS[metric].uses_interpolation for metric in (rules.metric, *rules.secondary)):
        return "not used"
    return rules.interpolation.value


def _overlap(overlap: Overlap) -> str:
    return f"{'more than' if overlap.strict else 'at least'} {overlap.threshold:g}"


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
