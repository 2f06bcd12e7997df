"""What the API says of submissions and their scores."""

import uuid
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas.values import Fraction, Instant
from vocboard.app.submissions.models import FlickrImages, State, TrainingAnnotation
from vocboard.evaluator.editions import Declaration, Metric, Task
from vocboard.evaluator.scores import CurveKind


class Method(BaseModel):
    """What was submitted."""

    name: str
    description: str
    contributors: str
    affiliation: str
    training_data: str
    training_annotation: TrainingAnnotation | None = Field(description="null if it was not declared.")
    flickr_images: FlickrImages | None = Field(description="null if it was not declared.")
    flickr_image_count: int = Field(description="How many are listed for the organisers.")


class Archive(BaseModel):
    """The uploaded file."""

    name: str
    bytes: int
    sha256: str


class SecondaryMeasure(BaseModel):
    """Another metric of the same results."""

    per_class: dict[str, Fraction]
    mean: Fraction


class ClassCounts(BaseModel):
    """Counts behind one class's score."""

    positives: int
    results: int
    final_recall: Fraction
    final_precision: Fraction


class CompetitionScores(BaseModel):
    """The scores of one competition."""

    task: Task
    metric: Metric
    per_class: dict[str, Fraction] = Field(description="Empty at the detail level `mean`.")
    mean: Fraction
    mean_over: int = Field(description="How many classes the mean is over: those where the metric is defined.")
    secondary: dict[Metric, SecondaryMeasure]
    not_entered: list[str]
    details: dict[str, ClassCounts] = Field(
        description="By class; for organisers of the challenge, for others empty below the detail level `everything`."
    )
    confusion_matrix: list[list[Fraction]] | None = Field(
        description="Fractions of the true class's pixels; rows truth, columns result, background first; null but for "
        "segmentation, and below the detail level `curves`. Two decimals in steps that grow as the images with the "
        "class become fewer, null where they are very few; at `everything` exact, with the challenge's decimals."
    )
    confusion_counts: list[list[int]] | None = Field(
        description="The same in pixels; null below the detail level `everything`."
    )


class Evaluation(BaseModel):
    """What the scores were computed with."""

    created_at: Instant
    evaluator_version: str
    ground_truth_version: int = Field(description="Its number.")
    ground_truth_sha256: str | None = Field(
        description="For organisers of the challenge; for others null below the detail level `everything`."
    )
    archive_sha256: str


class SubmissionSummary(BaseModel):
    """A submission in a list."""

    id: uuid.UUID
    challenge: str
    state: State
    method_name: str
    entered: dict[str, list[str]] = Field(description="Classes by competition.")
    created_at: Instant
    published_at: Instant | None
    not_declared: list[Declaration] = Field(description="What its competitions ask for and its owner left open.")
    submitted_by: str | None = Field(description="The person's name; for organisers.")


class SubmissionDetails(SubmissionSummary):
    """One submission. What only its owner and the organisers may know is null for everyone else.

    The answer to a change made with a token that lacks the scope `read` has no `method` and no scores.
    """

    method: Method | None
    segmentation_classes: list[str] | None = Field(description="As declared; null for all.")
    queue_position: int | None = Field(description="1 for the next; null unless it waits.")
    finished_at: Instant | None
    failure: str | None = Field(description="What went wrong on our side; the quota was given back.")
    archive: Archive | None
    warnings: list[UploadProblem] | None
    evaluation: Evaluation | None
    competitions: dict[str, CompetitionScores] = Field(description="Empty until it is scored.")


class Declarations(BaseModel):
    """What the owner adds or corrects of what was declared; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    training_data: str | None = None
    training_annotation: (
        Literal[TrainingAnnotation.SEGMENTATION_ONLY, TrainingAnnotation.OTHER_ANNOTATION, ""] | None
    ) = None
    flickr_images: Literal[FlickrImages.NO, FlickrImages.YES, ""] | None = None
    flickr_image_hashes: str | None = Field(None, description="The list that `vocboard hash-images` prints.")


class SubmissionEvent(BaseModel):
    """What the stream of events says: the state, each time that it or the place in the queue changes."""

    state: State
    queue_position: int | None


class AnonymousLink(BaseModel):
    """An address that shows a result without names."""

    url: str = Field(description="Shown once. A new one ends the earlier.")


class PrecisionRecallPoints(BaseModel):
    """The interpolated precision at eleven recalls; at the detail level `everything` every corner of the curve."""

    recall: list[Fraction]
    precision: list[Fraction]


class RocPoints(BaseModel):
    """The true positive rate at eleven false positive rates; at the detail level `everything` every corner."""

    false_positive_rate: list[Fraction]
    true_positive_rate: list[Fraction]


class Curves(BaseModel):
    """The curves of one competition."""

    competition: str
    kind: CurveKind | None = Field(description="What the curves are of; null if there are none.")
    curves: dict[str, PrecisionRecallPoints | RocPoints] = Field(
        description="By class; empty for segmentation and below the detail level `curves`."
    )
