"""Compares the scores of the same methods on two image sets, from their replicates.

See `app.leaderboards.image_sets`.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.phases import edition_of_phase, phases_of
from vocboard.app.database import Database, now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.image_sets import VERSION, ImageSetStatistics, Pair, comparable, of_competitions, on_both
from vocboard.app.leaderboards.models import ImageSetComparison
from vocboard.app.leaderboards.service import statistics_basis
from vocboard.app.leaderboards.statistics import decimals_of, digest_of
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.statistics.simultaneous import changes, minus_independent
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.worker import replicates
from vocboard.worker.comparisons import compared, is_of, shown_change


@dataclass(frozen=True, slots=True)
class _Outdated:
    """Two competitions of which no comparison of what their leaderboards show is stored.

    Attributes:
        pairs: the methods; none if nothing is to be stored.
        digest: of these.
    """

    phase_id: uuid.UUID
    competitions: tuple[Competition, Competition]
    pairs: Sequence[Pair]
    digest: str | None
    decimals: int


def update(database: Database, claim: Claim) -> None:
    """Compare the image sets of a challenge, where what is stored is of other results than the leaderboards show.

    It needs the replicates of all results, which the leaderboards' statistics have left behind; without them, there is
    no comparison.
    """
    with database.snapshot() as session:
        outdated = _outdated(session, claim.key)
    for one in outdated:
        found = _statistics(database, one) if one.digest is not None else None
        with database.writing() as session:
            jobs.require_held(session, claim)
            _store(session, one, found)


def _outdated(session: Session, challenge_id: uuid.UUID) -> list[_Outdated]:
    challenge = challenge_queries.challenge_with_phases(session, challenge_id)
    at = now()
    found = []
    for phase in phases_of(challenge):
        known = edition_of_phase(challenge, phase).competitions
        for both in comparable(known[key] for key in phase.competitions if key in known):
            bases = [statistics_basis(session, challenge, phase, one.key, at=at) for one in both]
            first, second = bases
            if first is None or second is None:  # frozen, and not copied yet
                continue
            pairs = on_both(first.entries, second.entries) if first.is_wanted and second.is_wanted else []
            decimals = decimals_of(min(first.decimals, second.decimals))
            digest = digest_of((entry.result_id for pair in pairs for entry in pair), decimals)
            stored = session.scalars(of_competitions(phase.id, both)).one_or_none()
            is_frozen = first.frozen_at is not None or second.frozen_at is not None  # replicates are not drawn again
            version = stored.version if stored is not None and is_frozen else VERSION
            if (stored and (stored.methods_sha256, stored.version)) != (digest and (digest, version)):
                found.append(_Outdated(phase.id, both, pairs, digest, decimals))
    return found


def _statistics(database: Database, outdated: _Outdated) -> ImageSetStatistics | None:
    means = [_means(database, [pair[place] for pair in outdated.pairs]) for place in (0, 1)]
    first, second = means
    if first is None or second is None:
        return None
    try:
        found = changes([minus_independent(later, earlier) for earlier, later in zip(first, second, strict=True)])
    except ValueError:  # too few replicates define all means
        return None
    classes = len(outdated.competitions[0].classes)
    orders = [_differing(scores, outdated) for scores in (first, second)]
    return ImageSetStatistics(
        [shown_change(change, outdated.decimals, classes=classes) for change in found],
        len(orders[0] & orders[1]),
        len(orders[0] & {(worse, better) for better, worse in orders[1]}),
    )


def _means(database: Database, entries: Sequence[Entry]) -> list[ReplicatedScore] | None:
    """Return the means with their replicates; None unless all are known."""
    results = [entry.result_id for entry in entries if entry.result_id is not None]
    found = []
    with database.reading() as session:
        by_result = replicates.sources(session, results)
        for entry, result in zip(entries, results, strict=True):
            stored = replicates.load(session, by_result[result]) if result in by_result else None
            if stored is None or not is_of(entry, stored):
                return None
            found.append(stored.measure().mean)
    return found if len({source.truth_sha256 for source in by_result.values()}) == 1 else None


def _differing(scores: Sequence[ReplicatedScore], outdated: _Outdated) -> set[tuple[int, int]]:
    """Return the places of each two methods that differ by more than chance, the better one first."""
    higher_is_better = METRICS[outdated.competitions[0].rules.metric].higher_is_better
    named = {str(place): one for place, one in enumerate(scores)}
    pairs = compared(named, outdated.decimals, higher_is_better=higher_is_better)
    if pairs is None:
        return set()
    places = [int(name) for name in pairs.methods]
    significant = zip(*(each.tolist() for each in pairs.is_significant.nonzero()), strict=True)
    return {(places[better], places[worse]) for better, worse in significant}


def _store(session: Session, one: _Outdated, found: ImageSetStatistics | None) -> None:
    for old in session.scalars(of_competitions(one.phase_id, one.competitions)):
        session.delete(old)
    session.flush()
    if found is not None:
        session.add(
            ImageSetComparison(
                phase_id=one.phase_id,
                competition=one.competitions[0].key,
                other=one.competitions[1].key,
                methods_sha256=one.digest,
                version=VERSION,
                content=found.as_json(),
            )
        )
