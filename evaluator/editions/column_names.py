"""Names that leaderboards need for other columns, so that no class can be called like them."""

from itertools import chain

from vocboard.evaluator.declarations import BUILT_IN
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import Edition

# Columns of leaderboards and of their CSV beside the classes, which addresses and programs name.
COLUMNS = frozenset(
    (
        *("rank", "method", "contributors", "affiliation", "submitted", "mean", "mean_over", "complete", "unit"),
        *("mean_low", "mean_high", "rank_best", "rank_worst", "first_group", "imported", "corrected_at"),
        *chain.from_iterable((metric.value, f"mean_{metric.value}") for metric in Metric),
        *(declaration.column for declaration in BUILT_IN.values()),
    )
)


def reserved_name(edition: Edition) -> str:
    """Return what is wrong if a class is called like another column of leaderboards or their CSV; else nothing."""
    names = dict.fromkeys(name for one in edition.competitions.values() for name in one.classes)
    declared = {each.column for one in edition.competitions.values() for each in one.declarations}
    found = [name for name in names if name.lower() in COLUMNS | declared]
    return f"Rename {', '.join(found)}: leaderboards have other columns of this name." if found else ""
