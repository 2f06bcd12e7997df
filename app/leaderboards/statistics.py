"""The statistics of one leaderboard, as they are stored and shown.

They belong to exactly the evaluations that they were computed from. A leaderboard looks them up by the digest of what
it shows, so that it never shows rank ranges of other methods, or an interval of another evaluation than its score.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, TypeAdapter
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from vocboard.app.leaderboards.models import BoardStatistics

MAX_DECIMALS = 3  # of intervals: with 1,000 replicates, the fourth would be chance
# The work of comparing all pairs grows with the square of the number of methods: see docs/statistics.md.
MAX_METHODS = 1_000  # of a leaderboard with statistics
MAX_METHODS_BY_CLASS = 300  # of one whose methods are compared in each class, too


class Failure(StrEnum):
    """Why a leaderboard has no statistics. Only organisers see the reason."""

    GROUND_TRUTH_ELSEWHERE = "ground_truth_elsewhere"
    SEVERAL_GROUND_TRUTHS = "several_ground_truths"
    TOO_FEW_IMAGES = "too_few_images"
    TOO_MANY_METHODS = "too_many_methods"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    OTHER_EVALUATOR = "other_evaluator"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class Interval(NamedTuple):
    """A 95 % interval: fractions, rounded."""

    low: float
    high: float


class Stored:
    """Base class of the dataclasses that are stored in JSON's types."""

    __slots__ = ()

    @classmethod
    @cache
    def _adapter(cls) -> TypeAdapter[Any]:
        return TypeAdapter(cls)

    def as_json(self) -> dict[str, Any]:
        """Return all of it in JSON's types."""
        content: dict[str, Any] = self._adapter().dump_python(self, mode="json", by_alias=True)
        return content

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `as_json` has written, here or in an earlier version."""
        found: Self = cls._adapter().validate_python(stored)
        return found


@dataclass(frozen=True, slots=True)
class MethodStatistics:
    """What is known of one result.

    Attributes:
        mean: interval of the mean; None if the score or the interval is undefined.
        classes: intervals of the classes that have one.
        ranks: the best and the worst rank that the differences allow; None if it is not compared.
        is_in_first_group: whether it is the first, or cannot be distinguished from it.
    """

    mean: Interval | None
    classes: Mapping[str, Interval] = field(hash=False)
    ranks: tuple[int, int] | None
    is_in_first_group: Annotated[bool, Field(alias="first_group")]


UNKNOWN = MethodStatistics(None, {}, None, False)


@dataclass(frozen=True, slots=True)
class Statistics(Stored):
    """The statistics of a leaderboard.

    Attributes:
        decimals: to which fractions are rounded.
        images: number of test images that were resampled.
        replicates: number of replicates.
        compared: number of methods with a rank range: those that entered every class.
        methods: by result.
        failure: why there are none; None if there are.
    """

    decimals: int
    images: int
    replicates: int
    compared: int
    methods: Mapping[uuid.UUID, MethodStatistics]
    failure: Failure | None = None


def decimals_of(decimals: int) -> int:
    """Return to how many decimals intervals are rounded, where scores are rounded to so many."""
    return min(decimals, MAX_DECIMALS)


def digest_of(results: Iterable[uuid.UUID | None], decimals: int) -> str | None:
    """Return the digest of the results that a leaderboard shows, in any order.

    None if there cannot be statistics: there are no results, too many, or some of which the evaluation is not known
    (frozen by an earlier version of vocboard).

    Args:
        results: ids of `CompetitionResult`.
        decimals: to which intervals are rounded.
    """
    listed = list(results)
    known = [result for result in listed if result is not None]
    if not known or len(known) > MAX_METHODS or len(known) != len(listed):
        return None
    content = b"".join(sorted(result.bytes for result in known))
    return hashlib.sha256(bytes([decimals]) + content).hexdigest()


def of_board(phase_id: uuid.UUID, competition: str, frozen_at: datetime | None) -> Select[BoardStatistics]:
    """Return the query for the stored statistics of a leaderboard, the latest first.

    Args:
        frozen_at: of a frozen one.
    """
    return (
        select(BoardStatistics)
        .where(
            BoardStatistics.phase_id == phase_id,
            BoardStatistics.competition == competition,
            BoardStatistics.frozen_at == frozen_at if frozen_at else BoardStatistics.frozen_at.is_(None),
        )
        .order_by(BoardStatistics.created_at.desc(), BoardStatistics.id)
    )


def find(session: Session, phase_id: uuid.UUID, competition: str, frozen_at: datetime | None) -> BoardStatistics | None:
    """Return the stored statistics of a leaderboard, which may be of other results than it shows now."""
    return session.scalars(of_board(phase_id, competition, frozen_at).limit(1)).one_or_none()


EXPLANATIONS: Mapping[Failure, str] = {
    Failure.GROUND_TRUTH_ELSEWHERE: "They need the ground truth that these methods were scored with, which is not on "
    "this server. Upload it under Overview; they are then computed by themselves. Other versions of vocboard store "
    "some trees otherwise: if that does not help, score all methods with what you have uploaded by a re-score.",
    Failure.SEVERAL_GROUND_TRUTHS: "The methods were scored with different versions of the ground truth. Score all of "
    "them with one version: start a re-score under Overview.",
    Failure.TOO_FEW_IMAGES: "The test set has fewer than two images.",
    Failure.TOO_MANY_METHODS: f"They are computed for at most {MAX_METHODS:,} methods.",
    Failure.TOO_LARGE: "They took more memory or time than the server allows. Ask the operator to look at the worker’s "
    "log, then have them computed again.",
    Failure.UNREADABLE: "An archive could not be read again. Ask the operator to look at the worker’s log, then have "
    "them computed again.",
    Failure.OTHER_EVALUATOR: "This version of vocboard gives the methods other scores than the leaderboard has. Score "
    "all of them again: start a re-score under Overview.",
    Failure.INTERRUPTED: "Computing them stopped the worker several times. Ask the operator to look at its log, then "
    "have them computed again.",
    Failure.ERROR: "An error of the server. Ask the operator to look at the worker’s log, then have them computed "
    "again.",
}
