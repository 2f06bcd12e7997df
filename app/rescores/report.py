"""The report of a re-score: which scores and ranks change, by how much, and in which classes.

Ranks are computed from rounded scores by the leaderboards' functions. Scores are rounded to the challenge's decimals.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, selectinload

from vocboard.app.challenges import edition_versions
from vocboard.app.challenges.editions import edition_from, edition_of
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import Phase, competitions_scored_with, phase_with_id, phases_of
from vocboard.app.challenges.queries import truth_of_scoring
from vocboard.app.evaluations.ground_truth_queue import images_of_version, number_of
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.leaderboards.models import Rescore, RescoreItem
from vocboard.app.leaderboards.ranking import Standing, order, ranks
from vocboard.app.leaderboards.service import columns
from vocboard.app.rescores import rounds
from vocboard.app.rescores.queries import is_compared
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.tasks.definitions import METRICS


@dataclass(frozen=True, slots=True)
class _Result:
    """One competition of an evaluation: unrounded fractions, None if undefined."""

    mean: float | None
    is_complete: bool
    classes: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A scored submission."""

    id: uuid.UUID
    method: str
    submitted_at: datetime
    published: frozenset[str]  # competitions
    phase_id: uuid.UUID
    failure: str | None


_Results = Mapping[tuple[uuid.UUID, str], _Result]  # by submission and competition


def compute(session: Session, rescore: Rescore, challenge: Challenge) -> dict[str, Any]:
    """Compare the current results of a challenge with those of a re-score, as JSON.

    Args:
        rescore: one whose submissions have all been evaluated.
        challenge: with its competitions and phases.

    Returns:
        `ground_truth`, `evaluator` and `edition`: `before` and `after`, version numbers.
        `competitions`: for each of the challenge, in its order (for a re-score of one submission, those that it
        entered), `competition`, how many submissions are `evaluated`,
        how many are `published`, and of how many the scores (`scores_changed`) and the ranks (`ranks_changed`) change.
        `changes`: one for each submission and competition that changes, by competition, then by the new rank;
        submissions that no leaderboard shows come last.
        `images`: how many test images there are `before` and `after`, and whether they `differ`.
        `classes`: those with objects that are `missing` after, or `new`.
        `scored`, `lost`, `lost_published`: how many submissions were scored, lose a result, and lose a published one.
        `failures`: submissions that could not be evaluated and lose their results.
    """
    submissions = _submissions(session, rescore)
    before = _results(session, rescore, Evaluation.id == Submission.current_evaluation_id)
    after: _Results = _results(
        session,
        rescore,
        and_(Evaluation.submission_id == Submission.id, rounds.is_result(rescore)),
    )
    if rescore.submission_id is not None:  # the others keep theirs
        after = {**{key: kept for key, kept in before.items() if key[0] != rescore.submission_id}, **after}
    version = session.get_one(GroundTruthVersion, rescore.ground_truth_version_id)
    old, keys = edition_of(challenge), competitions_scored_with(challenge, version.phase_id)
    new = old
    if rescore.changes_edition:
        new = edition_from(challenge.edition, edition_versions.file_of(session, challenge.id, rescore.edition_version))
        run = {key for phase in phases_of(challenge) for key in phase.competitions}
        keys = [key for key in new.competitions if key in run]
    summaries: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    for key in keys:
        entered = [one for one in submissions if (one.id, key) in before or (one.id, key) in after]
        evaluated = [one for one in entered if rescore.submission_id in {None, one.id}]
        if rescore.submission_id is not None and not evaluated:
            continue
        rules = old.competitions[key], new.competitions[key]
        found = _changes(rules, entered, before, after, challenge.decimals)
        summaries.append(
            {
                "competition": key,
                "evaluated": len(evaluated),
                "published": sum(key in one.published for one in entered),
                "scores_changed": sum(_scores_differ(one.id, key, before, after) for one in entered),
                "ranks_changed": sum(change["rank"]["before"] != change["rank"]["after"] for change in found),
            }
        )
        changes += found
    return {
        **_versions(session, rescore, phase_with_id(challenge, version.phase_id), version, challenge.edition_version),
        **_lost(submissions, before, after),
        **truth_changes(session, challenge, version),
        "competitions": summaries,
        "changes": changes,
        "failures": [
            {"submission": str(one.id), "method": one.method, "published": bool(one.published), "reason": one.failure}
            for one in submissions
            if one.failure is not None
        ],
    }


