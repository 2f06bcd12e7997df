"""What organisers see across the methods of a competition.

How far they agree, what they reach together, and whether entrants improve.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase
from vocboard.app.leaderboards import sequences
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.image_sets import OnBothImageSets, on_both_image_sets
from vocboard.app.leaderboards.models import BoardAgreement, SubmissionSequence
from vocboard.app.leaderboards.ranking import order
from vocboard.app.leaderboards.sequences import Agreement, Change, Member, SequenceKey, SequenceStatistics, Verdict
from vocboard.app.leaderboards.service import rules_of, statistics_basis
from vocboard.app.leaderboards.shown_statistics import shown_statistics
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.teams.models import Team
from vocboard.app.teams.queries import people_by_team
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.tasks.definitions import METRICS

MAX_SEQUENCES = 100  # those with most submissions


@dataclass(frozen=True, slots=True)
class MethodAgreement:
    """One method of a leaderboard, and what it has in common with the others.

    Attributes:
        found: mean share of the positives of a class in an image that it finds.
        with_others: correlation with each method, in the order of the list; None if not reported.
        closest, farthest: places of the methods with which it agrees most and least; of several that agree equally,
            that of the best.
    """

    entry: Entry
    found: float
    with_others: Sequence[float | None]
    closest: int | None
    farthest: int | None


@dataclass(frozen=True, slots=True)
class MethodCombination:
    """What the first methods of a leaderboard reach together.

    Attributes:
        is_all: whether they are all that entered every class.
        difference: of the combination to the first of them alone, of both as they are shown.
        change: whether that is more than chance; None if not reported.
    """

    methods: int
    is_all: bool
    score: float
    difference: float
    change: Change | None


@dataclass(frozen=True, slots=True)
class Step:
    """One submission of a sequence.

    Attributes:
        difference: of its mean to that of the one before; None for the first.
        change: whether that is more than chance; None if not reported.
    """

    member: Member
    difference: float | None
    change: Change | None


@dataclass(frozen=True, slots=True)
class EntrantSequence:
    """The submissions of one method.

    Attributes:
        team: whose it is.
        people: who is in the team now.
        submissions: number of all that can be compared, of which `steps` has the latest.
        overall: of the last to the first of `steps`.
        verdict: None while it is being computed, or if it cannot be.
        failure: why it cannot be.
    """

    team: Team
    people: Sequence[User]
    method_id: uuid.UUID
    method: str
    submissions: int
    steps: Sequence[Step]
    difference: float
    overall: Change | None
    verdict: Verdict | None
    failure: Failure | None

    @property
    def name(self) -> str:
        """What organisers read: the team's name, or the person's."""
        return self.team.name or ", ".join(person.name for person in self.people)


@dataclass(frozen=True, slots=True)
class AcrossMethods:
    """Statistics across the methods of one competition.

    Attributes:
        is_wanted: whether the challenge has statistics.
        agreement: of the leaderboard's methods, in its order; empty if there is none.
        combinations: of its first methods that entered every class; empty if there is none.
        is_being_computed: whether the agreement will come.
        failure: why the leaderboard has no statistics, and so no agreement.
        not_compared: number of methods on the leaderboard without one.
        image_sets: for each competition that differs from this one in nothing but the image set.
        entrants: methods with at least two submissions, those with most first, at most `MAX_SEQUENCES`.
        several: number of methods with at least two submissions, also if they cannot be compared.
        alone: number of methods with one.
    """

    phase: Phase
    competition: Competition
    decimals: int
    is_wanted: bool
    agreement: Sequence[MethodAgreement]
    combinations: Sequence[MethodCombination]
    is_being_computed: bool
    failure: Failure | None
    not_compared: int
    image_sets: Sequence[OnBothImageSets]
    entrants: Sequence[EntrantSequence]
    several: int
    alone: int


def across_methods(
    session: Session,
    challenge: Challenge,
    phase: Phase,
    competition: str,
    *,
    method_id: uuid.UUID | None = None,
    at: datetime,
) -> AcrossMethods:
    """Return what is known across the methods of a competition that the viewer organises (the caller checks).

    Args:
        challenge: with its competitions and phases.
        method_id: one whose submissions are wanted, however many others have more.
        at: the current time.

    Raises:
        NotFoundError: the phase has no such competition.
    """
    rules = rules_of(challenge, phase, competition)
    higher_is_better = METRICS[rules.rules.metric].higher_is_better
    agreement: Sequence[MethodAgreement] = ()
    reached: Sequence[MethodCombination] = ()
    methods, failure = 0, None
    basis = statistics_basis(session, challenge, phase, competition, at=at, with_classes=False)
    is_being_computed = basis is None  # frozen, and not copied yet
    if basis is not None and basis.is_wanted:
        methods = len(basis.entries)
        board = phase.id, competition
        shown = shown_statistics(session, board, basis.entries, decimals=basis.decimals, frozen_at=basis.frozen_at)
        is_being_computed = shown is not None and not shown.is_current
        failure = None if shown is None else shown.failure
        if shown is not None and shown.is_current and shown.statistics_id is not None:
            stored = session.get(BoardAgreement, shown.statistics_id)
            if stored is not None:
                common = Agreement.from_json(stored.content)
                agreement = _agreement(
                    common, basis.entries, decimals=basis.decimals, higher_is_better=higher_is_better
                )
                reached = _combinations(
                    common, basis.entries, decimals=basis.decimals, higher_is_better=higher_is_better
                )
    lengths = sequences.Lengths()
    found: Mapping[SequenceKey, Sequence[Member]] = {}
    if challenge.statistics:
        lengths = sequences.lengths(session, phase.id, competition, limit=MAX_SEQUENCES)
        wanted = {*lengths.longest, *([] if method_id is None else [method_id])}
        found = sequences.members(session, phase.id, competition=competition, methods=wanted)
    return AcrossMethods(
        phase=phase,
        competition=rules,
        decimals=challenge.decimals,
        is_wanted=challenge.statistics,
        agreement=agreement,
        combinations=reached,
        is_being_computed=is_being_computed,
        failure=failure,
        not_compared=methods - len(agreement),
        image_sets=on_both_image_sets(session, challenge, phase, competition, at=at) if challenge.statistics else [],
        entrants=_entrants(session, phase, found, higher_is_better=higher_is_better),
        several=lengths.several,
        alone=lengths.one,
    )


def _agreement(
    found: Agreement, entries: Sequence[Entry], *, decimals: int, higher_is_better: bool
) -> list[MethodAgreement]:
    places = {result: place for place, result in enumerate(found.results)}
    listed = [entry for entry in entries if entry.result_id in places]
    standings = [entry.as_shown(decimals).standing for entry in listed]
    known = [listed[place] for place in order(standings, higher_is_better=higher_is_better)]
    rows = []
    for own, entry in enumerate(known):
        values = [found.correlations[places[_result(entry)]][places[_result(other)]] for other in known]
        others = [place for place, value in enumerate(values) if place != own and value is not None]
        value_of = {place: values[place] or 0.0 for place in others}
        rows.append(
            MethodAgreement(
                entry,
                found.found[places[_result(entry)]],
                values,
                max(others, key=value_of.__getitem__, default=None),
                min(others, key=value_of.__getitem__, default=None),
            )
        )
    return rows


def _combinations(
    found: Agreement, entries: Sequence[Entry], *, decimals: int, higher_is_better: bool
) -> list[MethodCombination]:
    listed = [entry for entry in entries if entry.is_complete and entry.mean is not None]
    standings = [entry.as_shown(decimals).standing for entry in listed]
    means = [standings[place].mean or 0.0 for place in order(standings, higher_is_better=higher_is_better)]
    return [
        MethodCombination(one.methods, one.methods == len(means), one.score, one.score - means[0], one.change)
        for one in found.combinations
    ]


def _result(entry: Entry) -> uuid.UUID:
    assert entry.result_id is not None  # noqa: S101  # statistics are only of entries with results
    return entry.result_id


def _entrants(
    session: Session,
    phase: Phase,
    found: Mapping[SequenceKey, Sequence[Member]],
    *,
    higher_is_better: bool,
) -> list[EntrantSequence]:
    listed = {key: sequence for key, sequence in found.items() if len(sequence) > 1}
    team_ids = {key.team_id for key in listed}
    teams = {team.id: team for team in session.scalars(select(Team).where(Team.id.in_(team_ids)))}
    people = people_by_team(session, team_ids)
    stored = session.scalars(
        select(SubmissionSequence).where(
            SubmissionSequence.phase_id == phase.id, SubmissionSequence.team_id.in_(team_ids)
        )
    )
    contents = {row.team_id: row.content for row in stored if row.content is not None}
    entrants = []
    for key, sequence in listed.items():
        compared = sequences.compared(sequence)
        content = contents.get(key.team_id, {})
        failure = Failure(content["failure"]) if content.get("failure") else None
        computed = content.get("competitions", {}).get(key.stored)
        statistics = None if computed is None else SequenceStatistics.from_json(computed)
        if statistics is not None and list(statistics.results) != [one.result_id for one in compared]:
            statistics = None  # of other submissions than there are now
        if statistics is not None:
            failure = statistics.failure
        changes = statistics.steps if statistics is not None and failure is None else [None] * (len(compared) - 1)
        steps = [Step(compared[0], None, None)] + [
            Step(one, one.mean - before.mean, change)
            for before, one, change in zip(compared, compared[1:], changes, strict=False)
        ]
        entrants.append(
            EntrantSequence(
                team=teams[key.team_id],
                people=people.get(key.team_id, ()),
                method_id=key.method_id,
                method=sequence[-1].method,
                submissions=len(sequence),
                steps=steps,
                difference=compared[-1].mean - compared[0].mean,
                overall=None if statistics is None else statistics.overall,
                verdict=None
                if statistics is None or failure is not None
                else sequences.verdict(statistics, higher_is_better=higher_is_better),
                failure=failure,
            )
        )
    return sorted(entrants, key=lambda one: (-one.submissions, one.name.casefold(), str(one.team.id), one.method))
