"""`vocboard hash-images`: hashes of training images from flickr, for the declaration of a submission."""

import argparse
import sys
from pathlib import Path

from vocboard.commands.progress import Progress
from vocboard.evaluator.image_hashes import hash_image, images_below

DONE, PROBLEMS, MISUSE = 0, 1, 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Print the SHA-256 of the file and a perceptual hash of the picture for every image below a "
        "directory. Organisers use this list to find test images among training images. The images themselves are not "
        "sent. Exit status: 0 success, 1 some images could not be read, 2 usage error."
    )
    parser.add_argument("directory", metavar="DIRECTORY", type=Path)


def run(arguments: argparse.Namespace) -> int:
    """Print the list; report images that cannot be hashed on standard error."""
    if not arguments.directory.is_dir():
        print(f"vocboard: {arguments.directory} is not a directory", file=sys.stderr)
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