def _lost(submissions: Sequence[_Evaluated], before: _Results, after: _Results) -> dict[str, int]:
    """Return how many submissions were scored, and how many would lose results."""
    gone: dict[uuid.UUID, set[str]] = {}
    for id_, key in before.keys() - after.keys():
        gone.setdefault(id_, set()).add(key)
    return {
        "scored": len({id_ for id_, _ in after}),
        "lost": sum(one.id in gone for one in submissions),
        "lost_published": sum(not one.published.isdisjoint(gone.get(one.id, ())) for one in submissions),
    }


def _submissions(session: Session, rescore: Rescore) -> list[_Evaluated]:
    """All scored submissions of the same ground truth, in the order in which they were made."""
    item = and_(RescoreItem.rescore_id == rescore.id, RescoreItem.submission_id == Submission.id)
    rows = session.execute(
        select(Submission, Method.name, RescoreItem.failure)
        .join(Method, Method.id == Submission.method_id)
        .outerjoin(RescoreItem, item)
        .where(is_compared(rescore), Submission.state == State.SCORED)
        .order_by(Submission.created_at, Submission.id)
        .options(selectinload(Submission.entries))
    )
    return [
        _Evaluated(one.id, method, one.created_at, frozenset(one.published_competitions), one.phase_id, failure)
        for one, method, failure in rows
    ]


def _results(session: Session, rescore: Rescore, which: ColumnElement[bool]) -> dict[tuple[uuid.UUID, str], _Result]:
    """The results by primary measure of one evaluation for each submission."""
    evaluated = (
        select(Submission.id, CompetitionResult.competition)
        .select_from(Submission)
        .join(Evaluation, which)
        .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .where(is_compared(rescore), Submission.state == State.SCORED)
    )
    found: dict[tuple[uuid.UUID, str], _Result] = {}
    for submission, key, mean, not_entered in session.execute(
        evaluated.add_columns(Measure.mean, CompetitionResult.not_entered)
    ):
        found[submission, key] = _Result(mean, not not_entered)
    scores = evaluated.join(ClassScore, ClassScore.measure_id == Measure.id)
    for submission, key, name, value in session.execute(scores.add_columns(ClassScore.class_name, ClassScore.value)):
        if (result := found.get((submission, key))) is not None:  # else it has been scored since
            result.classes[name] = value
    return found


def _changes(
    rules: tuple[Competition, Competition],
    entered: Sequence[_Evaluated],
    before: _Results,
    after: _Results,
    decimals: int,
) -> list[dict[str, Any]]:
    """Return what changes in a competition, given its rules before and after."""
    old_rules, new_rules = rules
    key, names = new_rules.key, columns(new_rules)
    published = [one for one in entered if key in one.published]
    rank_before, rank_after = (
        _ranks(rules, published, results, decimals) for rules, results in ((old_rules, before), (new_rules, after))
    )
    listed: defaultdict[tuple[bool, float], list[dict[str, Any]]] = defaultdict(list)
    for one in entered:
        old, new = before.get((one.id, key)), after.get((one.id, key))
        rank = {"before": rank_before.get(one.id), "after": rank_after.get(one.id)}
        if old == new and rank["before"] == rank["after"]:
            continue
        change = {
            "submission": str(one.id),
            "method": one.method,
            "competition": key,
            "published": key in one.published,
            "rank": rank,
            "mean": _difference(_mean(old), _mean(new), decimals),
            "classes": {
                name: _difference(_score(old, name), _score(new, name), decimals)
                for name in names
                if _score(old, name) != _score(new, name)
            },
        }
        after_rank = rank["after"]
        place = (key not in one.published, float("inf") if after_rank is None else float(after_rank))
        listed[place].append(change)
    return [change for place in sorted(listed) for change in listed[place]]


