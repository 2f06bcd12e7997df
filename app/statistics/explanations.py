"""Why a leaderboard has no statistics, in words, with what organisers can do."""

from collections.abc import Mapping

from vocboard.app.statistics.boards import MAX_METHODS, Failure

EXPLANATIONS: Mapping[Failure, str] = {
    Failure.GROUND_TRUTH_ELSEWHERE: "They need the ground truth that these methods were scored with, which is not on "
    "this server. Upload it under Set-up; they are then computed by themselves. Other versions of vocboard store some "
    "trees otherwise: if that does not help, score all methods with what you have uploaded by a re-score.",
    Failure.SEVERAL_GROUND_TRUTHS: "The methods were scored with different versions of the ground truth. Score all of "
    "them with one version: start a re-score under Set-up.",
    Failure.TOO_FEW_IMAGES: "The test set has fewer than two images.",
    Failure.TOO_MANY_METHODS: f"They are computed for at most {MAX_METHODS:,} methods.",
    Failure.TOO_LARGE: "They took more memory or time than the server allows. Ask the operator to look at the worker’s "
    "log, then have them computed again.",
    Failure.UNREADABLE: "An archive could not be read again. Ask the operator to look at the worker’s log, then have "
    "them computed again.",
    Failure.OTHER_EVALUATOR: "This version of vocboard gives the methods other scores than the leaderboard has. Score "
    "all of them again: start a re-score under Set-up.",
    Failure.INTERRUPTED: "Computing them stopped the worker several times. Ask the operator to look at its log, then "
    "have them computed again.",
    Failure.ERROR: "An error of the server. Ask the operator to look at the worker’s log, then have them computed "
    "again.",
}
