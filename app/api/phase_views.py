"""Phases as the API gives and takes them."""

from datetime import datetime
from typing import Annotated

from fastapi import Query

from vocboard.app.api.schemas.challenges import Phase, Quota
from vocboard.app.challenges import phases
from vocboard.app.quotas import rule as quota_rule

PhaseKey = Annotated[str | None, Query(description="Key of a phase; by default, the current one.")]


def phase_view(phase: phases.Phase, current: phases.Phase, at: datetime) -> Phase:
    """A phase as everybody may see it.

    Args:
        current: the challenge's current phase.
        at: the current time.
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
        min_account_days=rules.min_account_days,
        leaderboard_from=rules.leaderboard_from,
        freeze=rules.freeze,
        freezes_at=phase.freezes_at,
        anonymous_until=rules.anonymous_until,
        ladder_step=rules.ladder_step,
    )


def quota_of(phase: phases.Phase) -> Quota:
    """Return the quota rule of a phase."""
    rules = phase.rules
    return Quota(
        count=rules.quota_count,
        period_seconds=rules.quota_period_seconds,
        shared=rules.shared_quota,
        rule=quota_rule.sentence(rules),
    )
