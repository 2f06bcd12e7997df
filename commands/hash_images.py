"""`vocboard hash-images`: hashes of training images from flickr, for the declaration of a submission."""

import argparse
import sys
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS, say
from vocboard.evaluator.image_hashes import hash_image, images_below
from vocboard.evaluator.problems import counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Print the SHA-256 of the file and a perceptual hash of the picture for every image below a "
        "directory. Organisers use this list to find test images among training images. The images themselves are not "
        "sent. Exit status: 0 success, 1 some images could not be read, 2 usage error."
    )
    parser.add_argument("directory", metavar="DIRECTORY", type=Path)


def run(arguments: argparse.Namespace) -> int:
    """Print the list; report images that cannot be hashed on standard error.

    Raises:
        MisuseError: there is no such directory.
    """
    if not arguments.directory.is_dir():
        raise MisuseError(f"{arguments.directory} is not a directory")
    status, count = DONE, 0
    with Progress("images") as progress:
        for path in images_below(arguments.directory):
            try:
                line = str(hash_image(path))
            except (OSError, ValueError) as error:
                progress.clear()
                say(f"{path}: {error}")
                status = PROBLEMS
            else:
                print(line)
                count += 1
                if not sys.stdout.isatty():  # where the list itself is on the terminal, it shows how far it is
                    progress.advance()
    say(counted(count, "image"))
    return status
