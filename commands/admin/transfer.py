"""Actions on whole challenges: their organisers, export, import, archive."""

import contextlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from vocboard.app.challenges import organisers
from vocboard.app.errors import InvalidArchiveError
from vocboard.app.intake.limits import Place
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.organisers import redraw_from_thread
from vocboard.app.intake.validation import Validator
from vocboard.app.organising import archiving, copying
from vocboard.app.settings import Environment
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.queries import any_archive
from vocboard.app.transfer.exporting import begin_export
from vocboard.app.transfer.importing import import_challenge as import_from
from vocboard.app.transfer.importing_people import addresses_in, report_of
from vocboard.commands.admin.actions import (
    ActionError,
    Actions,
    Call,
    Declared,
    Outcome,
    Transaction,
    argument,
    in_transaction,
    operators_user,
)

ACTIONS = Actions()


def _owner(of: str) -> Declared:
    return argument("--organiser", required=True, metavar="EMAIL", help=f"owner of the {of} challenge")


@ACTIONS.runs("slug", argument("file", type=Path, metavar="FILE", help="for example voc2012.vocboard.tar"))
def export_challenge(call: Call) -> Outcome:
    """Write a whole challenge, without its ground truth, to a file.

    The file is complete, or not there.
    """
    file = call.arguments.file
    if file.is_dir():
        raise ActionError(f"{file} is a directory: name a file in it.")
    exported = begin_export(
        call.database, archive_store(call.settings), slug=call.arguments.slug, user=operators_user()
    )
    partial = file.with_name(f"{file.name}.partial")
    try:
        with partial.open("wb") as opened:
            partial.chmod(0o600)  # it has email addresses and exact scores
            opened.writelines(exported.stream())
        partial.replace(file)
    except OSError as error:
        raise ActionError(f"{file}: {error}") from error
    finally:
        exported.discard()
        partial.unlink(missing_ok=True)
    return 0


@ACTIONS.changes(
    "slug",
    argument("new_slug", metavar="NEW_SLUG", help="short name of the new challenge, used in URLs"),
    argument("--title", default="", help="(default: that of the earlier one)"),
    _owner("new"),
)
def copy_challenge(at: Transaction) -> str:
    """Make a draft with the rules of a challenge, for the next year."""
    copying.copy(at.session, **at.organised, slug=at.arguments.new_slug, title=at.arguments.title)
    return f"copied as {at.arguments.new_slug}, a draft"


@ACTIONS.runs(
    argument("file", type=Path, metavar="FILE"),
    _owner("imported"),
    argument("--slug", default="", help="short name on this server (default: the one in the archive)"),
    argument(
        "--invite",
        action="append",
        default=[],
        metavar="EMAIL",
        help="organiser named in the archive, to invite as an organiser here; can be repeated",
    ),
)
def import_challenge(call: Call) -> Outcome:
    """Import a challenge that another server has exported.

    Prints all that is wrong with the file.
    """
    arguments, store = call.arguments, archive_store(call.settings)
    with call.reading() as at:
        user = at.user
        if call.settings.environment is Environment.EMBEDDED and not any_archive(at.session):
            store.set_up()  # as the web application does, which may not have started yet
    try:
        uploader = Place(user.id, "", UploadKind.CHALLENGE, 0, is_new=False)
        with contextlib.closing(Validator(call.settings)) as validator:
            import_it = partial(
                import_from,
                call.database,
                store,
                arguments.file,
                user=user,
                slug=arguments.slug,
                archive_limit_bytes=call.settings.upload_limit_bytes,
                files_limit_bytes=call.settings.challenge_files_limit_bytes,
                redraw=redraw_from_thread(validator, uploader),
                invited=addresses_in(" ".join(arguments.invite)),
                site=call.settings.public_url,
            )
            challenge = anyio.run(anyio.to_thread.run_sync, import_it)
    except OSError as error:
        raise ActionError(f"{arguments.file}: {error}") from error
    except InvalidArchiveError as error:
        for problem in error.problems:
            place = ":".join(str(part) for part in (problem.file, problem.line) if part is not None)
            print(f"vocboard admin: {place + ': ' if place else ''}{problem.message}", file=sys.stderr)
        return 1
    print(f"imported as {challenge.slug}, an archived draft")
    with call.reading() as at:
        report = report_of(at.session, challenge)
    for one in report.organisers if report else ():
        state = "invited" if one.is_invited else "has no rights here unless you invite them"
        print(f"  {one.name} <{one.email}> organised it on the other server: {state}")
    if report and report.bans:
        print(f"  {report.bans} banned people; the bans hold for their addresses")
    return 0


def _change(change: Callable[..., Any], at: Transaction) -> None:
    change(at.session, **at.organised)


for name, change, help_text in (
    ("archive-challenge", archiving.archive, "make a challenge read-only"),
    ("reopen-challenge", archiving.reopen, "let an archived challenge be changed again"),
    ("delete-draft", archiving.delete_draft, "delete a draft that has no submissions except rehearsals"),
):
    ACTIONS.add(name, help_text, in_transaction(partial(_change, change)), "slug")


@ACTIONS.changes("slug", "email")
def add_organiser(at: Transaction) -> None:
    """Make a user an organiser of a challenge."""
    organisers.add(at.session, **at.organised, person=at.person)


@ACTIONS.changes("slug", "email")
def remove_organiser(at: Transaction) -> None:
    """Remove an organiser of a challenge."""
    organisers.remove(at.session, **at.organised, user_id=at.person.id)


@ACTIONS.changes("slug", "email")
def hand_over(at: Transaction) -> None:
    """Make another organiser the owner of a challenge."""
    organisers.hand_over(at.session, **at.organised, user_id=at.person.id)
