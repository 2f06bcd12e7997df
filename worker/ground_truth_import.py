"""Imports uploaded ground truth: claim, decrypt, read, save for workers, store the public part."""

import logging
from functools import partial
from pathlib import Path

from nacl.public import PrivateKey

from vocboard.app.challenges import ground_truth_queue
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.ground_truth_queue import ImportedTruth, TruthClaim
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.app.statistics import diagnosis_queue
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox, purpose_of
from vocboard.app.storage.sealed_files import SealError, unseal
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.problems import Problem, Severity
from vocboard.worker import ground_truth_store, leases
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

_log = logging.getLogger(__name__)


def import_next(database: Database, settings: Settings) -> bool:
    """Import the oldest uploaded ground truth; False if none is waiting.

    Versions that can become current without a re-score do so, also if nothing is waiting.

    Problems of the tree are stored for the organiser. Other errors are raised; the import is retried when its lease has
    expired.
    """
    with database.writing() as session:
        claimed = ground_truth_queue.claim(session, lease=settings.lease, attempts=settings.evaluation_attempts)
        if claimed is None:
            return ground_truth_queue.start_scorings(session) > 0
    inbox = GroundTruthInbox(settings.ground_truth_inbox)
    renew = partial(ground_truth_queue.renew, claimed=claimed, lease=settings.lease)
    with leases.renewing_lease(database, renew, lease=settings.lease, of=f"ground truth {claimed.version_id}"):
        try:
            imported = _import(claimed, inbox.path(claimed.version_id), settings)
        except (GroundTruthError, _UnusableUploadError) as error:
            with database.writing() as session:
                done = ground_truth_queue.refuse(session, claimed, error.problems)
        else:
            with database.writing() as session:
                done = ground_truth_queue.finish(session, claimed, imported)
                if done:
                    diagnosis_queue.add_imported(session, claimed.challenge_id, imported.sha256)
                ground_truth_queue.start_scorings(session)
    if done:
        inbox.discard(claimed.version_id)
    else:
        _log.warning("ground truth %s was taken over by another worker", claimed.version_id)
    return True


def sweep(database: Database, settings: Settings) -> None:
    """Do periodic work on ground truth.

    Publish the public key, let versions become current, and remove files of dead processes.
    """
    directory = GroundTruthDirectory(settings)
    directory.private_key()
    with database.writing() as session:
        ground_truth_queue.start_scorings(session)
        waiting = ground_truth_queue.waiting_versions(session)
    GroundTruthInbox(settings.ground_truth_inbox).remove_abandoned(waiting=waiting)
    directory.remove_scratch(but=waiting)


class _UnusableUploadError(Exception):
    """The encrypted upload cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.problems = (Problem("unusable_upload", Severity.ERROR, message),)


def _import(claimed: TruthClaim, sealed: Path, settings: Settings) -> ImportedTruth:
    # Imported here, because processes that evaluate must not import code that opens archives.
    from vocboard.evaluator.ground_truth.reader import import_ground_truth  # noqa: PLC0415
    from vocboard.evaluator.new_edition.sample import is_sample  # noqa: PLC0415
    from vocboard.worker.ground_truth_numbers import in_numbers, numbers_of_other_sets  # noqa: PLC0415

    directory, edition = GroundTruthDirectory(settings), claimed.edition
    scratch = directory.scratch(claimed.version_id, claimed.claim.lease_id)
    try:
        _unseal(sealed, directory.private_key(), purpose_of(claimed.challenge_id, claimed.version_id), scratch)
        read = import_ground_truth(scratch, edition)
        of_others = numbers_of_other_sets(scratch, edition)
    finally:
        scratch.unlink(missing_ok=True)
    truth = read.truth
    truth.save(ground_truth_store.path_of(settings, truth.sha256))
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


def _unseal(sealed: Path, key: PrivateKey, purpose: bytes, target: Path) -> None:
    try:
        with target.open("xb") as file:
            for block in unseal(sealed, key, purpose=purpose):
                file.write(block)
    except FileNotFoundError:
        raise _UnusableUploadError("The uploaded file is missing. Upload it again.") from None
    except SealError as error:
        _log.error("%s: %s", sealed.name, error)
        message = (
            "The upload is damaged, belongs to another challenge, or was encrypted for another worker. Upload it again."
        )
        raise _UnusableUploadError(message) from error
