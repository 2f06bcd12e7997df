"""Actions of moderation: disqualify, unpublish, fail, ban; and the audit log."""

import sys
from collections.abc import Callable
from typing import Any

from vocboard.app.organising import audit_log, bans, moderation
from vocboard.app.organising.audit_log import Filters
from vocboard.app.organising.bans import Results
from vocboard.commands.admin.actions import SUBMISSION, Actions, Call, Declared, Outcome, Step, Transaction, argument

ACTIONS = Actions()
ORGANISER = argument(
    "--organiser", metavar="EMAIL", help="organiser of the challenge, named in the audit log; default: the operator"
)
REASON, OPTIONAL_REASON = (
    argument("--reason", required=required, default="", help="shown to the owner") for required in (True, False)
)


def _on_submission(*arguments: Declared) -> Callable[[Step], Step]:
    """Decorate an action on a submission."""
    return ACTIONS.changes(SUBMISSION, *arguments, ORGANISER)


def _given(at: Transaction) -> dict[str, Any]:
    return {"submission_id": at.arguments.submission, "user": at.user, "reason": at.arguments.reason}


@_on_submission(REASON)
def disqualify(at: Transaction) -> None:
    """Remove a submission from the leaderboards until it is reinstated."""
    moderation.disqualify(at.session, **_given(at), site=at.site)


@_on_submission(OPTIONAL_REASON)
def reinstate(at: Transaction) -> None:
    """Lift the disqualification of a submission."""
    moderation.reinstate(at.session, **_given(at), site=at.site)


@_on_submission(OPTIONAL_REASON)
def unpublish(at: Transaction) -> None:
    """Unpublish a submission until allow-publishing."""
    moderation.hold_back(at.session, **_given(at))


@_on_submission(REASON)
def fail(at: Transaction) -> None:
    """Mark a submission as failed, and give its quota back."""
    moderation.fail(at.session, **_given(at))


@_on_submission()
def allow_publishing(at: Transaction) -> None:
    """Let an unpublished submission be published again."""
    moderation.allow_publishing(at.session, submission_id=at.arguments.submission, user=at.user)


def _challenge(default: str) -> Declared:
    return argument("--challenge", dest="slug", metavar="SLUG", help=f"default: {default}")


@ACTIONS.changes(
    "email",
    _challenge("the whole server; the account is disabled"),
    argument("--reason", required=True, help="shown to the person"),
    argument("--results", required=True, choices=list(map(str, Results)), help="what happens to published results"),
)
def ban(at: Transaction) -> None:
    """Ban a person from a challenge, or from the whole server."""
    how: dict[str, Any] = {
        "person": at.person,
        "user": at.user,
        "reason": at.arguments.reason,
        "results": Results(at.arguments.results),
        "site": at.site,
    }
    if at.arguments.slug is None:
        bans.ban_from_server(at.session, **how)
    else:
        bans.ban(at.session, challenge=at.challenge, **how)


@ACTIONS.changes("email", _challenge("the ban from the whole server"))
def lift_ban(at: Transaction) -> None:
    """Lift a ban."""
    if at.arguments.slug is None:
        bans.lift_server_ban(at.session, person=at.person, user=at.user, site=at.site)
    else:
        bans.lift_ban(at.session, person=at.person, **at.organised, site=at.site)


@ACTIONS.runs(_challenge("of the whole server"))
def log(call: Call) -> Outcome:
    """Print the audit log as CSV."""
    challenge_id = None
    if call.arguments.slug is not None:
        with call.reading() as at:
            challenge_id = at.challenge.id
    for piece in audit_log.as_csv(call.database, challenge_id=challenge_id, filters=Filters()):
        sys.stdout.write(piece)
    return 0
