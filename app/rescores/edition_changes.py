"""What of a challenge's edition cannot change once there is ground truth, or once there are submissions."""

from collections.abc import Collection, Iterator
from dataclasses import fields

from sqlalchemy.orm import Session

from vocboard.app.challenges.edition_versions import scorable
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.ground_truth import current_truth
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import on_image_set, phases_of
from vocboard.app.submissions import queries as submission_queries
from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol, Limits
from vocboard.evaluator.editions.comparison import rules_by_task
from vocboard.evaluator.tasks.definitions import name_lists

ANOTHER_CHALLENGE = "To change this, create another challenge."
ANOTHER_COMPETITION = "Add a competition with a number of its own instead, which people can submit to."
# Two readings of the same ground truth and the same result files.
_EQUALLY_READ = {LayoutProtocol.WHOLE_PERSON_BY_INDEX, LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER}


def obstacles(session: Session, challenge: Challenge, new: Edition) -> list[str]:
    """Return everything about an edition that keeps it from replacing the challenge's, each with what to do instead.

    What remains readable is everything that is stored: ground truth, columns and archives of submissions.

    Args:
        challenge: with its competitions and phases; it has a custom edition, and ground truth.
        new: the changed edition.
    """
    old = edition_of(challenge)
    entered = submission_queries.entered_competitions(session, *(row.id for row in challenge.phases))
    return [
        *changed_names(old, new),
        *_of_trees(old, new),
        *_of_limits(old, new),
        *_of_submissions(old, new, entered),
        *_of_phases(session, challenge, old, new),
    ]


def changed_names(old: Edition, new: Edition) -> Iterator[str]:
    """Yield which names change that what is stored refers to, by themselves or by their place in a list."""
    if old.name != new.name:
        yield (
            f"The name changes from {old.name} to {new.name}, but trees and archives have folders of that name. "
            f"Keep it; the title may change. {ANOTHER_CHALLENGE}"
        )
    for what in ("classes", *name_lists()):
        before, after = getattr(old, what), getattr(new, what)
        if before == after:
            continue
        if set(before) == set(after):
            difference = "their order changes"
        else:
            added = [f"{name} is new" for name in after if name not in before]
            removed = [f"{name} is missing" for name in before if name not in after]
            difference = ", ".join([*removed, *added])
        yield (
            f"The list of {what} changes ({difference}), but the ground truth and submissions refer to its entries by "
            f"their place. {ANOTHER_CHALLENGE}"
        )


def _of_trees(old: Edition, new: Edition) -> Iterator[str]:
    if old.annotations != new.annotations or old.has_set_folders != new.has_set_folders:
        yield (
            "The format of trees changes ([annotations] or has_set_folders), but the ground truth has been read in the "
            f"current one. Keep it, and convert the next tree to it. {ANOTHER_CHALLENGE}"
        )
    rules = rules_by_task(new)
    for task, before in rules_by_task(old).items():
        protocols = {before.layout_protocol, rules[task].layout_protocol} if task in rules else set()
        if len(protocols) > 1 and not protocols <= _EQUALLY_READ:
            yield (
                f"The protocol of {task.value} changes, but the ground truth and submissions have been read for "
                f"{before.layout_protocol}. {ANOTHER_CHALLENGE}"
            )


def _of_limits(old: Edition, new: Edition) -> Iterator[str]:
    for each in fields(Limits):
        before, after = getattr(old.limits, each.name), getattr(new.limits, each.name)
        if after < before:
            yield (
                f"The limit {each.name} falls from {before:,} to {after:,}, but archives were accepted under the "
                "current limit. It can only be raised."
            )


def _of_submissions(old: Edition, new: Edition, entered: Collection[str]) -> Iterator[str]:
    for key, before in old.competitions.items():
        if key not in entered:
            continue
        after = new.competitions.get(key)
        if after is None:
            yield f"{key} is missing, but it has submissions. Keep it in the file."
            continue
        for what, one, other in (
            ("task", before.task.value, after.task.value),
            ("image set", before.image_set, after.image_set),
            ("name of result files", before.result_file, after.result_file),
        ):
            if one != other:
                yield f"{key} has submissions, but its {what} changes from {one} to {other}. {ANOTHER_COMPETITION}"
        if _narrows(before, after):
            yield (
                f"The range of confidences of {key} becomes narrower, but it has submissions that were accepted under "
                "the current one. It can only be widened."
            )


def _narrows(before: Competition, after: Competition) -> bool:
    old, new = before.rules.confidence_range, after.rules.confidence_range
    if new is None:
        return False
    return old is None or new[0] > old[0] or new[1] < old[1]


def _of_phases(session: Session, challenge: Challenge, old: Edition, new: Edition) -> Iterator[str]:
    several = len(phases_of(challenge)) > 1
    for phase in phases_of(challenge):
        of_phase = f"the phase “{phase.title}”" if several else "the challenge"
        truth = current_truth(session, phase)
        # The phase may use the main phase's ground truth; then it has no image set of its own.
        known = None if truth is None else scorable(truth, on_image_set(old, phase.image_set))
        chosen = on_image_set(new, phase.image_set).competitions
        for key in phase.competitions:
            competition = chosen.get(key)
            if competition is None:
                if key in old.competitions:
                    yield f"{key} is missing, but {of_phase} runs it. Keep it, or remove it from {of_phase} first."
            elif known is not None and (competition.task.value, competition.image_set) not in known:
                yield (
                    f"The current ground truth cannot score {key} any more: it has nothing for "
                    f"{competition.task.value} on {competition.image_set}. Leave {key} as it is, or remove it from "
                    f"{of_phase} first."
                )
