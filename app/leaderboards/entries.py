"""Entries of leaderboards: published results with their scores, read live or kept as JSON.

`EntryCache` keeps entries, so that a leaderboard of thousands is not read whole after each change. PostgreSQL gives
each version of a row a number, `xmin`. One statement returns the numbers of all published submissions, their methods,
teams and entries in the competition; rows with other numbers than before are read again. Evaluations and scores are
never changed: a submission with new ones is itself a new version. SQLite has no such numbers; there everything is read.

Source: PostgreSQL documentation, "System Columns" and "Transaction ID Wraparound": a number comes again after four
billion transactions.
"""

import threading
import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cachetools import LRUCache
from sqlalchemy import text
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase
from vocboard.app.evaluations.ladder import Release
from vocboard.app.evaluations.releases import releases_of_phase
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.ranking import Standing
from vocboard.app.leaderboards.score_tables import rounded_scores
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.declarations import BUILT_IN
from vocboard.evaluator.editions import Metric

CACHED_ENTRIES = 20_000  # of all leaderboards
MAX_CHANGED = 1_000  # entries; more are read with all others
SEPARATOR = " "

# One value, because ten thousand rows of a result take longer to receive than to find. Sorted before they are joined,
# which is faster than an order of the aggregate's own.
_VERSIONS = text(
    """
    SELECT string_agg(version, E'\\n') FROM (
        SELECT submissions.id || ' ' || submissions.xmin || ' ' || methods.xmin || ' ' || teams.xmin
            || ' ' || submission_entries.xmin AS version
        FROM submissions JOIN methods ON methods.id = submissions.method_id
        JOIN teams ON teams.id = submissions.team_id
        JOIN submission_entries ON submission_entries.submission_id = submissions.id
            AND submission_entries.competition = :competition AND NOT submission_entries.is_private
        WHERE submissions.phase_id = :phase_id
            AND submissions.state = 'scored' AND submissions.published_at IS NOT NULL
        ORDER BY submissions.created_at, submissions.id
    ) AS versions
    """
)


@dataclass(frozen=True, slots=True)
class MethodLinks:
    """Where a method is described.

    Attributes:
        method_id: not compared, because it is another one on another server; None in leaderboards that earlier versions
            froze, and where the page of the method is not public.
        paper_url, code_url: as its owner has entered them, which may be on any site; empty without.
    """

    method_id: uuid.UUID | None = field(compare=False)
    paper_url: str
    code_url: str


NO_LINKS = MethodLinks(None, "", "")


