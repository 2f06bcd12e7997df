"""The field's words for people, where the data has identifiers."""

from vocboard.app.challenges.models import Detail
from vocboard.app.challenges.service import Phase
from vocboard.app.submissions.models import State
from vocboard.evaluator.editions import (
    Competition,
    Metric,
    Training,
)
from vocboard.evaluator.metrics.definitions import METRICS
from vocboard.evaluator.scores import CurveKind
from vocboard.evaluator.tasks.definitions import TASKS

TRAINING = {
    Training.TRAINVAL: "provided trainval data only",
    Training.ANY: "any data but the test set",
}
SHORT_TRAINING = {Training.TRAINVAL: "trainval", Training.ANY: "any data"}
CURVES = {CurveKind.PRECISION_RECALL: "Precision/recall curves", CurveKind.ROC: "ROC curves"}
AXES = {
    CurveKind.PRECISION_RECALL: ("Recall", "Precision"),
    CurveKind.ROC: ("False positive rate", "True positive rate"),
}
STATES = {
    State.QUEUED: "Queued",
    State.EVALUATING: "Evaluating",
    State.SCORED: "Scored",
    State.FAILED: "Failed",
    State.WITHDRAWN: "Withdrawn",
}
PHASES = {
    Phase.NOT_YET_OPEN: "Not yet open",
    Phase.NOT_READY: "Not ready",
    Phase.OPEN: "Open",
    Phase.CLOSED: "Closed",
}
# What participants see of a result.
DETAILS = {
    Detail.MEAN: "They show means only.",
    Detail.CLASSES: "They show the score of each class.",
    Detail.CURVES: "They show the score of each class, eleven-point curves and confusion matrices.",
    Detail.EVERYTHING: "They show exact curves and counts: the ground truth is public.",
}
CLOSED_DOORS = {
    Phase.NOT_YET_OPEN: "This challenge does not take submissions yet.",
    Phase.NOT_READY: "This challenge has no ground truth yet. Its organisers have to upload it first.",
    Phase.CLOSED: "This challenge is closed: it takes no more submissions. Its leaderboards stay.",
}
# What `?done=` on an address says after a form; anything else says nothing.
DONE = {
    "confirmed": "Your e-mail address is confirmed. Sign in with it.",
    "waits": "Your e-mail address is confirmed. An organiser has to approve your account; you will get an e-mail.",
    "reset": "The password is changed. All sessions have ended, and all API tokens are revoked. Sign in again.",
    "approved": "The registration is approved.",
    "rejected": "The registration is rejected, and the account disabled.",
    "signed-out": "You are signed out.",
    "password": "The password is changed. All other sessions have ended, and all API tokens are revoked.",
    "session": "The session is ended.",
    "token": "The token is revoked.",
    "published": "The result is on the leaderboard.",
    "unpublished": "The result is off the leaderboard.",
    "declared": "The declarations are saved.",
    "withdrawn": "The submission is withdrawn.",
    "link-revoked": "The anonymous link is revoked. It shows nothing any more.",
    "created": "The challenge is a draft. Add its ground truth, then make it visible.",
    "saved": "The changes are saved.",
    "edition": "The challenge has the new edition, with all of its competitions.",
    "truth": "The ground truth is uploaded and sealed. The worker reads it next.",
}


def metric_title(metric: str) -> str:
    """A measure's name; one of a newer evaluator keeps its identifier."""
    return METRICS[Metric(metric)].title if metric in set(Metric) else metric.replace("_", " ").capitalize()


def short_metric(metric: str) -> str:
    """A measure's name for the head of a column."""
    return METRICS[Metric(metric)].short_title if metric in set(Metric) else metric.replace("_", " ")


def task_title(competition: Competition) -> str:
    """Name a competition's task: `Boxless action classification`, or of several test sets `Detection on test2`."""
    return _titled(competition, TASKS[competition.task].title)


def short_task_title(competition: Competition) -> str:
    """The same in fewer letters: `Detection test2`."""
    return _titled(competition, TASKS[competition.task].short_title).replace(" on ", " ")


def competition_title(competition: Competition) -> str:
    """What a competition is: `comp4 · Detection, any data`."""
    return f"{competition.key} · {task_title(competition)}, {SHORT_TRAINING[competition.training]}"


def _titled(competition: Competition, title: str) -> str:
    if competition.variant:
        title = f"{competition.variant.capitalize()} {title.lower()}"
    return title if competition.image_set == "test" else f"{title} on {competition.image_set}"
