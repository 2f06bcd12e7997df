"""Schemas for leaderboards."""

import uuid

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.values import Fraction, Imported, Instant
from vocboard.app.leaderboards.removals import Cause
from vocboard.evaluator.editions import Declaration, Metric, Task


class ScoreInterval(BaseModel):
    """A 95 % bootstrap interval of one score on its own, not corrected for the number of methods."""

    low: float = Field(description="Lower end, a fraction.")
    high: float = Field(description="Upper end, a fraction.")


class RankRange(BaseModel):
    """The best and the worst rank of a method, with 95 % confidence for all methods together."""

    best: int
    worst: int


class LeaderboardStatistics(BaseModel):
    """How certain the scores of a leaderboard are; see docs/statistics.md."""

    is_current: bool = Field(
        description="Whether the statistics belong to exactly these rows. If not, new ones are being computed, and "
        "rank ranges are null."
    )
    is_unavailable: bool = Field(
        description="Whether the statistics of these rows could not be computed. Organisers see why in `GET "
        "/challenges/{slug}/statistics`."
    )
    decimals: int = Field(description="Decimal places of intervals.")
    resampled_images: int = Field(description="Number of test images that the bootstrap draws from.")
    replicates: int = Field(description="Number of bootstrap replicates.")
    compared: int = Field(description="Number of methods with a rank range: those that entered every class.")


class LeaderboardRow(BaseModel):
    """One published method."""

    rank: int | None = Field(
        description="Rank by the mean as shown. Methods with the same mean share a rank, if all of them entered every "
        "class, or none did. null if the mean is undefined; such methods come last."
    )
    submission: uuid.UUID | None = Field(description="Id of the submission; null on an anonymous leaderboard.")
    method: str = Field(description="Name of the method; on an anonymous leaderboard, a constant label in its place.")
    contributors: str
    affiliation: str
    declared: dict[Declaration, str | None] = Field(
        description="Values of the declarations that the competition requires; null for those that are missing."
    )
    submitted_at: Instant
    mean: Fraction
    interval: ScoreInterval | None = Field(description="Interval of the mean; null if it is unknown or not shown.")
    ranks: RankRange | None = Field(description="Rank range; null if it is unknown or not shown.")
    in_first_group: bool | None = Field(
        description="Whether the method is first, or cannot be distinguished from the first (two-sided, 5 %, corrected "
        "for all pairs of compared methods; a difference that depends on fewer than ten images does not count). null "
        "if `ranks` is null."
    )
    mean_over: int = Field(description="Number of classes in the mean.")
    other_means: dict[Metric, Fraction] = Field(description="Means of the leaderboard's secondary metrics.")
    is_complete: bool = Field(description="Whether every class was entered. Such methods rank before all others.")
    per_class: dict[str, Fraction] = Field(description="Scores by class, without the classes that were not entered.")
    interval_per_class: dict[str, ScoreInterval] = Field(description="Intervals of the scores by class that have one.")
    other_per_class: dict[Metric, dict[str, Fraction]] = Field(
        description="Scores by class of the leaderboard's secondary metrics, for those that have any."
    )
    best: list[str] = Field(
        description="Classes in which no method has a better score, as shown; contains `mean` if this holds for the "
        "mean. The mean of a method that did not enter every class is never the best."
    )


class Correction(BaseModel):
    """A re-score that has been applied."""

    applied_at: Instant
    reason: str
    ground_truth_version: int
    evaluator_version: str
    edition_version: int
    changes_edition: bool = Field(description="Whether this changed the rules to those of `edition_version`.")
    method: str | None = Field(
        description="Name of the method, if only one submission was evaluated again; otherwise null."
    )


class Removal(BaseModel):
    """A result that organisers removed from a frozen leaderboard. The ranks below it have moved up."""

    removed_at: Instant
    cause: Cause


class Leaderboard(BaseModel):
    """The leaderboard of one competition, ranked by means as shown."""

    challenge: str
    phase: str = Field(description="Key of the phase.")
    frozen_at: Instant | None = Field(description="When the leaderboard was frozen; null if it may still change.")
    is_anonymous: bool = Field(description="Whether names, affiliations, statements and links are hidden.")
    competition: str
    task: Task
    metric: Metric
    classes: list[str]
    decimals: int
    ladder_step: float | None = Field(
        description="Step of the Ladder mechanism while it hides scores: `mean` is then rounded to this step, and null "
        "for methods that were not a new best of their owner. null if all scores are shown."
    )
    imported: Imported
    corrections: list[Correction] = Field(description="Re-scores that have been applied, newest first.")
    removals: list[Removal] = Field(
        description="Results that organisers disqualified, unpublished or marked as failed after the leaderboard was "
        "frozen, latest first. The list does not tell whose they were. Empty for leaderboards that are not frozen."
    )
    statistics: LeaderboardStatistics | None = Field(
        description="How certain the scores are; null if the leaderboard shows no statistics."
    )
    rows: list[LeaderboardRow]
