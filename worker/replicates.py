"""The scores of one result on the replicates of the test images: computed once from evidence, and stored.

The evidence is collected from the archive's columns when statistics first need it, not by evaluations: most submissions
are never published or compared, and participants wait for scores. What is stored is collected again if it is damaged,
of another version or of something else.
"""

import hashlib
import io
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import and_, exists, func, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.models import Challenge, ChallengePhase, EditionVersion, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import on_image_set
from vocboard.app.database import insert_into
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, SecretEvidence
from vocboard.app.leaderboards import statistics_queue as queue
from vocboard.app.leaderboards.models import SecretReplicates
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.submissions.models import FILES_ONLY, Submission, Uploaded
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.weights import REPLICATES, SEED, draw_weights
from vocboard.evaluator.names import Metric
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.evidence_file import EVIDENCE_VERSION, EvidenceFileError, Origin, load_evidence
from vocboard.evaluator.statistics.found import found as found_by
from vocboard.evaluator.statistics.found import positive_images
from vocboard.evaluator.statistics.intervals import MIN_IMAGES, ReplicatedMeasure
from vocboard.evaluator.stored_results.columns_file import ColumnsError, ColumnsFile, ColumnsWriter
from vocboard.worker import ground_truth_files
from vocboard.worker.columns import MAX_EVIDENCE_BYTES, collect
from vocboard.worker.process import Process, UnreadableTruthError

MAX_BYTES = 256 * 1024**2
_SCORES, _BY_CLASS, _BIASES, _FOUND, _FOUND_IN = "scores", "per_class", "biases", "found", "found_in"

_log = logging.getLogger(__name__)
weights_of = lru_cache(maxsize=2)(draw_weights)  # 5 MB for 4,952 images


class NoReplicatesError(Exception):
    """There cannot be replicates of a result.

    Attributes:
        reason: why.
    """

    def __init__(self, reason: Failure) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Source:
    """Input of the replicates of a result.

    Attributes:
        truth_sha256: hash of the ground truth that it was evaluated with.
    """

    result_id: uuid.UUID
    competition: str
    edition: Edition
    truth_sha256: str
    uploaded: Uploaded

    @property
    def origin(self) -> Origin:
        """Source that its evidence must have."""
        return Origin(self.competition, self.truth_sha256, self.uploaded.archive_sha256)

    @property
    def metric(self) -> Metric:
        """The metric that ranks."""
        return self.edition.competitions[self.competition].rules.metric


@dataclass(frozen=True, slots=True)
class Found:
    """Positives that a method finds, by class and image that shows it; see `evaluator.statistics.found`.

    The pairs of a class and an image are the same for all methods that entered the same classes.

    Attributes:
        shares: (n,) the share that is found.
        images: (n,) index of the image.
    """

    shares: np.ndarray[Any, np.dtype[np.float64]]
    images: np.ndarray[Any, np.dtype[np.int32]]

    @classmethod
    def of(cls, by_class: Mapping[str, np.ndarray[Any, np.dtype[np.float64]]]) -> "Found":
        """Return the defined shares of all classes, whatever the order of these."""
        shares = [by_class[name] for name in sorted(by_class)]
        if not shares:
            return cls(np.empty(0), np.empty(0, dtype=np.int32))
        images = [np.flatnonzero(~np.isnan(each)) for each in shares]
        pairs = [each[shown] for each, shown in zip(shares, images, strict=True)]
        return cls(np.concatenate(pairs), np.concatenate(images).astype(np.int32))


@dataclass(frozen=True, slots=True)
class StoredReplicates:
    """The replicates of a result.

    Attributes:
        images: number of test images.
        scores: by class, on the test images.
        per_class: (classes, replicates) scores.
        biases: (classes,) by how much each score is on average too high.
        positive_images: how many test images show each class; see `evaluator.statistics.found`.
        found: what it finds of the positives of each image.
    """

    images: int
    scores: Measure
    per_class: np.ndarray[Any, np.dtype[np.float64]]
    biases: np.ndarray[Any, np.dtype[np.float64]]
    positive_images: Mapping[str, int]
    found: "Found"

    def measure(self) -> ReplicatedMeasure:
        """Return them exactly as `bootstrap.replicate` returns them."""
        return ReplicatedMeasure(self.scores, self.per_class, weights_of(self.images), self.biases)


def sources(session: Session, result_ids: list[uuid.UUID]) -> Mapping[uuid.UUID, Source]:
    """Return what the replicates of some results are computed from; nothing of those whose ground truth is elsewhere.

    Only the challenge's own ground truth counts: an import may say anything about what its results were scored with,
    and must not be compared with the ground truth of another challenge of this server.
    """
    is_here = exists().where(
        GroundTruthVersion.challenge_id == Challenge.id,
        GroundTruthVersion.sha256 == Evaluation.ground_truth_sha256,
    )
    rows = session.execute(
        select(
            CompetitionResult.id,
            CompetitionResult.competition,
            Evaluation.ground_truth_sha256,
            Submission,
            Challenge.edition,
            func.coalesce(EditionVersion.file, Challenge.edition_file),
            ChallengePhase.image_set,
        )
        .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .join(Scoring, Scoring.id == Evaluation.scoring_id)
        .outerjoin(
            EditionVersion,
            and_(EditionVersion.challenge_id == Challenge.id, EditionVersion.number == Scoring.edition_version),
        )
        .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
        .where(CompetitionResult.id.in_(result_ids), is_here)
        .options(FILES_ONLY)
    )
    found = {}
    for result_id, competition, truth, submission, name, file, image_set in rows:
        edition = on_image_set(edition_from(name, file), image_set)
        found[result_id] = Source(result_id, competition, edition, truth, submission.uploaded)
    return found


