"""Freezing leaderboards: a copy of what they show is kept, which nothing that entrants do later can change.

A leaderboard shows what had been published at its freezing date. The copy is made by the first of these that comes
after the date: a job, which is due on that date, a request for the leaderboard, or a change of anything that it shows,
before the change is made. So it does not matter when exactly that is.

Results of uploads that began in time, and whose owners asked for them to be published as soon as they are scored,
belong to it, too. The copy is completed with them, and final once none can come any more.

What organisers disqualify, unpublish or fail later stays in the copy, but is no longer shown: see `removals`.
"""

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.challenges.phases import MAX_UPLOAD_DURATION, Phase, edition_of_phase, phases_of
from vocboard.app.database import lock_for_transaction, now, server_time
from vocboard.app.leaderboards import entries
from vocboard.app.leaderboards.corrections import Removal, corrections, removed_submissions
from vocboard.app.leaderboards.models import FrozenLeaderboard
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Competition


def find(session: Session, phase: Phase, competition: str) -> FrozenLeaderboard | None:
    """Return the copy of a frozen leaderboard; None if it has not been made yet.

    Copies of other freezing dates do not count: organisers may have prolonged a phase.
    """
    return session.scalar(
        select(FrozenLeaderboard).where(
            FrozenLeaderboard.phase_id == phase.id,
            FrozenLeaderboard.competition == competition,
            FrozenLeaderboard.frozen_at == phase.freezes_at,
        )
    )


def removals(session: Session, frozen: FrozenLeaderboard) -> Mapping[str, Removal]:
    """Return which entries of a copy organisers have removed since, by id of the submission.

    Nothing of this is stored with the copy: an entry whose disqualification is lifted is shown again.
    """
    removed = removed_submissions(session, frozen.phase_id)
    return {id_: removed[id_] for kept in frozen.content["entries"] if (id_ := kept["submission"]) in removed}


def boards_with(session: Session, submission: Submission, phase: Phase) -> tuple[str, ...]:
    """Return the competitions whose frozen leaderboards show a submission, in the order of its entries.

    Args:
        phase: its phase.
    """
    own = str(submission.id)
    if phase.freezes_at is None or own in removed_submissions(session, phase.id):
        return ()
    entered = [entry.competition for entry in submission.entries]
    copies = select(FrozenLeaderboard).where(
        FrozenLeaderboard.phase_id == phase.id,
        FrozenLeaderboard.competition.in_(entered),
        FrozenLeaderboard.frozen_at == phase.freezes_at,
    )
    shown = {
        row.competition
        for row in session.scalars(copies)
        if any(kept["submission"] == own for kept in row.content["entries"])
    }
    return tuple(key for key in entered if key in shown)


def freeze_due(session: Session, challenge: Challenge, *, at: datetime | None = None) -> bool:
    """Make and complete the copies of leaderboards whose freezing date has come; whether anything changed.

    Code that changes what leaderboards show calls this first, in the same transaction.

    Args:
        challenge: whose; with its competitions and phases.
        at: the current time.
    """
    at = at or now()
    frozen = [phase for phase in phases_of(challenge) if phase.is_frozen(at)]
    if not frozen:
        return False
    # The challenge first, as everywhere: a copy refers to its row.
    session.execute(select(Challenge.id).where(Challenge.id == challenge.id).with_for_update(read=True, key_share=True))
    lock_frozen(session, challenge.id)
    known = {
        (row.phase_id, row.competition, row.frozen_at): row
        for row in session.scalars(select(FrozenLeaderboard).where(FrozenLeaderboard.challenge_id == challenge.id))
    }
    changed = False
    for phase in frozen:
        edition = edition_of_phase(challenge, phase)
        for key in phase.competitions:
            row = known.get((phase.id, key, phase.freezes_at or at))
            if row is None or not row.is_final:
                changed |= _freeze(session, challenge, phase, edition.competitions[key], row=row, at=at)
    session.flush()
    return changed


def remove_names(
    session: Session, challenge_id: uuid.UUID, submission_ids: Collection[uuid.UUID], *, contributors: str
) -> None:
    """Replace who is named with some submissions in all copies of a challenge; scores and ranks stay as they are.

    The caller has called `freeze_due` and locked the submissions.

    Args:
        contributors: to show in place of the names.
    """
    lock_frozen(session, challenge_id)
    ids = {str(id_) for id_ in submission_ids}
    unnamed = {"contributors": contributors, "team": "", "affiliation": "", "paper_url": "", "code_url": ""}
    for row in session.scalars(select(FrozenLeaderboard).where(FrozenLeaderboard.challenge_id == challenge_id)):
        replaced = [
            one | {name: text for name, text in unnamed.items() if name in one} if one["submission"] in ids else one
            for one in row.content["entries"]
        ]
        if replaced != row.content["entries"]:
            row.content = {**row.content, "entries": replaced}
    session.flush()


