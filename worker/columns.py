"""Evaluates columns. This process can read the ground truth, so it does not open archives; see `stored_columns`."""

from collections.abc import Mapping
from typing import BinaryIO

from vocboard.app.evaluations.service import Diagnosis
from vocboard.app.submissions.models import Uploaded
from vocboard.evaluator.diagnosis.summary import summarise
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.results import Results
from vocboard.evaluator.scoring import Confusions, Evaluation, score
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.evidence_file import Origin, store_evidence
from vocboard.evaluator.stored_results.stored_results import StoredResults
from vocboard.worker.process import Process
from vocboard.worker.stored_columns import with_columns

MAX_EVIDENCE_BYTES = 256 * 1024**2  # of a competition; more is not stored, but collected again when it is needed


def evaluate(uploaded: Uploaded, process: Process, edition: Edition, truth: GroundTruth) -> Evaluation:
    """Score a submission.

    Raises:
        UnscorableError: the archive was read again and has problems.
        DamagedArchiveError: the archive is needed, but its content does not match its hash.
        StoppedProcessError: the reading process ended.
        MemoryError: reading or evaluating needs too much memory.
        OSError: files cannot be read, or the disk is full.
    """

    def use(file: BinaryIO) -> Evaluation:
        results, matrices = _read(file, uploaded, edition, truth)
        return score(results, edition, truth, confusions=matrices)

    return with_columns(uploaded, process, edition, truth.image_sets, use)


def collect(
    uploaded: Uploaded, process: Process, edition: Edition, truth: GroundTruth, competition: str
) -> bytes | None:
    """Collect the evidence of one competition; None if it was not entered, or the ground truth lacks it.

    Raises:
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `evaluate`.
    """

    def use(file: BinaryIO) -> bytes | None:
        results, matrices = _read(file, uploaded, edition, truth)
        chosen = {key: entry for key, entry in results.items() if key == competition}
        evidence = collect_evidence(chosen, edition, truth, matrices).get(competition)
        origin = Origin(competition, truth.sha256, uploaded.archive_sha256)
        return None if evidence is None else store_evidence(evidence, origin)

    return with_columns(uploaded, process, edition, truth.image_sets, use)


def diagnose(
    uploaded: Uploaded, process: Process, edition: Edition, truth: GroundTruth, *, with_boundaries: bool
) -> Mapping[str, Diagnosis]:
    """Diagnose the errors of a submission, by competition.

    Args:
        with_boundaries: whether to count pixels near boundaries; see `Confusions`.

    Raises:
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `evaluate`.
    """

    def use(file: BinaryIO) -> Mapping[str, Diagnosis]:
        results, matrices = _read(file, uploaded, edition, truth, with_boundaries=with_boundaries)
        found = {}
        for key, entry in results.items():
            competition = entry.competition
            part = competition.task, competition.image_set
            if part in truth.truths:
                public, counts = truth.image_sets.sets[part], matrices.counts(competition)
                summary = summarise(entry, truth.truths[part], edition, public, counts)
                found[key] = Diagnosis(summary.exact, summary.by_image)
        return found

    return with_columns(uploaded, process, edition, truth.image_sets, use)


def _read(
    file: BinaryIO, uploaded: Uploaded, edition: Edition, truth: GroundTruth, *, with_boundaries: bool = False
) -> tuple[Results, Confusions]:
    stored = StoredResults(file, edition, truth.image_sets, classes=uploaded.segmentation_classes)
    matrices = Confusions(truth, with_boundaries=with_boundaries)
    for competition, image, label_map in stored.label_maps():
        matrices.add(competition, image, label_map)
    return stored.results, matrices
