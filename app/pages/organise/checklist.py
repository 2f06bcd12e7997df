"""What an organiser has to do before a challenge opens, and what has been done of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Visibility
from vocboard.app.pages import formats
from vocboard.app.pages.organise.truth_versions import what_is_missing
from vocboard.app.submissions import queries as submissions
from vocboard.app.submissions.models import State


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do.

    Attributes:
        text: what is there, or missing.
        action: what the link says; None if it cannot be done yet.
        is_optional: whether the challenge can open without it.
    """

    title: str
    text: str
    is_done: bool
    action: str | None
    address: str
    is_optional: bool = False


def steps(session: Session, challenge: Challenge, versions: Sequence[GroundTruthVersion]) -> list[Step]:
    """Return the steps, in the order in which they make sense; none once everybody can submit, or nobody any more.

    Args:
        versions: of the ground truth, newest first.
    """
    if challenge.archived_at is not None:
        return []
    phases = challenges.phases_of(challenge)
    with_truth = [phase for phase in phases if phase.has_own_truth]
    is_hidden = challenge.visibility is Visibility.DRAFT
    if not is_hidden and all(phase.scoring_id is not None for phase in with_truth):
        return []
    base = f"/organise/{challenge.slug}"
    keys = challenge.main_phase.competition_keys
    offered = len(challenges.edition_of(challenge).competitions)
    main = phases[0].rules
    found = [
        Step("Describe it", "What the challenge is about.", bool(challenge.description), "Edit", f"{base}/edit", True),
        Step(
            "Choose the competitions",
            f"{len(keys)} of {offered}: {', '.join(keys)}.",
            True,
            "Edit",
            f"{base}/edit#competitions",
        ),
        Step(
            "Set the dates and rules",
            "It has a deadline." if main.closes_at else "It has no deadline.",
            main.closes_at is not None,
            "Edit",
            f"{base}/edit#opens_at",
            True,
        ),
    ]
    for phase in with_truth:
        of_phase = f" of {phase.title}" if len(with_truth) > 1 else ""
        found.append(
            Step(
                f"Upload the ground truth{of_phase}",
                "Submissions can be scored."
                if phase.scoring_id
                else what_is_missing([each for each in versions if each.phase_id == phase.id], challenge),
                phase.scoring_id is not None,
                "Ground truth",
                f"{base}?truth={phase.key}#truth",
            )
        )
    rehearsal = submissions.last_rehearsal(session, challenge)
    said = "Submit sample results. No leaderboard shows them, and they use no quota."
    if rehearsal is not None:
        said = f"The last one is {rehearsal.state}."
    found.append(
        Step(
            "Rehearse",
            said,
            rehearsal is not None and rehearsal.state is State.SCORED,
            "Rehearse" if any(phase.scoring_id for phase in phases) else None,
            f"/challenges/{challenge.slug}/submit?rehearsal=true",
            True,
        )
    )
    text = "Only you can see it: it is a draft." if is_hidden else f"It is {challenge.visibility.value}."
    found.append(Step("Open it", text, not is_hidden, "Change the visibility", f"{base}/edit#visibility"))
    return found


def progress(found: list[Step]) -> str:
    """Say how many required steps are left."""
    left = sum(not step.is_done and not step.is_optional for step in found)
    return "Everything required is done." if not left else f"{formats.plural(left, 'required step')} left."
