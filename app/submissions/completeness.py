"""Classes that an upload leaves out, of which people are warned before it uses quota."""

from collections.abc import Iterable, Mapping, Sequence

from vocboard.app.errors import IncompleteEntryError
from vocboard.app.submissions.report import EnteredCompetition
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.tasks.registries.definitions import TASKS

_NAMED = 5  # classes in a message


def classes_not_entered(entries: Iterable[EnteredCompetition], edition: Edition) -> dict[str, tuple[str, ...]]:
    """Return the classes that competitions have but an upload's entries leave out, by competition.

    Competitions whose classes people declare are left out: what they declare is what they mean.
    """
    missing = {}
    for entry in entries:
        competition = edition.competitions[entry.competition]
        if not TASKS[competition.task].needs_declared_classes:
            entered = set(entry.classes)
            missing[entry.competition] = tuple(name for name in competition.classes if name not in entered)
    return {key: names for key, names in missing.items() if names}


def sentence(not_entered: Mapping[str, Sequence[str]], edition: Edition) -> str:
    """Say which classes are missing, and what to do.

    Args:
        not_entered: not empty.
    """
    parts = []
    for key, names in not_entered.items():
        named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        parts.append(f"{len(names)} of the {len(edition.competitions[key].classes)} classes of {key} ({named})")
    have = "has" if sum(map(len, not_entered.values())) == 1 else "have"
    return f"{'; '.join(parts)} {have} no result file. Add the missing files, or submit without them."


def refuse_incomplete(entries: Iterable[EnteredCompetition], edition: Edition) -> None:
    """Raise `IncompleteEntryError` if an upload leaves out classes."""
    not_entered = classes_not_entered(entries, edition)
    if not_entered:
        raise IncompleteEntryError(sentence(not_entered, edition), not_entered)