@dataclass(frozen=True, slots=True)
class Entry:
    """One published result in one competition. Scores are fractions, None where undefined; unrounded until `as_shown`.

    Attributes:
        mean_over: how many classes the mean is over.
        is_complete: whether every class of the competition was entered.
        classes: score by entered class.
        others: means of the other measures that the leaderboard shows.
        other_classes: their scores by class; none in leaderboards that earlier versions froze.
        result_id: of the `CompetitionResult`; None in leaderboards that earlier versions froze, or that were imported.
        released: what the Ladder mechanism releases of the mean, if the phase has it; None if it is not a new best.
        links: of its method.
        team: name of the team; empty for a person alone.
    """

    submission_id: uuid.UUID
    method: str
    contributors: str
    affiliation: str
    declared: Declared
    submitted_at: datetime
    mean: float | None
    mean_over: int
    is_complete: bool
    classes: Mapping[str, float | None]
    others: Mapping[Metric, float | None]
    other_classes: Mapping[Metric, Mapping[str, float | None]] = field(default_factory=dict)
    result_id: uuid.UUID | None = None
    released: float | None = None
    links: MethodLinks = NO_LINKS
    team: str = ""
    _shown: dict[int, "Entry"] = field(default_factory=dict, init=False, repr=False, compare=False)  # by decimals

    def as_json(self) -> dict[str, Any]:
        """Return all of it in JSON's types."""
        return {
            "submission": str(self.submission_id),
            "result": self.result_id and str(self.result_id),
            "method": self.method,
            "contributors": self.contributors,
            "affiliation": self.affiliation,
            "declarations": dict(self.declared.values),
            "flickr_count": self.declared.flickr_count,
            "submitted_at": self.submitted_at.isoformat(),
            "mean": self.mean,
            "mean_over": self.mean_over,
            "is_complete": self.is_complete,
            "classes": dict(self.classes),
            "others": {metric.value: mean for metric, mean in self.others.items()},
            "other_classes": {metric.value: dict(scores) for metric, scores in self.other_classes.items()},
            "released": self.released,
            "method_id": self.links.method_id and str(self.links.method_id),
            "paper_url": self.links.paper_url,
            "code_url": self.links.code_url,
            "team": self.team,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Entry":
        """Return what `as_json` has written, here or in an earlier version, where each declaration was a key."""
        values = kept.get("declarations") or {name: kept[name] for name in BUILT_IN if kept.get(name)}
        return cls(
            submission_id=uuid.UUID(kept["submission"]),
            method=kept["method"],
            contributors=kept["contributors"],
            affiliation=kept["affiliation"],
            declared=Declared(values, kept["flickr_count"]),
            submitted_at=datetime.fromisoformat(kept["submitted_at"]),
            mean=kept["mean"],
            mean_over=kept["mean_over"],
            is_complete=kept["is_complete"],
            classes=kept["classes"],
            others={Metric(metric): mean for metric, mean in kept["others"].items()},
            other_classes={Metric(metric): scores for metric, scores in kept.get("other_classes", {}).items()},
            result_id=uuid.UUID(kept["result"]) if kept.get("result") else None,
            released=kept.get("released"),
            links=MethodLinks(
                uuid.UUID(kept["method_id"]) if kept.get("method_id") else None,
                kept.get("paper_url", ""),
                kept.get("code_url", ""),
            ),
            team=kept.get("team", ""),
        )

    @property
    def standing(self) -> Standing:
        """The values that determine its rank, once it is `as_shown`."""
        return Standing(self.mean, self.is_complete, self.submitted_at)

    def as_shown(self, decimals: int) -> "Entry":
        """Return the entry with rounded scores: all that ranks, marks and orders may depend on.

        It is remembered, because most entries of a leaderboard are the same after a change.
        """
        if decimals not in self._shown:
            self._shown[decimals] = replace(
                self,
                mean=rounded(self.mean, decimals),
                classes=rounded_scores(self.classes, decimals),
                others={metric: rounded(mean, decimals) for metric, mean in self.others.items()},
                other_classes={metric: rounded_scores(each, decimals) for metric, each in self.other_classes.items()},
            )
        return self._shown[decimals]

    @property
    def as_released(self) -> "Entry":
        """The entry with no other score than the one that the Ladder mechanism releases."""
        return replace(self, mean=self.released, classes={}, others={}, other_classes={})


@dataclass(frozen=True, slots=True)
class Published:
    """An entry, and when it was published.

    Attributes:
        began_at: when the upload began.
        was_promised: whether its owner asked at the upload for it to be published as soon as it is scored.
    """

    entry: Entry
    published_at: datetime
    began_at: datetime
    was_promised: bool


def published(
    session: Session,
    phase_id: uuid.UUID,
    competition: str,
    others: tuple[Metric, ...],
    *,
    only: Sequence[uuid.UUID] | None = None,
    with_classes: bool = True,
) -> list[Published]:
    """Return all published results of a phase in a competition, in the order of submission.

    Args:
        only: submissions to return; all by default.
        others: measures to return in addition to the primary one.
        with_classes: whether the scores of the classes by the primary measure are read; they are most of the work.
    """
    if only is not None and not only:
        return []
    rows = queries.published(session, phase_id, competition, only=only)
    values = queries.values(session, phase_id, competition, only=only) if with_classes else {}
    other_measures = queries.other_measures(session, phase_id, competition, others, only=only)
    return [
        Published(
            Entry(
                submission_id=row.id,
                method=row.name,
                contributors=row.contributors,
                affiliation=row.affiliation,
                declared=Declared(row.declarations, row.flickr_count),
                submitted_at=row.created_at,
                mean=row.mean,
                mean_over=row.mean_over,
                is_complete=not row.not_entered,
                classes=values.get(row.measure_id, {}),
                others={metric: mean for metric, (mean, _) in other_measures[row.result_id].items()},
                other_classes={metric: scores for metric, (_, scores) in other_measures[row.result_id].items()},
                result_id=row.result_id,
                links=MethodLinks(row.method_id, row.paper_url, row.code_url),
                team=row.team,
            ),
            published_at=row.published_at,
            began_at=row.began_at,
            was_promised=row.publish_when_scored,
        )
        for row in rows
    ]


def with_releases(
    session: Session, challenge: Challenge, phase: Phase, competition: str, found: Sequence[Published]
) -> list[Published]:
    """Return published results of a phase, each with what the Ladder mechanism releases of it if the phase has it."""
    step = phase.rules.ladder_step
    if step is None or not found:
        return list(found)
    released = releases_of_phase(session, phase.id, step, challenge.decimals, competition=competition)
    nothing = Release(None, None)
    return [
        replace(
            one,
            entry=replace(
                one.entry, released=released.get(one.entry.submission_id, {}).get(competition, nothing).score
            ),
        )
        for one in found
    ]


class EntryCache:
    """The entries of some leaderboards that have been read before; may be used by several threads."""

    def __init__(self) -> None:
        self._known: LRUCache[Hashable, Mapping[str, Published | None]] = LRUCache(CACHED_ENTRIES, getsizeof=len)
        self._lock = threading.Lock()

    def published(
        self, session: Session, phase_id: uuid.UUID, competition: str, others: tuple[Metric, ...]
    ) -> list[Published]:
        """Return what `published` returns, and read only what has changed since the last time."""
        if session.get_bind().dialect.name != "postgresql":
            return published(session, phase_id, competition, others)
        key = (phase_id, competition, others)
        with self._lock:
            known: Mapping[str, Published | None] = self._known.get(key, {})
        parameters: Mapping[str, Any] = {"phase_id": phase_id, "competition": competition}
        versions = (session.scalar(_VERSIONS, parameters) or "").split("\n")
        changed = [version for version in versions if version and version not in known]
        ids = {uuid.UUID(version.partition(SEPARATOR)[0]): version for version in changed}
        read = published(
            session,
            phase_id,
            competition,
            others,
            only=list(ids) if len(changed) <= MAX_CHANGED else None,
        )
        found = {ids[one.entry.submission_id]: one for one in read if one.entry.submission_id in ids}
        now_known = {version: known.get(version) or found.get(version) for version in versions if version}
        if len(now_known) <= CACHED_ENTRIES:
            with self._lock:
                self._known[key] = now_known
        return [one for one in now_known.values() if one is not None]
