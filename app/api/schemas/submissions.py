"""Schemas for submissions and their scores."""

import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AliasPath, BaseModel, ConfigDict, Field, WithJsonSchema

from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas.values import (
    ChallengeName,
    CompetitionKey,
    Count,
    Fraction,
    FromObject,
    Given,
    Imported,
    Instant,
    Sha256,
)
from vocboard.app.challenges.models import ChallengeFile
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.visible import DiagnosisState
from vocboard.app.submissions.forms import (
    MAX_AFFILIATION_LENGTH,
    MAX_CONTRIBUTORS_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_METHOD_NAME_LENGTH,
    MAX_TRAINING_STATEMENT_LENGTH,
)
from vocboard.app.submissions.models import FlickrImages, State, TrainingAnnotation
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.showcase import Drawing


class Method(FromObject):
    """The submitted method."""

    id: uuid.UUID = Field(
        validation_alias="method_id", description="Id of the method; `/methods/{id}` is its permanent page."
    )
    name: str = Field(validation_alias=AliasPath("method", "name"))
    description: str
    contributors: str
    affiliation: str
    training_data: str
    training_annotation: TrainingAnnotation | None = Field(
        description="Which annotation the method was trained with; null if not declared."
    )
    flickr_images: FlickrImages | None = Field(
        description="Whether images from flickr were used for training; null if not declared."
    )
    flickr_image_count: Count = Field(
        validation_alias="flickr_count", description="Number of hashes of flickr images that were declared."
    )
    declarations: dict[str, str | float] = Field(
        description="All declarations that were made, by name: text, the value of a choice, or a number."
    )
    paper_url: str = Field(validation_alias=AliasPath("method", "paper_url"))
    code_url: str = Field(validation_alias=AliasPath("method", "code_url"))


class Archive(FromObject):
    """The uploaded file."""

    name: str = Field(validation_alias="archive_name")
    bytes: Count = Field(validation_alias="archive_bytes")
    sha256: Sha256 = Field(validation_alias="archive_sha256")


class SecondaryMeasure(FromObject):
    """The scores by one secondary metric."""

    per_class: dict[str, Fraction]
    mean: Fraction


class ClassCounts(FromObject):
    """Counts of one class, with recall and precision at the end of the ranking."""

    positives: Count
    results: Count
    final_recall: Fraction
    final_precision: Fraction


class Ladder(FromObject):
    """What the Ladder mechanism shows of a score before the phase closes."""

    step: float = Field(description="Step to which scores are rounded, a fraction.")
    is_new_best: bool = Field(
        description="Whether the mean is better than the best score shown to its owner before, by more than the step. "
        "Otherwise `mean` is null."
    )
    best: Fraction = Field(
        description="The best score shown to the owner up to this submission. null for everyone else, and if none was "
        "shown."
    )


class CompetitionScores(FromObject):
    """The scores of one competition."""

    task: Task
    metric: Metric = Field(description="Primary metric, by which the competition is ranked.")
    per_class: dict[str, Fraction] = Field(description="Scores by class; empty at the detail level `mean`.")
    mean: Fraction
    mean_over: Count = Field(description="Number of classes in the mean: those for which the metric is defined.")
    decimals: Count = Field(description="Decimal places to which the challenge rounds scores, which are fractions.")
    secondary: dict[Metric, SecondaryMeasure] = Field(description="Scores by secondary metric.")
    not_entered: list[str] = Field(description="Classes that were not entered.")
    details: dict[str, ClassCounts] = Field(
        description="Counts by class. Visible to organisers, and to others at the detail level `everything`; otherwise "
        "empty."
    )
    confusion_matrix: list[list[Fraction]] | None = Field(
        description="Confusion matrix as fractions of the true class's pixels: rows are the ground truth, columns the "
        "result, background first. Only for segmentation, from the detail level `curves` on. Rounded to two decimals "
        "or coarser (`confusion_steps`), null for classes in fewer than 40 images; exact at `everything`, with the "
        "challenge's decimals."
    )
    confusion_steps: list[Fraction] | None = Field(
        description="Steps to whose multiples the rows of `confusion_matrix` are rounded, at most 0.1; null for rows "
        "without shares. null at `everything`, where shares are exact."
    )
    confusion_counts: list[list[int]] | None = Field(
        description="The confusion matrix in pixels; null below the detail level `everything`."
    )
    imported: Imported
    ladder: Ladder | None = Field(
        description="Present while the Ladder mechanism hides scores from you; `mean` is then rounded to its step."
    )


