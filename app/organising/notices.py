"""Notifications and email to people whose submissions are disqualified, or who are banned, and when that is lifted."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.messaging import outbox
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.notices import IS_TOLD
from vocboard.app.teams.models import TeamMember


def disqualified(session: Session, submissions: Sequence[Submission], *, reason: str, site: str) -> None:
    """Tell the teams of submissions to one challenge that these were disqualified; each member gets one email.

    Args:
        submissions: with their methods and challenge.
        site: its address, for links.
    """
    what = "disqualified"
    _tell_owners(
        session, submissions, NotificationKind.DISQUALIFIED, what=what, template=what, reason=reason, site=site
    )


def reinstated(session: Session, submissions: Sequence[Submission], *, site: str) -> None:
    """Tell the teams of submissions to one challenge that these are no longer disqualified; otherwise the same."""
    what = "disqualification lifted"
    _tell_owners(session, submissions, NotificationKind.REINSTATED, what=what, template="reinstated", site=site)


def _tell_owners(
    session: Session,
    submissions: Sequence[Submission],
    kind: NotificationKind,
    *,
    what: str,
    template: str,
    site: str,
    **given: Any,
) -> None:
    """Tell each member of the teams about the team's submissions, with one email that cannot be turned off.

    It is about people's rights. As `IS_TOLD` says, of a rehearsal only who has made it is told.
    """
    by_id = {one.id: one for one in submissions}
    told = select(Submission.id, User).join(TeamMember, IS_TOLD).join(User, User.id == TeamMember.user_id)
    told = told.where(Submission.id.in_(by_id)).order_by(Submission.created_at, TeamMember.joined_at, User.id)
    of_people = defaultdict[User, list[Submission]](list)
    for submission_id, person in session.execute(told):
        of_people[person].append(by_id[submission_id])
    for person, own in of_people.items():
        name, others = own[0].method.name, len(own) - 1
        notify(
            session,
            [person.id],
            kind,
            title=f"“{name}”{f' and {others} more' if others else ''} in “{own[0].challenge.title}”: {what}",
            text=given.get("reason", ""),
            link=f"/submissions/{own[0].id}" if not others else "/submissions",
            challenge_id=own[0].challenge_id,
        )
        about = {"submissions": named(own), **given}
        tell(session, person, template=template, challenge=own[0].challenge, site=site, **about)


def tell(
    session: Session, person: User, *, template: str, challenge: Challenge | None, site: str, **given: Any
) -> None:
    """Send an email, unless the person gets none: the address must be known to be the person's, the account enabled.

    So a ban is told before the account is disabled, and that it was lifted after the account is enabled.

    Args:
        challenge: None for a ban from the server.
        site: its address, for links.
        given: what the template has besides.
    """
    if person.is_confirmed and person.disabled_at is None:  # those of imported challenges are not confirmed
        outbox.put(
            session,
            to=person.email,
            template=template,
            challenge=challenge.title if challenge else None,
            slug=challenge.slug if challenge else None,
            site=site,
            **given,
        )


def named(submissions: Sequence[Submission]) -> list[dict[str, Any]]:
    """Return what templates say of submissions."""
    return [
        {"method": one.method.name, "id": str(one.id), "published": one.published_at is not None} for one in submissions
    ]
