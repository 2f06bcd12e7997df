"""Actions on whole challenges: their organisers, export, import, archive."""

import argparse
import sys
from pathlib import Path

from vocboard.app.accounts import administration
from vocboard.app.challenges import organisers, service
from vocboard.app.database import Database
from vocboard.app.errors import InvalidArchiveError
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.organising import archiving, copying
from vocboard.app.settings import Settings
from vocboard.app.storage.stores import archive_store
from vocboard.app.transfer.importing import import_challenge
from vocboard.app.transfer.importing_people import addresses_in, report_of
from vocboard.app.transfer.service import begin_export
from vocboard.commands.admin.actions import Actions
from vocboard.commands.admin.moderation import operators_user


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser("export-challenge", help="write a whole challenge, without its ground truth, to a file")
    action.add_argument("slug")
    action.add_argument("file", type=Path, metavar="FILE", help="for example voc2012.vocboard.tar")
    action.set_defaults(do=export_challenge)

    action = actions.add_parser("copy-challenge", help="make a draft with the rules of a challenge, for the next year")
    action.add_argument("slug")
    action.add_argument("new_slug", metavar="NEW_SLUG", help="short name of the new challenge, used in URLs")
    action.add_argument("--title", default="", help="(default: that of the earlier one)")
    action.add_argument("--organiser", required=True, metavar="EMAIL", help="owner of the new challenge")
    action.set_defaults(do=copy_challenge)

    action = actions.add_parser("import-challenge", help="import a challenge that another server has exported")
    action.add_argument("file", type=Path, metavar="FILE")
    action.add_argument("--organiser", required=True, metavar="EMAIL", help="owner of the imported challenge")
    action.add_argument("--slug", default="", help="short name on this server (default: the one in the archive)")
    action.add_argument(
        "--invite",
        action="append",
        default=[],
        metavar="EMAIL",
        help="organiser named in the archive, to invite as an organiser here; can be repeated",
    )
    action.set_defaults(do=import_from_file)

    for name, help_text in (
        ("archive-challenge", "make a challenge read-only"),
        ("reopen-challenge", "let an archived challenge be changed again"),
        ("delete-draft", "delete a draft that has no submissions except rehearsals"),
    ):
        action = actions.add_parser(name, help=help_text)
        action.add_argument("slug")
        action.set_defaults(do=change_challenge, change=name)

    for name, help_text in (
        ("add-organiser", "make a user an organiser of a challenge"),
        ("remove-organiser", "remove an organiser of a challenge"),
        ("hand-over", "make another organiser the owner of a challenge"),
    ):
        action = actions.add_parser(name, help=help_text)
        action.add_argument("slug")
        action.add_argument("email")
        action.set_defaults(do=change_organisers, change=name)


def export_challenge(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Write a challenge to a file, which is complete or not there."""
    exported = begin_export(database, archive_store(settings), slug=arguments.slug, user=operators_user())
    partial = arguments.file.with_name(f"{arguments.file.name}.partial")
    try:
        with partial.open("wb") as file:
            partial.chmod(0o600)  # it has email addresses and exact scores
            file.writelines(exported.stream())
        partial.replace(arguments.file)
    except OSError as error:
        print(f"vocboard admin: {arguments.file}: {error}", file=sys.stderr)
        return 1
    finally:
        exported.discard()
        partial.unlink(missing_ok=True)
    return 0


def copy_challenge(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Make a draft with the rules of a challenge."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.organiser)
        challenge = service.get_organised(session, arguments.slug, user)
        copying.copy(session, challenge=challenge, user=user, slug=arguments.new_slug, title=arguments.title)
    print(f"copied as {arguments.new_slug}, a draft")
    return 0


def import_from_file(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Import a challenge, or print all that is wrong with the file."""
    with database.reading() as session:
        user = administration.get_user(session, arguments.organiser)
    try:
        challenge = import_challenge(
            database,
            archive_store(settings),
            arguments.file,
            user=user,
            slug=arguments.slug,
            archive_limit_bytes=settings.upload_limit_bytes,
            invited=addresses_in(" ".join(arguments.invite)),
            site=settings.public_url,
        )
    except OSError as error:
        print(f"vocboard admin: {arguments.file}: {error}", file=sys.stderr)
        return 1
    except InvalidArchiveError as error:
        for problem in error.problems:
            place = ":".join(str(part) for part in (problem.file, problem.line) if part is not None)
            print(f"vocboard admin: {place + ': ' if place else ''}{problem.message}", file=sys.stderr)
        return 1
    WorkerNotifier(settings).mail_queued()
    print(f"imported as {challenge.slug}, an archived draft")
    with database.reading() as session:
        report = report_of(session, challenge)
    for one in report.organisers if report else ():
        state = "invited" if one.is_invited else "has no rights here unless you invite them"
        print(f"  {one.name} <{one.email}> organised it on the other server: {state}")
    if report and report.bans:
        print(f"  {report.bans} banned people; the bans hold for their addresses")
    return 0


def change_challenge(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Archive, reopen or delete a challenge."""
    changes = {
        "archive-challenge": archiving.archive,
        "reopen-challenge": archiving.reopen,
        "delete-draft": archiving.delete_draft,
    }
    user = operators_user()
    with database.writing() as session:
        challenge = service.get_organised(session, arguments.slug, user)
        changes[arguments.change](session, challenge=challenge, user=user)
    return 0


def change_organisers(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Add or remove an organiser, or hand a challenge over."""
    user = operators_user()
    with database.writing() as session:
        challenge = service.get_organised(session, arguments.slug, user)
        person = administration.get_user(session, arguments.email)
        match arguments.change:
            case "add-organiser":
                organisers.add(session, challenge=challenge, person=person, user=user)
            case "remove-organiser":
                organisers.remove(session, challenge=challenge, user=user, user_id=person.id)
            case "hand-over":
                organisers.hand_over(session, challenge=challenge, user=user, user_id=person.id)
    return 0
