"""What pages show of the report of a re-score, which can have thousands of changes."""

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN_CHANGES = 100  # of one competition; the API has all
SHOWN_RANKS = 30  # those that change most


def summarise(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what pages show of a report: all but its `changes`, and instead of these, by competition:

    `changes`: the first ones.
    `more`: how many others there are.
    `ranks`: `method` and `rank` of those on the leaderboard whose ranks change most; empty if no rank changes.
    """
    by_competition: dict[str, list[dict[str, Any]]] = {}
    for change in report.get("changes", ()):
        by_competition.setdefault(change["competition"], []).append(change)
    return {
        **{name: value for name, value in report.items() if name != "changes"},
        "shown": {
            key: {
                "changes": changes[:SHOWN_CHANGES],
                "more": max(len(changes) - SHOWN_CHANGES, 0),
                "ranks": _largest(changes),
            }
            for key, changes in by_competition.items()
        },
    }


def _largest(changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    ranked = [one for one in changes if None not in one["rank"].values()]
    if all(one["rank"]["before"] == one["rank"]["after"] for one in ranked):
        return []
    ranked.sort(key=lambda one: -abs(one["rank"]["before"] - one["rank"]["after"]))
    return [{"method": one["method"], "rank": one["rank"]} for one in ranked[:SHOWN_RANKS]]