def comparable_sources(session: Session, result_ids: Sequence[uuid.UUID | None]) -> Mapping[uuid.UUID, Source]:
    """Return what the replicates of results that are compared with each other are computed from.

    Raises:
        NoReplicatesError: they were evaluated with several ground truths, or by nothing that is known here.
    """
    found = sources(session, [result_id for result_id in result_ids if result_id is not None])
    if len(found) != len(result_ids):
        raise NoReplicatesError(Failure.GROUND_TRUTH_ELSEWHERE)
    if len({source.truth_sha256 for source in found.values()}) != 1:
        raise NoReplicatesError(Failure.SEVERAL_GROUND_TRUTHS)
    return found


def load(session: Session, source: Source) -> StoredReplicates | None:
    """Return stored replicates; None if there are none, or they were computed otherwise."""
    content = session.scalar(select(SecretReplicates.content).where(SecretReplicates.result_id == source.result_id))
    if content is None:
        return None
    try:
        columns = ColumnsFile(io.BytesIO(content))
        header = columns.header
        if header["of"] != _identity(source):
            return None
        scores = columns.array(_SCORES, np.float64).tolist()
        measure = Measure(source.metric, dict(zip(header["classes"], scores, strict=True)))
        per_class = columns.array(_BY_CLASS, np.float64, columns=REPLICATES)
        parts = Found(columns.array(_FOUND, np.float64), columns.array(_FOUND_IN, np.int32))
        biases, shown = columns.array(_BIASES, np.float64), header["positive_images"]
        return StoredReplicates(header["images"], measure, per_class, biases, shown, parts)
    except (ColumnsError, LookupError, ValueError, TypeError) as error:
        _log.warning("replicates of result %s are computed again: %s", source.result_id, error)
        return None


def compute(process: Process, source: Source) -> StoredReplicates:
    """Compute the replicates of a result and store them.

    Raises:
        NoReplicatesError: there cannot be any.
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `columns.collect`.
    """
    evidence = evidence_of(process, source)
    if evidence.images < MIN_IMAGES:
        raise NoReplicatesError(Failure.TOO_FEW_IMAGES)
    rules = source.edition, source.edition.competitions[source.competition]
    drawn = replicate(evidence, source.metric, *rules, weights_of(evidence.images))
    shown, parts = positive_images(evidence, *rules), Found.of(found_by(evidence, *rules))
    replicates = StoredReplicates(evidence.images, drawn.measure, drawn.per_class, drawn.biases, shown, parts)
    content = _packed(source, replicates)
    with process.database.writing() as session:
        _replace(session, SecretReplicates, source.result_id, content=content)
    return replicates


def evidence_of(process: Process, source: Source) -> Evidence:
    """Return the evidence of a result, which is collected from its archive and stored if it is missing.

    Raises:
        NoReplicatesError, UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for
            `compute`.
    """
    with process.database.reading() as session:
        query = select(SecretEvidence.sha256, SecretEvidence.content)
        row = session.execute(query.where(SecretEvidence.result_id == source.result_id)).one_or_none()
    if row is not None:
        try:
            if hashlib.sha256(row.content).hexdigest() != row.sha256:
                raise EvidenceFileError("the content does not match its hash")
            return load_evidence(io.BytesIO(row.content), source.origin)
        except EvidenceFileError as error:
            _log.warning("evidence of result %s is collected again: %s", source.result_id, error)
    try:
        truth = ground_truth_files.load(process.settings, source.truth_sha256)
    except OSError as error:
        raise UnreadableTruthError(error) from None
    content = collect(source.uploaded, process, source.edition, truth, source.competition)
    if content is None:
        raise NoReplicatesError(Failure.GROUND_TRUTH_ELSEWHERE)
    if len(content) <= MAX_EVIDENCE_BYTES:
        with process.database.writing() as session:
            sha256 = hashlib.sha256(content).hexdigest()
            _replace(session, SecretEvidence, source.result_id, sha256=sha256, content=content)
    return load_evidence(io.BytesIO(content), source.origin)


def _replace(
    session: Session, table: type[SecretEvidence] | type[SecretReplicates], result_id: uuid.UUID, **values: object
) -> None:
    """Store a row, unless its result was deleted in the meantime. Another job may store the same at this moment."""
    if session.scalar(select(CompetitionResult.id).where(CompetitionResult.id == result_id)) is None:
        return
    adding = insert_into(session, table).values(result_id=result_id, **values)
    session.execute(adding.on_conflict_do_update(index_elements=["result_id"], set_=values))


def _identity(source: Source) -> list[Any]:
    origin = source.origin
    drawn = [REPLICATES, SEED, EVIDENCE_VERSION, queue.VERSION, source.metric.value]
    return [*drawn, origin.competition, origin.ground_truth, origin.results]


def _packed(source: Source, replicates: StoredReplicates) -> bytes:
    file = io.BytesIO()
    writer = ColumnsWriter(file.write, limit=MAX_BYTES)
    scores = replicates.scores.per_class
    writer.add(_SCORES, np.array(list(scores.values())))
    writer.add(_BY_CLASS, replicates.per_class)
    writer.add(_BIASES, replicates.biases)
    writer.add(_FOUND, replicates.found.shares)
    writer.add(_FOUND_IN, replicates.found.images)
    writer.finish(
        {
            "of": _identity(source),
            "images": replicates.images,
            "classes": list(scores),
            "positive_images": dict(replicates.positive_images),
        }
    )
    if not writer.is_complete:
        raise NoReplicatesError(Failure.TOO_LARGE)
    return file.getvalue()
