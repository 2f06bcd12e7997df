"""Draws what submissions found on the images of their challenge's showcase.

It opens no ground truth, only the public image sets, and imports nothing that reads it.
"""

import logging
import uuid
from typing import BinaryIO

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.challenges.ground_truth import current_image_sets
from vocboard.app.challenges.phases import edition_of_phase, phase_with_id
from vocboard.app.challenges.queries import challenge_with_phases
from vocboard.app.database import Database
from vocboard.app.evaluations import showcase
from vocboard.app.evaluations.showcase import Wanted
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.showcase import Drawing, draw
from vocboard.evaluator.stored_results.stored_results import StoredResults
from vocboard.worker.process import Process
from vocboard.worker.stored_columns import with_columns

_log = logging.getLogger(__name__)


def run(process: Process, claim: Claim) -> None:
    """Draw a submission. If its results cannot be read, there is nothing to see until something changes.

    Raises:
        OSError, SQLAlchemyError: files or the database are unavailable.
        LostClaimError: another worker has claimed it.
    """
    wanted = _wanted(process.database, claim.key)
    content: Drawing = {}
    if wanted is not None:
        try:
            content = _draw(process, claim.key, wanted)
        except FileNotFoundError as error:  # the archive was removed
            _log.warning("submission %s cannot be drawn: %s", claim.key, error)
        except (OSError, SQLAlchemyError):
            raise
        except (Exception, SoftTimeLimitExceeded):
            _log.exception("submission %s cannot be drawn", claim.key)
    _finish(process, claim, wanted, content)


def give_up(process: Process, claim: Claim) -> None:
    """Leave a submission without a drawing, because drawing it has stopped workers too often."""
    _finish(process, claim, _wanted(process.database, claim.key), {})


def _wanted(database: Database, submission_id: uuid.UUID) -> Wanted | None:
    """Return what a submission is to be drawn on; None if it is gone, or its challenge has no showcase."""
    with database.reading() as session:
        submission = session.get(Submission, submission_id)
        return None if submission is None else showcase.wanted(session, [submission.phase_id]).get(submission.phase_id)


def _draw(process: Process, submission_id: uuid.UUID, wanted: Wanted) -> Drawing:
    with process.database.reading() as session:
        submission = session.get_one(Submission, submission_id)
        challenge = challenge_with_phases(session, submission.challenge_id)
        phase = phase_with_id(challenge, submission.phase_id)
        edition, image_sets = edition_of_phase(challenge, phase), current_image_sets(session, phase)
        uploaded = submission.uploaded

    def use(file: BinaryIO) -> Drawing:
        stored = StoredResults(file, edition, image_sets, classes=uploaded.segmentation_classes)
        return draw(stored.results, edition, image_sets, wanted.images, stored.label_map)

    return with_columns(uploaded, process, edition, image_sets, use)


def _finish(process: Process, claim: Claim, wanted: Wanted | None, content: Drawing) -> None:
    def store(session: Session) -> None:
        if wanted is not None:
            showcase.store(session, claim.key, wanted.basis, content)
        jobs.finish(session, claim)

    process.store_result(store)
