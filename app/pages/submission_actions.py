"""What its owner, and what organisers, can do with a submission in its state: the buttons of its page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vocboard.app.submissions.models import State, Submission


@dataclass(frozen=True, slots=True)
class Action:
    """A button of a submission's page.

    Attributes:
        warning: asks before it acts.
        reason: whether it asks for a reason: "required", "optional" or not.
        choices: competitions to choose from, all chosen at first; empty if there is no choice.
        fields: hidden fields of its form.
        is_page: whether it leads to a page of its own, which asks.
    """

    path: str
    name: str
    style: str
    warning: str | None = None
    reason: str | None = None
    choices: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_page: bool = False


def actions_of(submission: Submission, replaced: Sequence[Submission] = ()) -> list[Action]:
    """What its owner can do with a submission in its state.

    Args:
        replaced: published submissions of the same method whose place it can take.
    """
    found: list[Action] = []
    if submission.challenge.archived_at is not None:
        return found
    if submission.state is State.SCORED and submission.held_back_at is None and not submission.is_rehearsal:
        found += _publishing(submission, replaced)
    if submission.published_at is not None:
        found.append(Action("unpublish", "Unpublish", "plain"))
        if len(submission.published_competitions) > 1:
            found.append(Action("unpublish", "Unpublish some", "plain", choices=submission.published_competitions))
    if submission.state in {State.QUEUED, State.EVALUATING, State.SCORED}:
        found.append(Action("withdraw", "Withdraw", "danger", is_page=True))
    return found


def _publishing(submission: Submission, replaced: Sequence[Submission]) -> Iterator[Action]:
    published = submission.published_competitions
    private = tuple(entry.competition for entry in submission.entries if entry.competition not in published)
    if not private:
        return
    choices = private if len(private) > 1 else ()
    if not replaced:
        yield Action("publish", "Publish the rest" if published else "Publish", "")
        if choices:
            yield Action("publish", "Publish some", "plain", choices=choices)
        return
    what = "; ".join(
        f"that of {other.created_at:%-d %b %Y, %H:%M} UTC in "
        f"{', '.join(key for key in other.published_competitions if key in private)}"
        for other in replaced
    )
    warning = f"This result takes the place of {what}, which is unpublished in the same step."
    yield Action("publish", "Replace published result", "", warning, choices=choices, fields={"replace": "true"})


def organisers_actions(submission: Submission, *, is_on_frozen_board: bool) -> list[Action]:
    """What organisers of its challenge can do about a submission in its state.

    Args:
        is_on_frozen_board: whether a frozen leaderboard shows it.
    """
    found: list[Action] = []
    if submission.challenge.archived_at is not None:
        return found
    frozen = " Frozen leaderboards no longer show it, and say that they were corrected." if is_on_frozen_board else ""
    if submission.published_at is not None or is_on_frozen_board:
        text = "Its owner sees the reason and cannot publish it again until an organiser allows it." + frozen
        found.append(Action("unpublish", "Unpublish", "plain", text, "optional"))
    if submission.held_back_at is not None and submission.state is not State.DISQUALIFIED:
        found.append(Action("allow-publishing", "Allow publishing", "plain"))
    if submission.state is State.DISQUALIFIED:
        text = "The submission is as it was before; if it was published, it is published again."
        found.append(Action("reinstate", "Lift disqualification", "plain", text, "optional"))
    if submission.state in {State.QUEUED, State.EVALUATING, State.SCORED}:
        text = "It cannot be published until an organiser lifts this. Its owner sees the reason." + frozen
        found.append(Action("disqualify", "Disqualify", "danger", text, "required"))
        text = "For errors on our side. Its owner sees the reason and gets the quota back. You can evaluate it again."
        text += frozen
        found.append(Action("fail", "Mark as failed", "danger", text, "required"))
    return found
