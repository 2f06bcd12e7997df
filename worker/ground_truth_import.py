"""Imports uploaded ground truth: claim, decrypt, read, save for workers, store the public part."""

import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nacl.public import PrivateKey

from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import GroundTruthVersion
from vocboard.app.evaluations import diagnosis_tasks, scorings
from vocboard.app.evaluations import ground_truth_queue as queue
from vocboard.app.evaluations.ground_truth_queue import ImportedTruth
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.rescores import queue as rescores
from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox, purpose_of
from vocboard.app.storage.local_files import StoreUnavailableError
from vocboard.app.storage.sealed_files import SealError, unseal
from vocboard.app.storage.stores import ground_truth_inbox
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.problems import Problem, Severity
from vocboard.worker import ground_truth_files
from vocboard.worker.ground_truth_directory import GroundTruthDirectory
from vocboard.worker.process import Process, UnreadableTruthError

_log = logging.getLogger(__name__)


def run(process: Process, claim: Claim) -> None:
    """Import an uploaded version of ground truth, and let versions become current that need no re-score.

    Problems of the tree are stored for the organiser. Other errors are raised; the import is retried when its lease has
    ended, and waits for a store that is away.
    """
    settings, database = process.settings, process.database
    with database.writing() as session:
        edition = queue.begin(session, claim)
        version = session.get(GroundTruthVersion, claim.key)
        if edition is None or version is None:
            scorings.start_scorings(session)
            jobs.finish(session, claim)
            return
    inbox = ground_truth_inbox(settings)
    try:
        imported = _import(claim, version.challenge_id, edition, inbox, settings)
    except (GroundTruthError, _UnusableUploadError) as error:
        with database.writing() as session:
            queue.refuse(session, claim, error.problems)
            rescores.add_waiting(session, claim.key)
    except StoreUnavailableError as error:
        raise UnreadableTruthError(error) from None
    else:
        with database.writing() as session:
            queue.finish(session, claim, imported)
            rescores.add_waiting(session, claim.key)
            # An import may say anything about what its results were scored with. So what counts is that this
            # challenge's own ground truth has the hash, not that any on this server has.
            of_challenge = Submission.challenge_id == version.challenge_id
            diagnosis_tasks.add(session, of_challenge, Evaluation.ground_truth_sha256 == imported.sha256)
            scorings.start_scorings(session)
    inbox.discard(claim.key)


def give_up(process: Process, claim: Claim) -> None:
    """Refuse a version whose import has stopped workers too often."""
    with process.database.writing() as session:
        queue.give_up(session, claim)
        rescores.add_waiting(session, claim.key)


def clean_up(process: Process) -> None:
    """Publish the public key, and remove files of dead processes."""
    directory = GroundTruthDirectory(process.settings)
    directory.private_key()
    ground_truth_files.move(process.settings)
    scratch = directory.scratch_files()
    with process.database.reading() as session:
        waiting = queue.waiting_versions(session)
    ground_truth_inbox(process.settings).remove_abandoned(waiting=waiting)
    directory.remove_scratch(scratch, but=waiting)
    if not waiting:
        directory.remove_former_keys()


class _UnusableUploadError(Exception):
    """The encrypted upload cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.problems = (Problem("unusable_upload", Severity.ERROR, message),)


def _import(
    claim: Claim, challenge_id: uuid.UUID, edition: Edition, inbox: GroundTruthInbox, settings: Settings
) -> ImportedTruth:
    # Imported here, because processes that evaluate must not import code that opens archives.
    from vocboard.evaluator.ground_truth.reader import import_ground_truth  # noqa: PLC0415
    from vocboard.evaluator.new_edition.sample import is_sample  # noqa: PLC0415
    from vocboard.worker.ground_truth_numbers import in_numbers, numbers_of_other_sets  # noqa: PLC0415

    directory = GroundTruthDirectory(settings)
    scratch = directory.scratch(claim.key, claim.lease_id)
    try:
        with _opened(inbox, claim.key) as sealed:
            _unseal(sealed, directory.private_keys(), purpose_of(challenge_id, claim.key), scratch)
        read = import_ground_truth(scratch, edition)
        of_others = numbers_of_other_sets(scratch, edition)
    finally:
        scratch.unlink(missing_ok=True)
    truth = read.truth
    ground_truth_files.save(settings, truth)
    return ImportedTruth(
        sha256=truth.sha256,
        summary=in_numbers(read, edition) | of_others,
        competitions=tuple(
            key for key, one in edition.competitions.items() if (one.task, one.image_set) in truth.truths
        ),
        image_sets=pack_image_sets(truth.image_sets),
        warnings=read.warnings,
        is_example=is_sample(truth.image_sets),
    )


@contextmanager
def _opened(inbox: GroundTruthInbox, version_id: uuid.UUID) -> Iterator[Path]:
    with ExitStack() as stack:
        try:
            sealed = stack.enter_context(inbox.opened(version_id))
        except FileNotFoundError:
            raise _UnusableUploadError("The uploaded file is missing. Upload it again.") from None
        yield sealed


def _unseal(sealed: Path, keys: Sequence[PrivateKey], purpose: bytes, target: Path) -> None:
    try:
        with target.open("xb") as file:
            for block in unseal(sealed, keys, purpose=purpose):
                file.write(block)
    except SealError as error:
        _log.error("%s: %s", sealed.name, error)
        message = (
            "The upload is damaged, belongs to another challenge, or was encrypted for another worker. Upload it again."
        )
        raise _UnusableUploadError(message) from error
