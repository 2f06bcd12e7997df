"""Actions on files: check an edition file, compare declared training images with the test set, prune archives."""

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from vocboard.app.intake.resumable import remove_expired
from vocboard.app.storage.stores import archive_store, ground_truth_inbox
from vocboard.app.submissions.forms import unpack_hashes
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.pruning import prune as prune_archives
from vocboard.commands.admin.actions import ActionError, Actions, Call, Outcome, argument, one_of
from vocboard.commands.tables import Column, render
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, EditionFileError
from vocboard.evaluator.editions.column_names import reserved_name
from vocboard.evaluator.image_hashes import (
    NEAR_BITS,
    HashListError,
    ImageHash,
    hash_image,
    images_below,
    overlaps,
    parse_list,
)
from vocboard.evaluator.problems import counted

ACTIONS = Actions()
SEPARATE, OVERLAPPING = 0, 1  # exit statuses


@ACTIONS.runs(argument("file", type=Path, metavar="FILE", help="see docs/editions/own.md"))
def check_edition(call: Call) -> Outcome:
    """Check an edition file, and show its competitions.

    Prints all its errors, with their lines.
    """
    file = call.arguments.file
    try:
        edition = editions.read(file)
    except OSError as error:
        raise ActionError(f"{file}: {error.strerror}") from error
    except EditionFileError as error:
        print(error, file=sys.stderr)
        return 1
    if wrong := reserved_name(edition):
        print(f"{file}: {wrong}", file=sys.stderr)
        return 1
    return summary(edition)


def summary(edition: Edition) -> str:
    """Return an edition's classes, and a table of its competitions."""
    competitions = list(edition.competitions.values())
    table = render(
        [
            Column("competition", [item.key for item in competitions]),
            Column("task", [item.task for item in competitions]),
            Column("trained on", [item.training for item in competitions]),
            Column("metric", [item.rules.metric for item in competitions]),
            Column("result file", [item.result_file for item in competitions]),
            Column(
                "entrants declare",
                [", ".join(each.name for each in item.declarations) or "nothing" for item in competitions],
            ),
        ]
    )
    classes = f"{counted(len(edition.classes), 'class', 'classes')}: {', '.join(edition.classes)}"
    return f"{edition.name}: {edition.title}\n{classes}\n\n{table}"


@ACTIONS.runs(
    argument("directory", type=Path, metavar="DIRECTORY", help="the test images"),
    one_of(
        argument("--submission", type=UUID, metavar="ID", help="submission whose declared list to compare"),
        argument("--list", type=Path, metavar="FILE", help="list printed by `vocboard hash-images`"),
        required=True,
    ),
    argument(
        "--near",
        type=int,
        default=NEAR_BITS,
        metavar="BITS",
        help=f"how many of 64 bits may differ for two pictures to count as the same (default: {NEAR_BITS})",
    ),
)
def compare_images(call: Call) -> Outcome:
    """Find test images among the training images that a submission declares.

    The exit status is 1 if one is, or looks like, a test image, or after an error.
    """
    directory = call.arguments.directory
    try:
        listed = parse_list(_list(call))
    except (OSError, UnicodeDecodeError, HashListError, LookupError) as error:
        raise ActionError(str(error)) from error
    if not listed:
        raise ActionError("no images are listed")
    if not directory.is_dir():
        raise ActionError(f"{directory} is not a directory")
    test = list(_hashed(directory))
    if not test:
        raise ActionError(f"{directory} has no images")
    found = 0
    for overlap in overlaps(listed, test, near_bits=call.arguments.near):
        found += 1
        how = "the same file as" if overlap.bits is None else f"looks like ({overlap.bits} of 64 bits differ)"
        print(f"line {overlap.line}: {how} {overlap.image.relative_to(directory)}")
    print(f"{found} of {len(listed)} listed images overlap with {len(test)} test images")
    return OVERLAPPING if found else SEPARATE


def _list(call: Call) -> str:
    if call.arguments.list is not None:
        return str(call.arguments.list.read_text(encoding="utf-8-sig"))
    with call.database.reading() as session:
        submission = session.get(Submission, call.arguments.submission)
        if submission is None:
            raise LookupError(f"there is no submission {call.arguments.submission}")
        return unpack_hashes(submission.flickr_hashes)


def _hashed(directory: Path) -> Iterator[tuple[Path, ImageHash]]:
    for path in images_below(directory):
        try:
            yield path, hash_image(path)
        except (OSError, ValueError) as error:
            print(f"vocboard admin: {path}: {error}", file=sys.stderr)


@ACTIONS.runs()
def move_archives(call: Call) -> Outcome:
    """Move files from the former store to the present one, while the server runs.

    Moves archives, columns, files of challenges, and uploads of ground truth that wait for their import. Workers bring
    imported ground truth themselves.
    """
    if not call.settings.former_store:
        raise ActionError("set VOCBOARD_FORMER_STORE to where the files are now (docs/operators.md, *An object store*)")
    moved, damaged = archive_store(call.settings).bring()
    inbox = ground_truth_inbox(call.settings)
    inbox.set_up()
    waiting = inbox.bring()
    print(f"{counted(moved, 'archive, columns or file', 'archives, columns and files')} of challenges moved")
    print(f"{counted(waiting, 'file')} of the inbox of ground truth moved")
    for sha256 in damaged:
        print(f"{sha256} does not match its hash, and stays where it is", file=sys.stderr)
    return 1 if damaged else 0


@ACTIONS.runs()
def prune(call: Call) -> Outcome:
    """Remove unused archives.

    The web process does this periodically.
    """
    store = archive_store(call.settings)
    pruned = prune_archives(call.database, store, withdrawn_kept_for=call.settings.withdrawn_archives_kept_for)
    expired = remove_expired(call.database, store)
    return (
        f"{counted(pruned.withdrawn, 'archive')} of withdrawn submissions removed\n"
        f"{counted(expired, 'file')} of expired resumable uploads removed\n"
        f"{counted(pruned.abandoned, 'partial file')} of killed processes removed\n"
        f"{counted(pruned.unknown, 'archive')} without a submission set aside, {pruned.restored} restored"
    )
