"""Phases as the API gives and takes them."""

from datetime import datetime
from typing import Annotated

from fastapi import Query

from vocboard.app.api.schemas.challenges import Phase, Quota
from vocboard.app.challenges import phases
from vocboard.app.quotas import sentences as quota_sentences

PhaseKey = Annotated[str | None, Query(description="Key of a phase; by default the current one.")]


def phase_view(phase: phases.Phase, current: phases.Phase, at: datetime) -> Phase:
    """A phase as everybody may see it.

    Args:
        current: the challenge's current phase.
        at: the present instant.
    """
    rules = phase.rules
    return Phase(
        key=phase.key,
        title=phase.title,
        state=phase.state(at),
        is_current=phase.key == current.key,
        opens_at=rules.opens_at,
        closes_at=rules.closes_at,
        competitions=list(phase.competitions),
        image_set=phase.image_set,
        has_own_ground_truth=phase.has_own_truth,
        quota=quota_of(phase),
        detail=rules.detail,
        admission=rules.admission,
        leaderboard_from=rules.leaderboard_from,
        freeze=rules.freeze,
        freezes_at=phase.freezes_at,
        anonymous_until=rules.anonymous_until,
        ladder_step=rules.ladder_step,
    )


def quota_of(phase: phases.Phase) -> Quota:
    """Return the quota rule of a phase."""
    count, period = phase.rules.quota_count, phase.quota_period
    return Quota(count=count, period_seconds=phase.rules.quota_period_seconds, rule=quota_sentences.rule(count, period))
