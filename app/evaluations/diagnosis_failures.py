"""Why the errors of a result could not be computed, in words, with what organisers can do."""

from collections.abc import Mapping
from enum import StrEnum


class DiagnosisFailure(StrEnum):
    """Why an evaluation has no diagnosis. Visible to everyone who could see the diagnosis."""

    NO_GROUND_TRUTH = "no_ground_truth"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    INTERRUPTED = "interrupted"
    ERROR = "error"


EXPLANATIONS: Mapping[DiagnosisFailure, str] = {
    DiagnosisFailure.NO_GROUND_TRUTH: "The ground truth that it was scored with is not on this server.",
    DiagnosisFailure.TOO_LARGE: "It took more memory or time than the server allows.",
    DiagnosisFailure.UNREADABLE: "The uploaded archive could not be read again.",
    DiagnosisFailure.INTERRUPTED: "Computing them stopped the worker several times.",
    DiagnosisFailure.ERROR: "There was an error of the server.",
}
_LOOK_AT_THE_LOG = "Ask the operator to look at the worker’s log, then have them computed again."
REMEDIES: Mapping[DiagnosisFailure, str] = {
    DiagnosisFailure.NO_GROUND_TRUTH: "Upload it under Overview, or score all submissions again by a re-score.",
    DiagnosisFailure.TOO_LARGE: _LOOK_AT_THE_LOG,
    DiagnosisFailure.UNREADABLE: _LOOK_AT_THE_LOG,
    DiagnosisFailure.INTERRUPTED: _LOOK_AT_THE_LOG,
    DiagnosisFailure.ERROR: _LOOK_AT_THE_LOG,
}
