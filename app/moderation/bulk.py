"""One action on several submissions: each succeeds or is refused by itself."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from vocboard.app.moderation import notices, submissions
from vocboard.app.submissions.locking import lock_several
from vocboard.app.submissions.models import Submission

MAX_SUBMISSIONS = 200  # at once: as many as a page of the list can have


class Action(StrEnum):
    """What organisers can do with several submissions at once."""

    UNPUBLISH = "unpublish"
    ALLOW_PUBLISHING = "allow_publishing"
    DISQUALIFY = "disqualify"
    REINSTATE = "reinstate"
    FAIL = "fail"


NEEDS_REASON = frozenset({Action.DISQUALIFY, Action.FAIL})
_ACTIONS: Mapping[Action, Callable[..., Submission]] = {
    Action.UNPUBLISH: submissions.hold_back,
    Action.ALLOW_PUBLISHING: submissions.allow_publishing,
    Action.DISQUALIFY: submissions.disqualify_quietly,
    Action.REINSTATE: submissions.reinstate_quietly,
    Action.FAIL: submissions.fail,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of the submissions; `refusal` is None if the action was done."""

    submission_id: uuid.UUID
    refusal: str | None


def act(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    action: Action,
    submission_ids: Sequence[uuid.UUID],
    reason: str = "",
    site: str,
) -> tuple[Outcome, ...]:
    """Do something with submissions to a challenge that the person organises.

    After the commit, the caller calls `WorkerNotifier.mail_queued`: owners are told when a submission is
    disqualified, and when that is lifted.

    Args:
        site: its address, for the email.

    Raises:
        InvalidInputError: there are none, or too many; on `reason`.
    """
    if not 1 <= len(set(submission_ids)) <= MAX_SUBMISSIONS:
        raise InvalidInputError({"submissions": f"Choose between 1 and {MAX_SUBMISSIONS} submissions."})
    reason = submissions.checked_reason(reason, required=action in NEEDS_REASON)
    given = {} if action is Action.ALLOW_PUBLISHING else {"reason": reason}
    outcomes, done = [], []
    of_challenge = lock_several(session, challenge.id, submission_ids)
    for submission_id in sorted(set(submission_ids)):
        refusal = None
        try:
            with session.begin_nested():
                if submission_id not in of_challenge:
                    raise NotFoundError("The challenge has no such submission.")
                done.append(_ACTIONS[action](session, submission_id=submission_id, user=user, **given))
        except (ConflictError, ForbiddenError, NotFoundError) as error:
            refusal = str(error)
        outcomes.append(Outcome(submission_id, refusal))
    if action is Action.DISQUALIFY:
        notices.disqualified(session, done, reason=reason, site=site)
    elif action is Action.REINSTATE:
        notices.reinstated(session, done, site=site)
    return tuple(outcomes)
