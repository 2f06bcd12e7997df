"""`vocboard hash-images`: the list of hashes that is declared of images from flickr."""

import argparse
import sys
from pathlib import Path

from vocboard.commands.progress import Progress
from vocboard.evaluator.image_hashes import hash_image, images_below

DONE, PROBLEMS, MISUSE = 0, 1, 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Print, for every image below a directory, the SHA-256 of its file and a hash of the picture, for an organiser "
        "to look for test images among them. The images stay where they are. Exit status: 0 done, 1 some could not be "
        "read, 2 usage."
    )
    parser.add_argument("directory", metavar="DIRECTORY", type=Path)


def run(arguments: argparse.Namespace) -> int:
    """Print the list; what cannot be hashed is told on standard error."""
    if not arguments.directory.is_dir():
        print(f"vocboard: there is no directory {arguments.directory}", file=sys.stderr)
        return MISUSE
    status, count = DONE, 0
    with Progress("images") as progress:
        for path in images_below(arguments.directory):
            try:
                line = str(hash_image(path))
            except (OSError, ValueError) as error:
                progress.clear()
                print(f"vocboard: {path}: {error}", file=sys.stderr)
                status = PROBLEMS
            else:
                print(line)
                count += 1
                if not sys.stdout.isatty():  # where the list itself is on the terminal, it shows how far it is
                    progress.advance()
    print(f"vocboard: {count} images", file=sys.stderr)
    return status
