"""Classes that results leave out, of which people are told before results use quota."""

from collections.abc import Collection, Mapping, Sequence

from vocboard.evaluator.editions import Edition
from vocboard.evaluator.tasks.definitions import TASKS

_NAMED = 5  # classes in a message


def classes_not_entered(entered: Mapping[str, Collection[str]], edition: Edition) -> dict[str, tuple[str, ...]]:
    """Return the classes that competitions have but results leave out, by competition.

    Competitions whose classes people declare are left out: what they declare is what they mean.

    Args:
        entered: the classes with results, by competition.
    """
    missing = {}
    for key, classes in entered.items():
        competition = edition.competitions[key]
        if not TASKS[competition.task].needs_declared_classes:
            missing[key] = tuple(name for name in competition.classes if name not in classes)
    return {key: names for key, names in missing.items() if names}


def sentence(not_entered: Mapping[str, Sequence[str]], edition: Edition) -> str:
    """Say which classes have no result file.

    Args:
        not_entered: not empty.
    """
    parts = []
    for key, names in not_entered.items():
        named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        parts.append(f"{len(names)} of the {len(edition.competitions[key].classes)} classes of {key} ({named})")
    have = "has" if sum(map(len, not_entered.values())) == 1 else "have"
    return f"{'; '.join(parts)} {have} no result file."
