"""Schemas for statistics across methods, for organisers."""

import uuid
from typing import Annotated

from pydantic import AfterValidator, AliasPath, Field, ValidationInfo, field_validator

from vocboard.app.api.schemas.values import CompetitionKey, Count, Fraction, FromObject, Instant
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.leaderboards.sequences import Verdict
from vocboard.app.leaderboards.statistics import Failure


def _round(value: float | None, info: ValidationInfo) -> float | None:
    return rounded(value, info.context["decimals"]) if info.context else value


Rounded = Annotated[Fraction, AfterValidator(_round)]  # to the `decimals` of the validation's context


class Change(FromObject):
    """A simultaneous 95 % confidence interval of the difference between two means."""

    low: float = Field(description="Lower end, a fraction.")
    high: float = Field(description="Upper end, a fraction.")
    is_significant: bool = Field(description="Whether the unrounded interval excludes 0.")


class SequenceStep(FromObject):
    """One submission of an entrant."""

    submission: uuid.UUID = Field(validation_alias=AliasPath("member", "submission_id"))
    method: str = Field(validation_alias=AliasPath("member", "method"))
    submitted_at: Instant = Field(validation_alias=AliasPath("member", "submitted_at"))
    mean: Rounded = Field(validation_alias=AliasPath("member", "mean"))
    difference: Rounded = Field(description="Difference from the previous submission; null for the first.")
    change: Change | None = Field(
        description="Interval of `difference`. null for the first submission, while it is being computed, and if the "
        "difference depends on fewer than ten images."
    )


class EntrantSequence(FromObject):
    """The submissions of one method to one phase that entered every class, oldest first."""

    team: uuid.UUID = Field(validation_alias=AliasPath("team", "id"))
    name: str = Field(description="Name of the team, or of the person who takes part alone.")
    method: str
    submissions: Count = Field(description="Number of these submissions; may be larger than the length of `steps`.")
    steps: list[SequenceStep] = Field(description="The latest submissions, at most 300, oldest first.")
    difference: Rounded = Field(description="Difference between the last and the first of `steps`.")
    change: Change | None = Field(
        validation_alias="overall",
        description="Interval of `difference`. null while it is being computed, and if the difference depends on fewer "
        "than ten images.",
    )
    verdict: Verdict | None = Field(
        description="Whether the scores improve. null while it is being computed, and if it cannot be computed."
    )
    failure: Failure | None = Field(description="Why the verdict cannot be computed; null if it can.")


class AgreeingMethod(FromObject):
    """How much one method of the leaderboard finds, and how far it agrees with the others."""

    submission: uuid.UUID = Field(validation_alias=AliasPath("entry", "submission_id"))
    method: str = Field(validation_alias=AliasPath("entry", "method"))
    found: float = Field(
        description="Share of the positives that the method finds: the mean over all pairs of a class and an image "
        "that shows it, rounded."
    )
    correlations: list[float | None] = Field(
        validation_alias="with_others",
        description="Correlation between what this method finds and what each listed method finds, in the order of the "
        "list, rounded; null if it is not reported.",
    )


class Combination(FromObject):
    """A combination of the first methods of the leaderboard by mean normalised rank; see docs/statistics.md."""

    methods: Count = Field(description="Number of methods that are combined.")
    score: Fraction
    difference: Rounded = Field(description="Difference from the score of the first method alone.")
    change: Change | None = Field(
        description="Interval of `difference`; null if the difference depends on fewer than ten images."
    )


class MethodOnBoth(FromObject):
    """One submission that is on the leaderboards of both image sets."""

    submission: uuid.UUID = Field(validation_alias=AliasPath("first", "submission_id"))
    method: str = Field(validation_alias=AliasPath("first", "method"))
    means: list[Rounded] = Field(description="Mean on the first and on the second image set.")
    difference: Rounded = Field(description="Mean on the second image set minus mean on the first.")
    change: Change | None = Field(
        description="Interval of `difference`; null if it is unknown, or if the difference depends on fewer than ten "
        "images."
    )


class OnBothImageSets(FromObject):
    """Two competitions that differ only in the image set, such as VOC2005’s test1 and test2."""

    competitions: list[str] = Field(description="Keys of the two competitions.")
    image_sets: list[str] = Field(description="Names of the two image sets, in the same order.")
    methods: list[MethodOnBoth] = Field(
        description="Submissions on both leaderboards that entered every class, in the order of the first leaderboard. "
        "Empty if there are more than 300."
    )
    is_compared: bool = Field(
        description="Whether workers have compared these methods; otherwise, there are no intervals."
    )
    pairs: Count = Field(description="Number of pairs of these methods.")
    swapped: Count = Field(
        description="Number of pairs in which one method has the higher mean on the first image set, and the other on "
        "the second, however small the differences."
    )
    same: Count | None = Field(
        description="Number of pairs that differ significantly on both image sets, in the same direction; null unless "
        "`is_compared`."
    )
    reversed: Count | None = Field(
        description="Number of pairs that differ significantly on both image sets, in opposite directions; null unless "
        "`is_compared`."
    )

    @field_validator("same", "reversed")
    @classmethod
    def _only_if_compared(cls, number: int | None, info: ValidationInfo) -> int | None:
        return number if info.data["is_compared"] else None


class AcrossMethods(FromObject):
    """What the methods of one competition have in common, and whether entrants improve; see docs/statistics.md."""

    phase: str = Field(validation_alias=AliasPath("phase", "key"), description="Key of the phase.")
    competition: CompetitionKey = Field(validation_alias=AliasPath("competition", "key"))
    is_wanted: bool = Field(description="Whether the challenge has statistics; otherwise, nothing is computed.")
    is_being_computed: bool = Field(description="Whether the leaderboard’s statistics are being computed.")
    failure: Failure | None = Field(
        description="Why the leaderboard has no statistics, and therefore no agreement; null if it has."
    )
    agreement: list[AgreeingMethod] = Field(
        description="Methods of the leaderboard, with how far they agree; empty if that is unknown."
    )
    combinations: list[Combination] = Field(
        description="Combinations of the first methods of the leaderboard that entered every class, by increasing "
        "number of methods. Empty for all tasks except classification."
    )
    image_sets: list[OnBothImageSets] = Field(
        description="Comparisons with competitions that differ only in the image set; empty if there are none."
    )
    entrants: list[EntrantSequence] = Field(
        description="Methods with at least two submissions, those with most submissions first; at most 100."
    )
