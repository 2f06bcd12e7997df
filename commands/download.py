"""`vocboard download`: save the archive of a submission, or what a challenge offers for checking results offline."""

import argparse
import hashlib
from collections.abc import Iterator
from pathlib import Path

from vocboard.client.answers import understood
from vocboard.client.client import Client
from vocboard.client.errors import ClientError, MisdirectedError, MisuseError, NetworkError
from vocboard.client.paths import path
from vocboard.client.terminal import printable
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import submission_id, wrong_name
from vocboard.commands.reporting import DONE, print_json
from vocboard.evaluator.whole_output import whole_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "submission",
        nargs="?",
        metavar="SUBMISSION",
        help="save its archive: the submission identifier, or its beginning",
    )
    what.add_argument(
        "--challenge", metavar="CHALLENGE", help="save its edition file and image sets, to check results offline"
    )
    parser.add_argument(
        "--phase", metavar="KEY", help="with --challenge: phase whose image sets to save (default: the current one)"
    )
    parser.add_argument(
        "--output",
        metavar="PATH",
        type=Path,
        help="file, or directory (default: the current directory, the name as uploaded)",
    )
    add_online_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Save files, and print where they are."""
    if arguments.phase is not None and arguments.challenge is None:
        raise MisuseError("--phase needs --challenge: an archive is saved whatever its phase")
    try:
        if arguments.challenge:
            files, image_set = _of_challenge(arguments)
        else:
            files, image_set = [_archive(arguments)], None
    except OSError as error:
        raise ClientError(f"cannot write the file: {error}") from error
    if arguments.json:
        print_json({"files": [str(file) for file in files]})
    else:
        for file in files:
            print(f"Saved {printable(str(file))}")
        if arguments.challenge:
            edition, image_sets = (printable(str(file)) for file in files)
            of_phase = "" if image_set is None else f" --image-set {printable(image_set)}"
            print(f"To check results: vocboard validate {edition} results.tar.gz --image-sets {image_sets}{of_phase}")
    return DONE


def _archive(arguments: argparse.Namespace) -> Path:
    with connect(arguments.server) as connection:
        identifier = submission_id(connection, arguments.submission)
        answer = connection.get(path("submissions", identifier))
        if not isinstance(answer.get("archive"), dict):
            raise MisuseError("only the owner of a submission and the challenge's organisers can download its archive")
        name, sha256 = str(answer["archive"]["name"]), str(answer["archive"]["sha256"])
        place = arguments.output or Path()
        file = place / (Path(name).name or identifier) if place.is_dir() else place
        if file.exists():
            raise MisuseError(f"{file} exists; choose another name with --output")
        _save(connection.chunks(path("submissions", identifier, "archive")), Path(file), sha256)
    return Path(file)


def _save(chunks: Iterator[bytes], file: Path, sha256: str) -> None:
    """Write a file, which appears when it is complete and has its hash."""
    digest = hashlib.sha256()
    with whole_file(file) as unfinished:
        with unfinished.open("wb") as output:
            for chunk in chunks:
                digest.update(chunk)
                output.write(chunk)
        if digest.hexdigest() != sha256:
            raise NetworkError("the download is damaged: its hash is not that of the archive; try again")


def _of_challenge(arguments: argparse.Namespace) -> tuple[list[Path], str | None]:
    """Return the files, and the image set of the phase if it is not that of the edition."""
    with connect(arguments.server, as_visitor=True) as connection:
        address = connection.address
        try:
            found = connection.get(path("challenges", arguments.challenge))
        except MisdirectedError as error:
            raise wrong_name(connection, error, arguments.challenge) from error
    with Client(address) as client:
        files = client.download(arguments.challenge, arguments.output or Path(), phase=arguments.phase)
    key = arguments.phase or found.get("current_phase")
    image_sets = understood(
        lambda content: {phase["key"]: phase.get("image_set") for phase in content.get("phases", ())}, found
    )
    return [files.edition, files.image_sets], image_sets.get(key)