class Evaluation(FromObject):
    """How the scores were computed."""

    created_at: Instant
    evaluator_version: str
    extensions: list[str] = Field(
        description="Name and version of each extension of the evaluator that has computed scores: `keypoints 0.1.0`."
    )
    ground_truth_version: Count = Field(description="Number of the ground truth version.")
    edition_version: Count = Field(description="Number of the version of the challenge's edition, which has the rules.")
    ground_truth_sha256: Sha256 | None = Field(
        description="Hash of the ground truth. Visible to organisers, and to others at the detail level `everything`; "
        "otherwise null."
    )
    archive_sha256: Sha256


class SubmittingTeam(FromObject):
    """Whose a submission is."""

    id: uuid.UUID
    name: str = Field(description="Empty for a person who takes part alone.")


class SubmissionSummary(FromObject):
    """A submission, as shown in lists."""

    id: uuid.UUID
    challenge: ChallengeName
    phase: str = Field(description="Key of the phase that it was submitted in.")
    is_rehearsal: bool = Field(
        description="Whether it is an organiser's test of the challenge, which no leaderboard shows."
    )
    state: State
    method_name: str
    team: SubmittingTeam
    entered: dict[str, list[str]] = Field(description="Classes entered, by competition.")
    created_at: Instant
    published_at: Instant | None
    published_competitions: list[str] = Field(description="Keys of the competitions whose leaderboards list it.")
    not_declared: list[str] = Field(
        description="Names of declarations that the competitions ask for, and that the owner has not made."
    )
    submitted_by: str | None = Field(description="Name of the user; null unless you organise the challenge.")


class SubmissionDetails(SubmissionSummary):
    """One submission. Fields that only its owner and the organisers may see are null for everyone else.

    If the token lacks the scope `read`, the response to a change has no `method` and no scores.
    """

    method: Method | None
    segmentation_classes: list[str] | None = Field(description="Classes entered for segmentation; null for all.")
    queue_position: Count | None = Field(description="Position in the queue, 1 for the next; null unless queued.")
    finished_at: Instant | None
    technical_reason: str | None = Field(
        description="Type and location of the error that ended the evaluation. Visible to organisers."
    )
    held_back: bool | None = Field(
        description="Whether an organiser has unpublished it, so that it cannot be published. Visible to the owner and "
        "the organisers."
    )
    moderation_reason: str | None = Field(
        description="Why organisers have disqualified or unpublished it. Visible to the owner and the organisers."
    )
    same_content: list[uuid.UUID] | None = Field(
        description="Submissions of other people with the same archive or the same results. Visible to organisers."
    )
    failure: str | None = Field(
        description="Why the evaluation failed on the server. A failed submission does not count against the quota."
    )
    note: str | None = Field(description="The owner's private note; null for everyone else.")
    archive: Archive | None
    warnings: list[UploadProblem] | None
    evaluation: Evaluation | None
    competitions: dict[str, CompetitionScores] = Field(
        description="Scores by competition; empty until the submission is scored."
    )


_DECLARED = {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}, {"type": "null"}]}


class Changes(BaseModel):
    """Changes to what the owner says about a submission. Omitted fields are unchanged.

    Other fields are declarations that the challenge's edition defines, by name.
    """

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, Annotated[Any, WithJsonSchema(_DECLARED)]]  # checked with the edition

    training_data: str | None = Field(None, json_schema_extra={"maxLength": MAX_TRAINING_STATEMENT_LENGTH})
    training_annotation: (
        Literal[TrainingAnnotation.SEGMENTATION_ONLY, TrainingAnnotation.OTHER_ANNOTATION, ""] | None
    ) = None
    flickr_images: Literal[FlickrImages.NO, FlickrImages.YES, ""] | None = None
    flickr_image_hashes: str | None = Field(
        None, description="Hashes of the flickr images that were used, as `vocboard hash-images` prints them."
    )
    method_name: str | None = Field(
        None,
        description="Name of the method, for all of its versions.",
        json_schema_extra={"maxLength": MAX_METHOD_NAME_LENGTH},
    )
    method_description: str | None = Field(None, json_schema_extra={"maxLength": MAX_DESCRIPTION_LENGTH})
    contributors: str | None = Field(None, json_schema_extra={"maxLength": MAX_CONTRIBUTORS_LENGTH})
    affiliation: str | None = Field(None, json_schema_extra={"maxLength": MAX_AFFILIATION_LENGTH})
    paper_url: str | None = Field(None, description="http(s) URL of the paper, for all versions of the method.")
    code_url: str | None = Field(None, description="http(s) URL of the code, for all versions of the method.")
    note: str | None = Field(None, description="Private note, visible only to you and your team.")


class Publishing(Given):
    """A request to publish a submission."""

    competitions: list[str] | None = Field(
        None,
        max_length=100,
        description="Keys of the competitions to publish the submission in; by default, all that it entered.",
    )
    replace: bool = Field(
        False, description="Whether to unpublish the published results of the same method in these competitions."
    )


