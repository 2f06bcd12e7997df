"""What the API says of leaderboards."""

import uuid

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.values import Fraction, Instant
from vocboard.evaluator.editions import Declaration, Metric, Task


class LeaderboardRow(BaseModel):
    """One published method."""

    rank: int | None = Field(description="null if the mean is undefined; such methods come last.")
    submission: uuid.UUID
    method: str
    contributors: str
    affiliation: str
    declared: dict[Declaration, str | None] = Field(
        description="What the competition asks its entrants to state; null for what was not declared."
    )
    submitted_at: Instant
    mean: Fraction
    mean_over: int = Field(description="How many classes the mean is over.")
    other_means: dict[Metric, Fraction] = Field(description="Means of the other measures that the board shows.")
    is_complete: bool = Field(description="Whether every class was entered; those methods come first.")
    per_class: dict[str, Fraction] = Field(description="A class that was not entered has no member.")
    best: list[str] = Field(description="Classes in which no method is better; with `mean` for the mean.")


class Correction(BaseModel):
    """A re-score that has been applied."""

    applied_at: Instant
    reason: str
    ground_truth_version: int
    evaluator_version: str
    method: str | None = Field(description="The only one that was evaluated again; null for all.")


class Leaderboard(BaseModel):
    """The leaderboard of one competition, ranked by unrounded means."""

    challenge: str
    competition: str
    task: Task
    metric: Metric
    classes: list[str]
    decimals: int
    corrections: list[Correction] = Field(description="Re-scores that have been applied, the latest first.")
    rows: list[LeaderboardRow]
