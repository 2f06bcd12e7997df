"""What a leaderboard shows of its statistics: never those of other evaluations than its scores are of."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.leaderboards.differences import Differences
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.models import BoardDifferences
from vocboard.app.leaderboards.statistics import (
    MAX_METHODS,
    Failure,
    MethodStatistics,
    Statistics,
    decimals_of,
    digest_of,
    find,
)

MEAN = ""  # in place of a class


@dataclass(frozen=True, slots=True)
class ShownStatistics:
    """The statistics of a leaderboard.

    Attributes:
        statistics_id: of the stored ones; None if there are none yet.
        is_current: whether they are of exactly the results that the leaderboard shows. If not, they are being computed,
            and only the intervals of results that have not changed are shown.
        decimals: to which fractions are rounded.
        images: number of test images that were resampled.
        replicates: number of replicates.
        compared: number of methods with a rank range.
        methods: by result.
        failure: why there are none of these results, for organisers; None if there are, or they are being computed.
    """

    statistics_id: uuid.UUID | None
    is_current: bool
    decimals: int
    images: int
    replicates: int
    compared: int
    methods: Mapping[uuid.UUID, MethodStatistics]
    failure: Failure | None = None

    def without_classes(self) -> "ShownStatistics":
        """The same for the detail level `mean`."""
        methods = {result: replace(one, classes={}) for result, one in self.methods.items()}
        return replace(self, methods=methods)


def shown_statistics(
    session: Session,
    board: tuple[uuid.UUID, str],
    entries: Sequence[Entry],
    *,
    decimals: int,
    frozen_at: datetime | None,
) -> ShownStatistics | None:
    """Return the statistics of a leaderboard; None if it has none: it is empty, or was frozen by an earlier version.

    Args:
        board: id of the phase, key of the competition.
        entries: everything that it shows.
        decimals: of its scores.
        frozen_at: of a frozen one.
    """
    wanted = decimals_of(decimals)
    digest = digest_of((entry.result_id for entry in entries), wanted)
    if digest is None:
        if len(entries) > MAX_METHODS:
            return ShownStatistics(None, True, wanted, 0, 0, 0, {}, Failure.TOO_MANY_METHODS)
        return None
    stored = find(session, *board, frozen_at)
    if stored is None:
        return ShownStatistics(None, False, wanted, 0, 0, 0, {})
    found = Statistics.from_json(stored.content)
    is_current = stored.methods_sha256 == digest
    if is_current and not found.methods and found.failure is None:  # an earlier version did not keep why
        return None
    methods = found.methods if found.decimals == wanted else {}
    if not is_current:
        shown = {entry.result_id for entry in entries}
        methods = {
            result: replace(one, ranks=None, is_in_first_group=False)
            for result, one in methods.items()
            if result in shown
        }
    failure = found.failure if is_current else None
    return ShownStatistics(
        stored.id, is_current, wanted, found.images, found.replicates, found.compared, methods, failure
    )


def differences(session: Session, statistics_id: uuid.UUID, columns: Sequence[str]) -> Mapping[str, Differences]:
    """Return the differences of all pairs in some columns: classes, and `MEAN`. Columns without any are missing.

    Args:
        statistics_id: of `ShownStatistics` that are current; the caller leaves out classes that are not visible.
    """
    query = select(BoardDifferences.class_name, BoardDifferences.content).where(
        BoardDifferences.statistics_id == statistics_id, BoardDifferences.class_name.in_(columns)
    )
    return {name: Differences.unpacked(content) for name, content in session.execute(query)}
