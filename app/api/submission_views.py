"""Submissions and their scores as the API shows them, limited to what the viewer may see."""

import uuid
from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.accounts.viewer import Identity
from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas import submissions as schemas
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.evaluations.visible import VisibleEvaluation, VisibleResult
from vocboard.app.participating.describing import asked_by_others_alone, not_declared
from vocboard.app.participating.locking import locked
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import Submission
from vocboard.app.web.dependencies import services_of
from vocboard.app.web.identity import ApiIdentity, OrganisingUser, SubmittingUser
from vocboard.app.web.preconditions import require_match
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.definitions import TASKS


def summary(submission: Submission) -> schemas.SubmissionSummary:
    """A submission in its owner's list."""
    return schemas.SubmissionSummary.of(submission, **_common(submission), submitted_by=None)


def organisers_summary(submission: Submission) -> schemas.SubmissionSummary:
    """A submission in the organisers' list."""
    return schemas.SubmissionSummary.of(submission, **_common(submission), submitted_by=submission.user.name)


def details(session: Session, submission: Submission, viewer: User | None) -> schemas.SubmissionDetails:
    """A submission as this viewer may see it."""
    access = queries.access_of(session, submission, viewer)
    own, organised, managed = access.is_own, access.is_organised, access.is_managed
    evaluation = visible_evaluation(session, submission, access)
    keys = queries.visible_competitions(submission, access)
    hidden = asked_by_others_alone(submission, keys)
    classes, common = submission.segmentation_classes, _common(submission)
    common["entered"] = {key: names for key, names in common["entered"].items() if key in keys}
    common["not_declared"] = [name for name in common["not_declared"] if name not in hidden]
    return schemas.SubmissionDetails.of(
        submission,
        **common,
        submitted_by=submission.user.name if managed else None,
        method=_method(submission, hidden),
        segmentation_classes=classes if managed or _declares_classes(submission, keys) else None,
        queue_position=queue.queue_position(session, submission),
        technical_reason=submission.failure_detail if organised else None,
        held_back=submission.held_back_at is not None if managed else None,
        moderation_reason=submission.moderation_reason if managed else None,
        same_content=[copy.id for copy in queries.copies_of(session, submission)] if organised else None,
        note=submission.note if own else None,
        archive=schemas.Archive.model_validate(submission) if managed else None,
        warnings=submission.warnings if managed else None,
        evaluation=schemas.Evaluation.model_validate(evaluation) if evaluation and managed else None,
        competitions=scores_of(evaluation, submission.challenge.decimals) if evaluation else {},
    )


def _method(submission: Submission, hidden: Collection[str]) -> schemas.Method:
    """The method without declarations that would tell in which competitions its result is private."""
    found = schemas.Method.model_validate(submission)
    declared = {name: value for name, value in found.declarations.items() if name not in hidden}
    nothing = {"training_data": "", "training_annotation": None, "flickr_images": None}
    without: dict[str, Any] = {name: value for name, value in nothing.items() if name in hidden}
    count = 0 if "flickr_images" in hidden else found.flickr_image_count
    return found.model_copy(update=without | {"declarations": declared, "flickr_image_count": count})


def _declares_classes(submission: Submission, keys: Collection[str]) -> bool:
    known = queries.edition_of_submission(submission).competitions
    return any(TASKS[known[key].task].needs_declared_classes for key in keys if key in known)


def changed(session: Session, submission: Submission, identity: Identity) -> schemas.SubmissionDetails:
    """A submission after a request that created or changed it; limited to its state without the scope `read`."""
    if identity.reader is not None:
        return details(session, submission, identity.reader)
    known: dict[str, Any] = dict.fromkeys(schemas.SubmissionDetails.model_fields) | dict(summary(submission))
    known |= {"queue_position": queue.queue_position(session, submission), "finished_at": submission.finished_at}
    return schemas.SubmissionDetails(**known | {"competitions": {}})


def accepted(session: Session, submission: Submission, identity: Identity) -> schemas.SubmissionDetails:
    """A submission that was just uploaded: like `changed`, but always with the validation warnings."""
    shown = changed(session, submission, identity)
    return shown.model_copy(update={"warnings": [UploadProblem(**warning) for warning in submission.warnings]})


def scores_of(evaluation: VisibleEvaluation, decimals: int) -> dict[str, schemas.CompetitionScores]:
    """Return the scores by competition.

    Args:
        decimals: of the challenge.
    """
    return {result.competition: _scores(result, evaluation, decimals) for result in evaluation.results}


def _scores(result: VisibleResult, evaluation: VisibleEvaluation, decimals: int) -> schemas.CompetitionScores:
    primary, *secondary = result.measures
    confusion = result.confusion
    return schemas.CompetitionScores.of(
        result,
        metric=primary.metric,
        per_class=primary.per_class,
        mean=primary.mean,
        mean_over=primary.mean_over,
        decimals=decimals,
        secondary={Metric(measure.metric): schemas.SecondaryMeasure.model_validate(measure) for measure in secondary},
        details=result.counts,
        confusion_matrix=confusion.shares if confusion else None,
        confusion_steps=(confusion.steps or None) if confusion else None,
        confusion_counts=(confusion.counts or None) if confusion else None,
        imported=evaluation.imported,
    )


def _common(submission: Submission) -> dict[str, Any]:
    """Return what `SubmissionSummary` has beside attributes of the submission."""
    return {
        "challenge": submission.challenge.slug,
        "phase": queries.phase_of(submission).key,
        "method_name": submission.method.name,
        "entered": {entry.competition: entry.classes for entry in submission.entries},
        "not_declared": [declaration.name for declaration in not_declared(submission)],
    }


class SubmissionToChange:
    """The submission in a request's path, for the user who changes it."""

    def __init__(self, request: Request, user: User, identity: Identity, submission_id: uuid.UUID) -> None:
        self.request, self.services = request, services_of(request)
        self.user, self.submission_id = user, submission_id
        self._identity = identity

    def change(self, *changes: Callable[..., Any], **given: Any) -> schemas.SubmissionDetails:
        """Call service functions in one transaction, and return the submission."""
        with self.services.database.writing() as session:
            require_match(self.request, session, partial(self._lock, session))
            for change in changes:
                change(session, submission_id=self.submission_id, user=self.user, **given)
            return changed(session, queries.get_for(session, self.submission_id, self.user), self._identity)

    def _lock(self, session: Session) -> None:
        submission = locked(session, self.submission_id, self.user, with_person=True)
        session.refresh(submission.method, with_for_update=True)  # which other submissions may have, too


async def _of_submitter(
    request: Request, user: SubmittingUser, identity: ApiIdentity, submission_id: uuid.UUID
) -> SubmissionToChange:
    return SubmissionToChange(request, user, identity, submission_id)


async def _of_organiser(
    request: Request, user: OrganisingUser, identity: ApiIdentity, submission_id: uuid.UUID
) -> SubmissionToChange:
    return SubmissionToChange(request, user, identity, submission_id)


OwnSubmission = Annotated[SubmissionToChange, Depends(_of_submitter)]
ModeratedSubmission = Annotated[SubmissionToChange, Depends(_of_organiser)]
