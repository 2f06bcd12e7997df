"""Actions of moderation: disqualify, unpublish, fail, ban; and the audit log."""

import argparse
import sys
from functools import partial
from uuid import UUID

from vocboard.app.accounts import administration
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import service
from vocboard.app.database import Database
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.organising import audit_log as export
from vocboard.app.organising import bans, moderation
from vocboard.app.organising.audit_log import Filters
from vocboard.app.organising.bans import Results
from vocboard.app.settings import Settings
from vocboard.commands.admin.actions import Actions


def operators_user() -> User:
    """Return who acts in services for an operator: an administrator without an account; the log names the operator."""
    return User(name="operator", role=Role.ADMINISTRATOR)


def configure(actions: Actions) -> None:
    """Add the actions."""
    for name, help_text, needs_reason in (
        ("disqualify", "remove a submission from the leaderboards until it is reinstated", True),
        ("reinstate", "lift the disqualification of a submission", False),
        ("unpublish", "unpublish a submission until allow-publishing", False),
        ("fail", "mark a submission as failed, and give its quota back", True),
    ):
        action = actions.add_parser(name, help=help_text)
        action.add_argument("submission", type=UUID, metavar="ID")
        action.add_argument("--reason", required=needs_reason, default="", help="shown to the owner")
        _add_organiser(action)
        action.set_defaults(do=moderate, moderate=name)
    action = actions.add_parser("allow-publishing", help="let an unpublished submission be published again")
    action.add_argument("submission", type=UUID, metavar="ID")
    _add_organiser(action)
    action.set_defaults(do=moderate, moderate="allow-publishing")

    action = actions.add_parser("ban", help="ban a person from a challenge, or from the whole server")
    action.add_argument("email")
    action.add_argument("--challenge", metavar="SLUG", help="default: the whole server; the account is disabled")
    action.add_argument("--reason", required=True, help="shown to the person")
    action.add_argument(
        "--results", required=True, choices=list(map(str, Results)), help="what happens to published results"
    )
    action.set_defaults(do=ban)
    action = actions.add_parser("lift-ban", help="lift a ban")
    action.add_argument("email")
    action.add_argument("--challenge", metavar="SLUG", help="default: the ban from the whole server")
    action.set_defaults(do=lift_ban)

    action = actions.add_parser("log", help="print the audit log as CSV")
    action.add_argument("--challenge", metavar="SLUG", help="default: of the whole server")
    action.set_defaults(do=log)


def _add_organiser(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--organiser", metavar="EMAIL", help="organiser of the challenge, named in the audit log; default: the operator"
    )


def moderate(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Do something about a submission."""
    with database.writing() as session:
        user = operators_user()
        if arguments.organiser is not None:
            user = administration.get_user(session, arguments.organiser)
        given = {"submission_id": arguments.submission, "user": user}
        match arguments.moderate:
            case "disqualify":
                moderation.disqualify(session, **given, reason=arguments.reason, site=settings.public_url)
            case "reinstate":
                moderation.reinstate(session, **given, reason=arguments.reason, site=settings.public_url)
            case "unpublish":
                moderation.hold_back(session, **given, reason=arguments.reason)
            case "fail":
                moderation.fail(session, **given, reason=arguments.reason)
            case "allow-publishing":
                moderation.allow_publishing(session, **given)
    notifier = WorkerNotifier(settings)
    notifier.jobs_added()  # one that is reinstated may have to be evaluated
    notifier.mail_queued()
    return 0


def ban(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Ban somebody."""
    user = operators_user()
    with database.writing() as session:
        person = administration.get_user(session, arguments.email)
        if arguments.challenge is None:
            change = bans.ban_from_server
        else:
            change = partial(bans.ban, challenge=service.get_organised(session, arguments.challenge, user))
        change(
            session,
            person=person,
            user=user,
            reason=arguments.reason,
            results=Results(arguments.results),
            site=settings.public_url,
        )
    WorkerNotifier(settings).mail_queued()
    return 0


def lift_ban(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Lift a ban."""
    user = operators_user()
    with database.writing() as session:
        person = administration.get_user(session, arguments.email)
        if arguments.challenge is None:
            bans.lift_server_ban(session, person=person, user=user, site=settings.public_url)
        else:
            challenge = service.get_organised(session, arguments.challenge, user)
            bans.lift_ban(session, challenge=challenge, person=person, user=user, site=settings.public_url)
    WorkerNotifier(settings).mail_queued()
    return 0


def log(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Print the log."""
    challenge_id = None
    if arguments.challenge is not None:
        with database.reading() as session:
            challenge_id = service.get_organised(session, arguments.challenge, operators_user()).id
    for piece in export.as_csv(database, challenge_id=challenge_id, filters=Filters()):
        sys.stdout.write(piece)
    return 0
