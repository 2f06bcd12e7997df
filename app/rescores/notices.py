"""What members of teams are told when a re-score was applied."""

import uuid
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, phases_of
from vocboard.app.database import now
from vocboard.app.leaderboards.models import Rescore
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.rescores.queries import is_compared
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.app.submissions.notices import IS_TOLD
from vocboard.app.teams.models import TeamMember
from vocboard.app.webhooks.events import emit
from vocboard.app.webhooks.models import Event

MAX_LINES = 50  # of a notification


def corrected(session: Session, rescore: Rescore, challenge: Challenge) -> None:
    """Tell each member of a team in one notification which scores and ranks have changed, as they are shown.

    What does not change in the shown decimals is left out, and ranks that leaderboards do not show. Where the Ladder
    mechanism hides scores, all teams are told that they were evaluated again, whether or not anything has changed.

    Args:
        rescore: an applied one, with its report. If it is of one submission, only its team is told.
        challenge: with its phases.
    """
    phases = {phase.id: phase for phase in phases_of(challenge)}
    evaluated = select(Submission.id, TeamMember.user_id, Submission.phase_id, Method.name).join(Submission.method)
    evaluated = evaluated.join(TeamMember, IS_TOLD)
    evaluated = evaluated.where(is_compared(rescore), Submission.state == State.SCORED)
    if rescore.submission_id is not None:
        evaluated = evaluated.where(Submission.id == rescore.submission_id)
    changes: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for change in (rescore.report or {})["changes"]:
        changes[change["submission"]].append(change)
    lines: defaultdict[uuid.UUID, list[str]] = defaultdict(list)
    links: defaultdict[uuid.UUID, set[str]] = defaultdict(set)
    people: defaultdict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    for submission_id, user_id, phase_id, method in session.execute(evaluated.order_by(Submission.created_at)):
        phase, found = phases[phase_id], []
        if phase.ladder_step(now()) is None:
            shown = (_shown(change, phase, challenge.decimals) for change in changes[str(submission_id)])
            found = [f"{method}, {line}" for line in shown if line]
            if not found:
                continue
        lines[user_id] += found
        links[user_id].add(f"/submissions/{submission_id}")
        people[submission_id].append(user_id)
    same = {"challenge": challenge.slug, "rescore": str(rescore.id)}
    happened = ((members, {"submission": str(submission_id), **same}) for submission_id, members in people.items())
    emit(session, Event.CORRECTED, happened, challenge_id=challenge.id)
    for user_id, found in lines.items():
        more = [f"And {len(found) - MAX_LINES} more."] if len(found) > MAX_LINES else []
        reason = [rescore.reason] if rescore.submission_id is None else []
        notify(
            session,
            [user_id],
            NotificationKind.CORRECTED,
            title=f"Your results in “{challenge.title}” were {'corrected' if found else 'evaluated again'}",
            text="\n".join([*reason, *found[:MAX_LINES], *more]),
            link=links[user_id].pop() if len(links[user_id]) == 1 else "/submissions",
            challenge_id=challenge.id,
        )


def _shown(change: Mapping[str, Any], phase: Phase, decimals: int) -> str:
    """Return what a change of one competition looks like to the owner; empty if it cannot be seen."""
    parts = []
    mean, rank = change["mean"], change["rank"]
    if mean["before"] != mean["after"]:
        before, after = (_percent(mean[when], decimals) for when in ("before", "after"))
        parts.append(f"{before} → {after}")
    at = now()
    has_rank = change["published"] and phase.is_leaderboard_visible(at) and not phase.is_frozen(at)
    if has_rank and rank["before"] != rank["after"]:
        parts.append(f"rank {rank['before'] or 'none'} → {rank['after'] or 'none'}")
    return f"{change['competition']}: {', '.join(parts)}" if parts else ""


def _percent(fraction: float | None, decimals: int) -> str:
    return "none" if fraction is None else f"{100 * fraction:.{max(decimals - 2, 0)}f} %"
