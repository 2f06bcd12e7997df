"""Schemas for what organisers see across methods."""

import uuid

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.values import Fraction, Instant
from vocboard.app.statistics.boards import Failure
from vocboard.app.statistics.sequences import Verdict


class Change(BaseModel):
    """A simultaneous 95 % interval of the difference of two means."""

    low: float = Field(description="A fraction.")
    high: float = Field(description="A fraction.")
    is_significant: bool = Field(description="Whether the interval does not contain 0 before rounding.")


class SequenceStep(BaseModel):
    """One submission of an entrant."""

    submission: uuid.UUID
    method: str
    submitted_at: Instant
    mean: Fraction
    difference: Fraction = Field(description="To the submission before; null for the first.")
    change: Change | None = Field(
        description="null for the first, while it is being computed, and if fewer than ten images determine it."
    )


class EntrantSequence(BaseModel):
    """The submissions of one person that entered every class, in the order of time."""

    user: uuid.UUID
    name: str
    submissions: int = Field(description="All of them; `steps` has at most the latest 300.")
    steps: list[SequenceStep]
    difference: Fraction = Field(description="Of the last to the first of `steps`.")
    change: Change | None = Field(description="Of the last to the first of `steps`; null as in `steps`.")
    verdict: Verdict | None = Field(description="null while it is being computed, or if it cannot be.")
    failure: Failure | None = Field(description="Why it cannot be computed.")


class AgreeingMethod(BaseModel):
    """One method of the leaderboard."""

    submission: uuid.UUID
    method: str
    found: float = Field(description="Mean share of the positives of a class in an image that it finds, rounded.")
    correlations: list[float | None] = Field(
        description="Of what it finds with what each method of this list finds, rounded; null if not reported."
    )


class Combination(BaseModel):
    """The mean of the normalised ranks of the first methods of the leaderboard; see docs/statistics.md."""

    methods: int = Field(description="How many are combined.")
    score: Fraction
    difference: Fraction = Field(description="To the first method alone.")
    change: Change | None = Field(
        description="Of the combination minus the first method alone; null if fewer than ten images determine it."
    )


class MethodOnBoth(BaseModel):
    """One submission that is on the leaderboards of both image sets."""

    submission: uuid.UUID
    method: str
    means: list[Fraction] = Field(description="On the first and on the second image set.")
    difference: Fraction = Field(description="Of the second to the first.")
    change: Change | None = Field(
        description="Of the second minus the first; null if it is not known, or if fewer than ten images determine it."
    )


class OnBothImageSets(BaseModel):
    """Two competitions that differ in nothing but the image set, such as VOC2005’s test1 and test2."""

    competitions: list[str] = Field(description="Their keys.")
    image_sets: list[str]
    methods: list[MethodOnBoth] = Field(
        description="Submissions on both leaderboards that entered every class, in the order of the first. Empty of "
        "more than 300."
    )
    is_compared: bool = Field(description="Whether workers have compared these; otherwise, there are no intervals.")
    pairs: int = Field(description="Number of pairs of these methods.")
    swapped: int = Field(description="Pairs of which each method is better on one image set, by whatever difference.")
    same: int | None = Field(
        description="Pairs that differ by more than chance on both image sets, in the same direction."
    )
    reversed: int | None = Field(description="Pairs that differ by more than chance, in opposite directions.")


class AcrossMethods(BaseModel):
    """What the methods of one competition have in common, and whether entrants improve; see docs/statistics.md."""

    phase: str = Field(description="Key of the phase.")
    competition: str
    is_wanted: bool = Field(description="Whether the challenge has statistics; otherwise, nothing is known.")
    is_being_computed: bool = Field(description="Whether the leaderboard’s statistics are being computed.")
    failure: Failure | None = Field(description="Why the leaderboard has no statistics, and so no agreement.")
    agreement: list[AgreeingMethod] = Field(description="Empty if there is none.")
    combinations: list[Combination] = Field(
        description="Of the leaderboard’s first methods that entered every class, by increasing number. Empty for all "
        "tasks but classification."
    )
    image_sets: list[OnBothImageSets] = Field(description="Empty if there is no such competition.")
    entrants: list[EntrantSequence] = Field(description="With at least two submissions, those with most first.")
