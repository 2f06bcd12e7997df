"""What its owner, and what organisers, can do with a submission in its state: the buttons of its page."""

from dataclasses import dataclass

from vocboard.app.submissions.models import State, Submission


@dataclass(frozen=True, slots=True)
class Action:
    """A button of a submission's page.

    Attributes:
        warning: asks before it acts.
        reason: whether it asks for a reason: "required", "optional" or not.
    """

    path: str
    name: str
    style: str
    warning: str | None = None
    reason: str | None = None


def actions_of(submission: Submission) -> list[Action]:
    """What its owner can do with a submission in its state."""
    found: list[Action] = []
    if submission.challenge.archived_at is not None:
        return found
    if submission.published_at is not None:
        found.append(Action("unpublish", "Unpublish", "plain"))
    elif submission.state is State.SCORED and submission.held_back_at is None and not submission.is_rehearsal:
        found.append(Action("publish", "Publish", ""))
    if submission.state in {State.QUEUED, State.EVALUATING, State.SCORED}:
        warning = "You cannot undo this. A withdrawn submission no longer counts."
        if submission.state is State.QUEUED:
            warning += " It has not been evaluated yet, so you get your quota back."
        found.append(Action("withdraw", "Withdraw", "danger", warning))
    return found


def organisers_actions(submission: Submission) -> list[Action]:
    """What organisers of its challenge can do about a submission in its state."""
    found: list[Action] = []
    if submission.challenge.archived_at is not None:
        return found
    if submission.published_at is not None:
        text = "Its owner sees the reason and cannot publish it again until an organiser allows it."
        found.append(Action("unpublish", "Unpublish", "plain", text, "optional"))
    if submission.held_back_at is not None and submission.state is not State.DISQUALIFIED:
        found.append(Action("allow-publishing", "Allow publishing", "plain"))
    if submission.state is State.DISQUALIFIED:
        text = "The submission is as it was before; if it was published, it is published again."
        found.append(Action("reinstate", "Lift disqualification", "plain", text, "optional"))
    if submission.state in {State.QUEUED, State.EVALUATING, State.SCORED}:
        text = "It cannot be published until an organiser lifts this. Its owner sees the reason."
        found.append(Action("disqualify", "Disqualify", "danger", text, "required"))
        text = "For errors on our side. Its owner sees the reason and gets the quota back. You can evaluate it again."
        found.append(Action("fail", "Mark as failed", "danger", text, "required"))
    return found