def _ranks(
    competition: Competition, published: Sequence[_Evaluated], results: _Results, decimals: int
) -> dict[uuid.UUID, int | None]:
    """The rank of each published submission that has a result, as on the leaderboard of its phase."""
    phases = {one.phase_id for one in published}
    if len(phases) > 1:
        parts = ([one for one in published if one.phase_id == phase] for phase in phases)
        return {id_: rank for part in parts for id_, rank in _ranks(competition, part, results, decimals).items()}
    shown_on_board = [
        (one, result) for one in published if (result := results.get((one.id, competition.key))) is not None
    ]
    standings = [
        Standing(rounded(result.mean, decimals), result.is_complete, one.submitted_at) for one, result in shown_on_board
    ]
    places = order(standings, higher_is_better=METRICS[competition.rules.metric].higher_is_better)
    ranked = ranks([standings[place] for place in places])
    return {shown_on_board[place][0].id: rank for place, rank in zip(places, ranked, strict=True)}


def _scores_differ(submission: uuid.UUID, key: str, before: _Results, after: _Results) -> bool:
    return before.get((submission, key)) != after.get((submission, key))


def _mean(result: _Result | None) -> float | None:
    return None if result is None else result.mean


def _score(result: _Result | None, name: str) -> float | None:
    return None if result is None else result.classes.get(name)


def _difference(before: float | None, after: float | None, decimals: int) -> dict[str, float | None]:
    """Return both values and their difference, rounded; the difference is None if either is undefined."""
    old, new = rounded(before, decimals), rounded(after, decimals)
    change = None if old is None or new is None else round(new - old, decimals)
    return {"before": old, "after": new, "change": change}


def _versions(
    session: Session, rescore: Rescore, phase: Phase, chosen: GroundTruthVersion, edition_version: int
) -> dict[str, Any]:
    current = truth_of_scoring(session, phase.scoring_id)
    before = current.number if current else _number_elsewhere(session, rescore)
    evaluators = session.scalars(
        select(Evaluation.evaluator_version)
        .join(Submission, Submission.current_evaluation_id == Evaluation.id)
        .where(is_compared(rescore))
        .distinct()
        .order_by(Evaluation.evaluator_version)
    )
    return {
        "ground_truth": {"before": before, "after": chosen.number},
        "evaluator": {"before": ", ".join(evaluators), "after": rescore.evaluator_version},
        "edition": {"before": edition_version, "after": rescore.edition_version},
    }


def _number_elsewhere(session: Session, rescore: Rescore) -> int | None:
    """The latest version that results of an imported challenge are against; None if there are no results."""
    return session.scalar(
        select(func.max(GroundTruthVersion.number))
        .join(Scoring, Scoring.ground_truth_version_id == GroundTruthVersion.id)
        .join(Evaluation, Evaluation.scoring_id == Scoring.id)
        .join(Submission, Submission.current_evaluation_id == Evaluation.id)
        .where(is_compared(rescore))
    )


def truth_changes(session: Session, challenge: Challenge, version: GroundTruthVersion) -> dict[str, Any]:
    """Return how the images, and the classes that have objects, differ from those of the current version.

    Only tasks of competitions count that are scored with it. Classes are compared in each image set of each of these
    that both versions can score: a class without objects in the test set has lost its scores, whatever the other image
    sets of the tree have of it.
    """
    current = truth_of_scoring(session, phase_with_id(challenge, version.phase_id).scoring_id) or version
    competitions = edition_of(challenge).competitions
    tasks = {competitions[key].task for key in competitions_scored_with(challenge, version.phase_id)}
    before, after = (
        {key: found for key, found in (images_of_version(session, one.id) or {}).items() if key.split("/")[0] in tasks}
        for one in (current, version)
    )
    before = before or after
    old, new = _classes(current), _classes(version)
    both = before.keys() & after.keys()
    return {
        "images": {"before": number_of(before), "after": number_of(after), "differ": before != after},
        "classes": {
            "missing": sorted(set().union(*(old.get(key, set()) - new.get(key, set()) for key in both))),
            "new": sorted(set().union(*(new.get(key, set()) - old.get(key, set()) for key in both))),
        },
    }


def _classes(version: GroundTruthVersion) -> dict[str, set[str]]:
    """The classes that have objects, by task and image set: `detection/test`."""
    return {
        key: {name for name, counts in numbers.get("classes", {}).items() if counts.get("images")}
        for key, numbers in (version.summary or {}).items()
    }
