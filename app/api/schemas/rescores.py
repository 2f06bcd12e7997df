"""Schemas for re-scores."""

import uuid

from pydantic import AliasPath, BaseModel, Field

from vocboard.app.api.schemas.values import ChallengeName, CompetitionKey, Count, Fraction, FromObject, Given, Instant
from vocboard.app.leaderboards.models import RescoreState

MAX_NUMBER = 2**31 - 1  # maximum of the database's integers


class NewRescore(Given):
    """A re-score to start."""

    ground_truth_version: int | None = Field(
        None,
        ge=1,
        le=MAX_NUMBER,
        description="Number of the ground truth version to score with. Give this or `edition_file`. After an update of "
        "the evaluator, use the current version.",
    )
    edition_file: str | None = Field(
        None,
        description="Content of a changed edition file (TOML), whose rules are used with the current ground truth. "
        "Only for challenges with a custom edition.",
    )
    confirm_warnings: bool = Field(
        False, description="Whether to confirm the warnings from the import of the ground truth version."
    )
    reason: str = Field(
        description="Reason for the re-score; shown on the leaderboards once it is applied.",
        examples=["10 boxes corrected"],
    )


class EvaluateAgain(Given):
    """A request to evaluate a submission again."""

    reason: str = Field(
        "", description="Reason for the evaluation; shown on the leaderboards if a published result changes."
    )


class ApplyRescore(Given):
    """A request to apply a re-score."""

    reason: str | None = Field(
        None, description="Reason to show on the leaderboards; by default, the one that the re-score was started with."
    )
    confirm: str | None = Field(
        None,
        description="The challenge's short name, required if `attention` is not empty, as when published results would "
        "be lost: 409 with the code `confirmation_required` without it.",
    )


class Difference(BaseModel):
    """A score before and after."""

    before: Fraction
    after: Fraction
    change: Fraction = Field(description="`after` minus `before`; null if either is undefined.")


class Ranks(BaseModel):
    """A submission's rank before and after; null where it has none."""

    before: Count | None
    after: Count | None


class RuleChange(BaseModel):
    """A rule that a changed edition changes, in words."""

    what: str = Field(examples=["Overlap that is enough"])
    before: str = Field(examples=["at least 0.5"])
    after: str = Field(examples=["more than 0.6"])


class ScoreChange(BaseModel):
    """What changes for one submission in one competition."""

    submission: uuid.UUID
    method: str
    competition: CompetitionKey
    published: bool
    rank: Ranks
    mean: Difference
    classes: dict[str, Difference] = Field(description="Scores by class, for the classes whose scores change.")


class CompetitionSummary(BaseModel):
    """How much changes in one competition."""

    competition: CompetitionKey
    evaluated: Count = Field(description="Number of submissions that were evaluated.")
    published: Count = Field(description="Number of these that are published.")
    scores_changed: Count = Field(description="Number of submissions whose scores change.")
    ranks_changed: Count = Field(description="Number of published submissions whose rank changes.")


class FailedSubmission(BaseModel):
    """A submission that could not be evaluated; applying the re-score marks it as failed."""

    submission: uuid.UUID
    method: str
    published: bool
    reason: str


class ImageNumbers(BaseModel):
    """Numbers of test images before and after a re-score."""

    before: Count
    after: Count
    differ: bool = Field(description="Whether they are not the same images.")


class Rescore(FromObject):
    """A re-score: submissions are evaluated again, and leaderboards do not change until it is applied."""

    id: uuid.UUID
    challenge: ChallengeName
    ground_truth_version: Count
    edition_version: Count = Field(description="Number of the version of the challenge's edition, which has the rules.")
    edition_changes: list[RuleChange] | None = Field(
        description="How the rules change; null unless the re-score is for a changed edition."
    )
    evaluator_version: str | None = Field(description="Version of the evaluator; null until a worker has started.")
    submission: uuid.UUID | None = Field(
        description="Id of the submission that is evaluated again; null for all submissions."
    )
    reason: str
    state: RescoreState
    apply_requested: bool = Field(
        description="Whether applying was requested; `state` becomes `applied` when it is done."
    )
    done: Count = Field(description="Number of submissions that have been evaluated.")
    total: Count = Field(description="Number of submissions, including those that were scored in the meantime.")
    created_at: Instant
    finished_at: Instant | None
    failure: str | None = Field(description="Why the re-score failed; null unless it did.")
    attention: list[str] = Field(
        description="Why applying it has to be confirmed with `confirm`; empty if it does not."
    )
    images: ImageNumbers | None = Field(description="Numbers of test images; null until the re-score is ready.")
    scored: Count | None = Field(description="Number of submissions that were scored; null until it is ready.")
    lost: Count | None = Field(description="Number of submissions that would lose results; null until it is ready.")
    competitions: list[CompetitionSummary] = Field(
        description="Summary by competition. Empty until the re-score is ready."
    )
    changes: list[ScoreChange] = Field(
        description="Submissions whose scores or ranks change, by competition, then by new rank; unpublished "
        "submissions last. Empty until the re-score is ready."
    )
    failures: list[FailedSubmission] = Field(
        description="Submissions that could not be evaluated. Empty until the re-score is ready."
    )


class RescoreSummary(FromObject):
    """A re-score, as shown in lists."""

    id: uuid.UUID
    ground_truth_version: Count = Field(validation_alias=AliasPath("ground_truth_version", "number"))
    edition_version: Count
    changes_edition: bool
    evaluator_version: str | None
    submission: uuid.UUID | None = Field(validation_alias="submission_id")
    reason: str
    state: RescoreState
    created_at: Instant
    finished_at: Instant | None


class RescoreEvent(BaseModel):
    """An event of the stream, sent at each change."""

    state: RescoreState
    apply_requested: bool
    done: Count
    total: Count
