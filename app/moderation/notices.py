"""E-mail to people whose submissions are disqualified, or who are banned: the reason, and what they can do."""

from collections.abc import Sequence
from itertools import groupby

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.messaging.mail import outbox
from vocboard.app.submissions.models import Submission


def disqualified(session: Session, submissions: Sequence[Submission], *, reason: str, site: str) -> None:
    """Tell the owners of submissions to one challenge that these were disqualified; each person gets one e-mail.

    After the commit, the caller calls `WorkerNotifier.mail_queued`.

    Args:
        submissions: with their owners, methods and challenge.
        site: its address, for links.
    """
    ordered = sorted(submissions, key=lambda one: (str(one.user_id), one.created_at))
    for _, group in groupby(ordered, key=lambda one: one.user_id):
        own = list(group)
        if _gets_mail(own[0].user):
            outbox.put(
                session,
                to=own[0].user.email,
                template="disqualified",
                challenge=own[0].challenge.title,
                slug=own[0].challenge.slug,
                submissions=_named(own),
                reason=reason,
                site=site.rstrip("/"),
            )


def banned(
    session: Session,
    person: User,
    *,
    challenge: Challenge | None,
    reason: str,
    results: str,
    changed: Sequence[Submission],
    site: str,
) -> None:
    """Tell a person of a ban, before the account is disabled.

    After the commit, the caller calls `WorkerNotifier.mail_queued`.

    Args:
        challenge: None for a ban from the server.
        results: what happened to published results, as in `app.moderation.bans.Results`.
        changed: these results.
        site: its address, for links.
    """
    if _gets_mail(person):
        outbox.put(
            session,
            to=person.email,
            template="banned",
            challenge=challenge.title if challenge else None,
            slug=challenge.slug if challenge else None,
            results=results,
            changed=_named(changed),
            reason=reason,
            site=site.rstrip("/"),
        )


def _gets_mail(person: User) -> bool:
    """Whether the address is known to be the person's; those of imported challenges have none."""
    return person.is_confirmed and person.disabled_at is None


def _named(submissions: Sequence[Submission]) -> list[dict[str, str]]:
    return [{"method": one.method.name, "id": str(one.id)} for one in submissions]
