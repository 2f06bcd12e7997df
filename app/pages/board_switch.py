"""The links from one leaderboard to those of the other competitions of its phase: by task, and by training data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vocboard.app.pages import wording
from vocboard.evaluator.editions import Competition


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to a leaderboard.

    Attributes:
        title: what it is of, in full.
        count: methods on it.
    """

    label: str
    title: str
    key: str
    count: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class Switch:
    """Leaderboards by task, and those of the current task by what methods may be trained on."""

    tasks: tuple[Choice, ...]
    training: tuple[Choice, ...]


def switch(competitions: Sequence[Competition], current: Competition, counts: Mapping[str, int]) -> Switch:
    """Return the links; those to other tasks lead to the same training data, or to entries where there are none.

    Args:
        counts: methods by competition.
    """
    by_task: dict[str, list[Competition]] = {}
    for each in competitions:
        by_task.setdefault(wording.short_task_title(each), []).append(each)
    tasks = []
    for label, group in by_task.items():
        best = max(group, key=lambda each: (counts.get(each.key, 0) > 0, each.training == current.training))
        shown = current if current in group else best
        tasks.append(_choice(shown, label, counts, is_current=current in group))
    same_task = by_task.get(wording.short_task_title(current), [])
    training = [
        _choice(each, wording.SHORT_TRAINING[each.training], counts, is_current=each == current) for each in same_task
    ]
    return Switch(tuple(tasks), tuple(training))


def _choice(competition: Competition, label: str, counts: Mapping[str, int], *, is_current: bool) -> Choice:
    title = wording.competition_title(competition)
    return Choice(label, title, competition.key, counts.get(competition.key, 0), is_current)
