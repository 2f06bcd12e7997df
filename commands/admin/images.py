"""Actions on images: compare declared training images with the test set."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.app.submissions.forms import unpack_hashes
from vocboard.app.submissions.models import Submission
from vocboard.commands.admin.actions import Actions
from vocboard.evaluator.image_hashes import (
    NEAR_BITS,
    HashListError,
    ImageHash,
    hash_image,
    images_below,
    overlaps,
    parse_list,
)

SEPARATE, OVERLAPPING = 0, 1


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser(
        "compare-images", help="find test images among the training images that a submission declares"
    )
    action.add_argument("directory", type=Path, metavar="DIRECTORY", help="the test images")
    listed = action.add_mutually_exclusive_group(required=True)
    listed.add_argument("--submission", type=UUID, metavar="ID", help="submission whose declared list to compare")
    listed.add_argument("--list", type=Path, metavar="FILE", help="list printed by `vocboard hash-images`")
    action.add_argument(
        "--near",
        type=int,
        default=NEAR_BITS,
        metavar="BITS",
        help=f"how many of 64 bits may differ for two pictures to count as the same (default: {NEAR_BITS})",
    )
    action.set_defaults(do=compare_images)


def compare_images(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Print the listed images that are, or look like, test images. Exit status: 0 none, 1 some, or an error."""
    try:
        listed = parse_list(_list(arguments, database))
    except (OSError, UnicodeDecodeError, HashListError, LookupError) as error:
        print(f"vocboard admin: {error}", file=sys.stderr)
        return OVERLAPPING
    if not arguments.directory.is_dir():
        print(f"vocboard admin: {arguments.directory} is not a directory", file=sys.stderr)
        return OVERLAPPING
    test = list(_hashed(arguments.directory))
    found = 0
    for overlap in overlaps(listed, test, near_bits=arguments.near):
        found += 1
        how = "the same file as" if overlap.bits is None else f"looks like ({overlap.bits} of 64 bits differ)"
        print(f"line {overlap.line}: {how} {overlap.image.relative_to(arguments.directory)}")
    print(f"{found} of {len(listed)} listed images overlap with {len(test)} test images")
    return OVERLAPPING if found else SEPARATE


def _list(arguments: argparse.Namespace, database: Database) -> str:
    if arguments.list is not None:
        return str(arguments.list.read_text(encoding="utf-8-sig"))
    with database.reading() as session:
        submission = session.get(Submission, arguments.submission)
        if submission is None:
            raise LookupError(f"there is no submission {arguments.submission}")
        return unpack_hashes(submission.flickr_hashes)


def _hashed(directory: Path) -> Iterator[tuple[Path, ImageHash]]:
    for path in images_below(directory):
        try:
            yield path, hash_image(path)
        except (OSError, ValueError) as error:
            print(f"vocboard admin: {path}: {error}", file=sys.stderr)