def lock_frozen(session: Session, challenge_id: uuid.UUID) -> None:
    """Lock the frozen leaderboards of a challenge, for transactions that call `freeze_due` after they lock submissions.

    Everything else calls `freeze_due` before: see `app.participating.locking`.
    """
    lock_for_transaction(session, f"leaderboards of {challenge_id}")


def is_awaiting(session: Session, challenge: Challenge) -> bool:
    """Whether results can still come that belong to a frozen leaderboard. Call `freeze_due` before.

    Until then, the rules that it shows results by must not change.
    """
    at = now()
    return any(
        not kept.is_final
        for phase in phases_of(challenge)
        if phase.is_frozen(at)
        for key in phase.competitions
        if (kept := find(session, phase, key)) is not None
    )


def freeze_phase(session: Session, phase_id: uuid.UUID) -> bool:
    """Do what is due for the challenge of a phase; return whether the copies of the phase are not final yet.

    The database's clock decides what is due, as for the claim of the job.
    """
    of_phase = select(Challenge).where(Challenge.phases.any(ChallengePhase.id == phase_id))
    challenge = session.scalar(of_phase.options(selectinload(Challenge.phases)))
    if challenge is None:  # deleted concurrently
        return False
    at = server_time(session)
    freeze_due(session, challenge, at=at)
    phase = next(phase for phase in phases_of(challenge) if phase.id == phase_id)
    copies = [find(session, phase, key) for key in phase.competitions]
    return phase.is_frozen(at) and any(copy is None or not copy.is_final for copy in copies)


def _freeze(
    session: Session,
    challenge: Challenge,
    phase: Phase,
    competition: Competition,
    *,
    row: FrozenLeaderboard | None,
    at: datetime,
) -> bool:
    date = phase.freezes_at
    assert date is not None  # noqa: S101  # it is frozen
    found = entries.published(session, phase.id, competition.key, competition.rules.board)
    found = entries.with_releases(session, challenge, phase, competition.key, found)
    in_time = [one for one in found if one.published_at <= date or (one.was_promised and one.began_at <= date)]
    is_final = at > date + MAX_UPLOAD_DURATION and not _is_awaited(session, phase, date)
    if row is None:
        content: dict[str, Any] = {
            "challenge_title": challenge.title,
            "edition_version": challenge.edition_version,
            "decimals": challenge.decimals,
            "detail": phase.rules.detail.value,
            "statistics": challenge.statistics,
            "ladder_step": phase.rules.ladder_step,
            "corrections": [one.as_json() for one in corrections(session, challenge, phase, competition.key)],
            "entries": [one.entry.as_json() for one in in_time],
        }
        session.add(
            FrozenLeaderboard(
                challenge_id=challenge.id,
                phase_id=phase.id,
                competition=competition.key,
                frozen_at=date,
                is_final=is_final,
                content=content,
            )
        )
        return True
    # Each method has one row: what its owner unpublishes after the date stays, and makes no room.
    present = {kept[name] for kept in row.content["entries"] for name in ("submission", "method_id") if kept.get(name)}
    # What was published before the date, but is not in the copy, organisers had removed by then.
    late = [one.entry for one in in_time if one.published_at > date]
    missing = [one for one in late if present.isdisjoint({str(one.submission_id), str(one.links.method_id)})]
    if missing:
        kept = [*row.content["entries"], *(entry.as_json() for entry in missing)]
        row.content = {**row.content, "entries": sorted(kept, key=lambda one: (one["submitted_at"], one["submission"]))}
    changed = bool(missing) or is_final is not row.is_final
    row.is_final = is_final
    return changed


def _is_awaited(session: Session, phase: Phase, date: datetime) -> bool:
    """Whether a result that belongs to the leaderboard is still to be scored."""
    query = select(Submission.id).where(
        Submission.phase_id == phase.id,
        Submission.publish_when_scored,
        Submission.began_at <= date,
        Submission.state.in_((State.QUEUED, State.EVALUATING)),
    )
    return session.scalar(query.limit(1)) is not None