class Unpublishing(Given):
    """A request to unpublish a submission."""

    competitions: list[str] | None = Field(
        None,
        max_length=100,
        description="Keys of the competitions to remove the submission from; by default, all. Only for the owner.",
    )
    reason: str = Field("", max_length=1000, description="Reason that is shown to the owner. Only for organisers.")


class AnonymousLink(BaseModel):
    """A URL that shows a result without names."""

    url: str = Field(description="Shown only once. Creating a new link invalidates the previous one.")


_STEP = Field(description="Step to whose multiples the points are rounded; null if they are exact, or there are none.")
_LEFT_OUT = Field(description="Whether there are no points because the class has too few positives for steps of 0.1.")


class PrecisionRecallPoints(BaseModel):
    """Interpolated precision at eleven recalls, below 0.5 that at 0.5; at the level `everything`, the exact curve."""

    recall: list[Fraction]
    precision: list[Fraction]
    step: Fraction = _STEP
    is_left_out: bool = _LEFT_OUT


class RocPoints(BaseModel):
    """True positive rate at eleven false positive rates; at the detail level `everything`, the exact curve."""

    false_positive_rate: list[Fraction]
    true_positive_rate: list[Fraction]
    step: Fraction = _STEP
    is_left_out: bool = _LEFT_OUT


class CompetitionCurves(BaseModel):
    """The curves of one competition."""

    competition: CompetitionKey
    kind: CurveKind | None = Field(description="Kind of the curves; null if there are none.")
    curves: dict[str, PrecisionRecallPoints | RocPoints] = Field(
        description="Curves by class; empty for segmentation and below the detail level `curves`."
    )
    imported: Imported


class Diagnosis(BaseModel):
    """The errors in the results of one competition. docs/statistics.md explains the names."""

    competition: CompetitionKey
    is_known: bool = Field(description="Whether the diagnosis is available to you: whether `state` is `known`.")
    state: DiagnosisState | None = Field(
        description="`waiting`: it will be computed when nothing else is waiting. `failed`: it could not be computed, "
        "and no organiser has requested it again. `none`: the submission is withdrawn, or belongs to an imported "
        "challenge whose ground truth is not on this server. null below the detail level `curves`."
    )
    failure: DiagnosisFailure | None = Field(
        description="Why the diagnosis could not be computed; null unless `state` is `failed`."
    )
    explanation: str | None = Field(description="`failure` in words.")
    shares: dict[str, dict[str, float] | None] = Field(
        description="Kinds of the first results of each class (`first_results`) and of the objects (`objects`), with "
        "each image counted once: fractions in steps of 0.05, with noise, so that they need not sum to 1. null for "
        "fewer than about 200 images; empty for segmentation."
    )
    exact: dict[str, Any] | None = Field(
        description="The diagnosis that `vocboard evaluate --diagnose --json` prints, without the metrics of single "
        "classes at other overlaps and of some objects. null below the detail level `everything`."
    )


class FoundResult(BaseModel):
    """A result on an image. What its task does not have is null."""

    class_name: str = Field(alias="class", description="A part for person layout.")
    confidence: float | None = None
    box: tuple[float, float, float, float] | None = Field(
        None, description="Left, top, right, bottom in pixels, as in detection results."
    )
    outline: str | None = Field(None, description="Path in SVG's syntax, in pixels, simplified.")
    person: Count | None = Field(None, description="Index of the person in the image, from 1.")
    share: float | None = Field(None, description="Share of the label map's pixels.")


class FoundOnImage(BaseModel):
    """What a submission found on an image."""

    image: str = Field(description="Identifier in the test set.")
    path: str = Field(description="Path of the picture on this server.")
    size: tuple[int, int] | None = Field(description="Width and height in pixels; null if unknown.")
    results: list[FoundResult] = Field(description="The most confident ones, in this order.")
    label_map: str | None = Field(description="PNG as `data:` address, made smaller; null for other tasks.")


class Showcase(BaseModel):
    """What a submission found on the images of its challenge's showcase."""

    competitions: dict[str, list[FoundOnImage]] = Field(description="By key of the competition.")

    @classmethod
    def of_drawings(cls, slug: str, images: Mapping[str, ChallengeFile], drawings: Drawing) -> Self:
        """Return drawings in the order of the images; those of images that are gone are left out."""
        return cls(
            competitions={
                key: [
                    FoundOnImage(
                        image=name,
                        path=f"/api/v1/challenges/{slug}/files/{file.id}",
                        size=by_image[name].get("size"),
                        results=[FoundResult(**row) for row in by_image[name]["rows"]],
                        label_map=f"data:image/png;base64,{by_image[name]['map']}" if "map" in by_image[name] else None,
                    )
                    for name, file in images.items()
                    if name in by_image
                ]
                for key, by_image in drawings.items()
            }
        )
