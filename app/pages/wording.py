"""The field's words for people, where the data has identifiers."""

from collections.abc import Mapping

from app.challenges.service import Phase
from app.submissions.models import State
from evaluator.editions import (
    ROC_METRICS,
    Competition,
    Interpolation,
    LayoutProtocol,
    Metric,
    Task,
    TaskRules,
    Training,
)
from evaluator.scores import CurveKind

METRICS = {
    Metric.AVERAGE_PRECISION: "Average precision",
    Metric.INTERSECTION_OVER_UNION: "Intersection over union",
    Metric.PIXEL_ACCURACY: "Pixel accuracy",
    Metric.ROC_AUC: "Area under the ROC curve",
    Metric.EQUAL_ERROR_RATE: "Accuracy at the equal error rate",
    Metric.AVERAGE_PRECISION_AREA: "Average precision, area under the curve",
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: "Average precision, difficult objects included",
    Metric.AVERAGE_PRECISION_BY_CONFIDENCE: "Average precision, ranked by confidence",
    Metric.WHOLE_PERSON_AVERAGE_PRECISION: "Average precision of whole people",
}
SHORT_METRICS = {
    Metric.AVERAGE_PRECISION: "AP",
    Metric.INTERSECTION_OVER_UNION: "IoU",
    Metric.PIXEL_ACCURACY: "Accuracy",
    Metric.ROC_AUC: "AUC",
    Metric.EQUAL_ERROR_RATE: "EER",
    Metric.AVERAGE_PRECISION_AREA: "AP (area)",
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: "AP with difficult",
    Metric.AVERAGE_PRECISION_BY_CONFIDENCE: "AP by confidence",
    Metric.WHOLE_PERSON_AVERAGE_PRECISION: "AP, whole person",
}
TASKS = {
    Task.CLASSIFICATION: "Classification",
    Task.DETECTION: "Detection",
    Task.SEGMENTATION: "Segmentation",
    Task.LAYOUT: "Person layout",
    Task.ACTION: "Action classification",
}
SHORT_TASKS = TASKS | {Task.LAYOUT: "Layout", Task.ACTION: "Action"}
TRAINING = {
    Training.TRAINVAL: "provided trainval data only",
    Training.ANY: "any data but the test set",
}
SHORT_TRAINING = {Training.TRAINVAL: "trainval", Training.ANY: "any data"}
FORMATS = {
    Task.CLASSIFICATION: "<image> <confidence>",
    Task.DETECTION: "<image> <confidence> <left> <top> <right> <bottom>",
    Task.SEGMENTATION: "8-bit indexed PNG of the image's size: 0 background, 1 to the number of classes",
    Task.LAYOUT: "<results><layout><image/>{person}<confidence/><part>…</part></layout>…</results>",
    Task.ACTION: "<image> <object index> <confidence>",
}
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
    return METRICS[Metric(metric)] if metric in set(Metric) else metric.replace("_", " ").capitalize()


def short_metric(metric: str) -> str:
    """A measure's name for the head of a column."""
    return SHORT_METRICS[Metric(metric)] if metric in set(Metric) else metric.replace("_", " ")


def task_title(competition: Competition, titles: Mapping[Task, str] = TASKS) -> str:
    """Name a competition's task: `Boxless action classification`, or of several test sets `Detection on test2`."""
    title = titles[competition.task]
    if competition.variant:
        title = f"{competition.variant.capitalize()} {title.lower()}"
    return title if competition.image_set == "test" else f"{title} on {competition.image_set}"


def short_task_title(competition: Competition) -> str:
    """The same in fewer letters: `Detection test2`."""
    return task_title(competition, SHORT_TASKS).replace(" on ", " ")


def competition_title(competition: Competition) -> str:
    """What a competition is: `comp4 · Detection, any data`."""
    return f"{competition.key} · {task_title(competition)}, {SHORT_TRAINING[competition.training]}"


def line_format(rules: TaskRules) -> str:
    """What a result file holds, or each line of one."""
    by_box = rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
    held = FORMATS[rules.task].format(person="<bndbox>…</bndbox>" if by_box else "<object/>")
    return held + (" <class>" if rules.class_in_lines else "")


def protocol(competition: Competition) -> str:
    """How a competition's score is taken, in words."""
    metric = METRICS[competition.rules.metric]
    if competition.task is Task.SEGMENTATION:
        return f"{metric} of each class and background; the mean is over all labels"
    if competition.rules.metric in ROC_METRICS:
        others = [METRICS[measure].lower() for measure in competition.rules.board]
        return " and ".join([metric, *others])
    sampled = competition.rules.interpolation is Interpolation.ELEVEN_POINT
    return f"{metric}, {'sampled at 11 points' if sampled else 'area under the curve'}"
