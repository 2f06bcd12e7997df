"""Evidence in a file: the arrays, compressed, and what they were collected from."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, BinaryIO, TypeVar, get_args

import numpy as np

from vocboard.evaluator.evidence.evidence import ClassEvidence, Evidence, EvidenceByClass
from vocboard.evaluator.evidence.pixels import SegmentationEvidence
from vocboard.evaluator.evidence.ranked_evidence import JudgedResults, LabelledItems, MatchedResults
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.names import Metric
from vocboard.evaluator.stored_results.columns_file import ColumnsError, ColumnsFile, ColumnsWriter
from vocboard.evaluator.tasks.parts import added_classes

EVIDENCE_VERSION = 1  # increase it when the arrays or their meaning change
MAX_BYTES = 1024**3

_KINDS: Mapping[str, type[ClassEvidence]] = {
    **{task.value: of for task, of in added_classes("evidence", ClassEvidence).items()},
    "matched": MatchedResults,
    "labelled": LabelledItems,
    "judged": JudgedResults,
}
_PIXELS = "pixels"


class EvidenceFileError(Exception):
    """The file is not stored evidence, is of another version, or was collected from something else."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Source of evidence.

    Attributes:
        competition: key of the competition.
        ground_truth: hexadecimal SHA-256 of the ground truth; see `GroundTruth.sha256`.
        results: hexadecimal SHA-256 of the archive of results; empty if there is none.
    """

    competition: str
    ground_truth: str
    results: str = ""


def store_evidence(evidence: Evidence, origin: Origin) -> bytes:
    """Return the content of a file.

    Raises:
        ValueError: it is larger than 1 GiB.
        TypeError: the classes have evidence of different kinds, or of one that `_KINDS` does not list.
    """
    file = io.BytesIO()
    writer = ColumnsWriter(file.write, limit=MAX_BYTES)
    header: dict[str, Any] = {
        "evidence": EVIDENCE_VERSION,
        "images": evidence.images,
        "origin": [origin.competition, origin.ground_truth, origin.results],
    }
    if isinstance(evidence, SegmentationEvidence):
        header |= {"kind": _PIXELS, "entered": list(evidence.entered)}
        _write(writer, _PIXELS, evidence.confusions)
    elif isinstance(evidence, EvidenceByClass):
        listed = [["", name, each] for name, each in evidence.classes.items()]
        listed += [[metric.value, name, each] for metric, own in evidence.others.items() for name, each in own.items()]
        kinds = {type(each) for _, _, each in listed}
        kind = next((kind for kind, of in _KINDS.items() if kinds <= {of}), None)
        if kind is None:
            raise TypeError(
                f"cannot store evidence of {', '.join(sorted(each.__name__ for each in kinds))}: see _KINDS"
            )
        header["kind"] = kind
        header["classes"] = [[metric, name] for metric, name, _ in listed]
        for number, (_, _, each) in enumerate(listed):
            _write(writer, str(number), each)
    writer.finish(header)
    if not writer.is_complete:
        raise ValueError(f"evidence of more than {MAX_BYTES:,} bytes")
    return file.getvalue()


def load_evidence(file: BinaryIO, origin: Origin) -> Evidence:
    """Read what `store_evidence` returned.

    Args:
        file: the content.
        origin: what the evidence must have been collected from.

    Raises:
        EvidenceFileError: it was collected from something else, is of another version, or is damaged. Collect the
            evidence again.
    """
    try:
        columns = ColumnsFile(file)
        header = columns.header
        if header["evidence"] != EVIDENCE_VERSION:
            raise EvidenceFileError(
                f"evidence of version {header['evidence']!r}; this program reads {EVIDENCE_VERSION}"
            )
        if header["origin"] != [origin.competition, origin.ground_truth, origin.results]:
            raise EvidenceFileError("evidence of other results or another ground truth")
        if header["kind"] == _PIXELS:
            return SegmentationEvidence(
                header["images"], tuple(header["entered"]), _read(columns, _PIXELS, ImageConfusions)
            )
        kind = _KINDS[header["kind"]]
        by_metric: dict[str, dict[str, ClassEvidence]] = {"": {}}
        for number, (metric, name) in enumerate(header["classes"]):
            by_metric.setdefault(metric, {})[name] = _read(columns, str(number), kind)
        classes = by_metric.pop("")
        return EvidenceByClass(header["images"], classes, {Metric(metric): own for metric, own in by_metric.items()})
    except (ColumnsError, ValueError, LookupError, TypeError) as error:
        raise EvidenceFileError(f"this is not stored evidence: {error}") from error


def digest(content: bytes) -> str:
    """Return the hexadecimal SHA-256 of stored evidence."""
    return hashlib.sha256(content).hexdigest()


Arrays = TypeVar("Arrays", ClassEvidence, ImageConfusions)


def _write(writer: ColumnsWriter, prefix: str, evidence: ClassEvidence | ImageConfusions) -> None:
    for name, kind in _types(type(evidence)).items():
        writer.add(f"{prefix}/{name}", getattr(evidence, name).astype(_stored(kind)))


def _read(columns: ColumnsFile, prefix: str, kind: type[Arrays]) -> Arrays:
    types = _types(kind)
    return kind(**{name: columns.array(f"{prefix}/{name}", _stored(of)).astype(of) for name, of in types.items()})


def _types(kind: type) -> dict[str, type[np.generic]]:
    """Return the types of the arrays of a dataclass, from their annotations: `NDArray[np.int32]`."""
    return {each.name: get_args(get_args(each.type)[1])[0] for each in fields(kind)}


def _stored(kind: type[np.generic]) -> type[np.generic]:
    return np.uint8 if kind is np.bool_ else kind
