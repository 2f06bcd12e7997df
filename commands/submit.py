"""`vocboard submit`: upload an archive of results."""

import argparse
from pathlib import Path

from vocboard.client.answers import Challenge, SubmissionDetails, challenge, submission_details, understood
from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Answer, Connection, FieldValue, path
from vocboard.client.errors import InvalidArchiveError, MisuseError
from vocboard.client.terminal import ProgressBar, instant, printable
from vocboard.commands.connecting import (
    DONE,
    PROBLEMS,
    add_json_argument,
    add_server_argument,
    connect,
    print_json,
    reporting_errors,
    say,
)
from vocboard.commands.problem_text import problem_lines, summary
from vocboard.commands.submissions import exit_status, followed, scores_in_full, state_in_words
from vocboard.evaluator.problems import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Upload results. Exit status: 0 accepted (with --wait: scored), 1 the archive has problems, 2 usage, 3 trouble "
        "with the server or the network."
    )
    parser.add_argument("challenge", metavar="CHALLENGE", help="its short name, the last part of its address")
    parser.add_argument("archive", metavar="ARCHIVE", type=Path, help="result files: .tar, .tar.gz/.xz/.bz2 or .zip")
    parser.add_argument("--method", metavar="NAME", required=True, help="changed parameters are not another method")
    parser.add_argument("--description", metavar="TEXT", default="", help="of the method")
    parser.add_argument("--contributors", metavar="NAMES", default="")
    parser.add_argument("--affiliation", metavar="TEXT", default="")
    parser.add_argument(
        "--training-data",
        metavar="TEXT",
        default="",
        help="what the method was trained on, for the competitions that ask for it",
    )
    parser.add_argument(
        "--training-annotation",
        choices=["segmentation_only", "other_annotation"],
        help="of a segmentation method: with segmentations alone, or also bounding boxes or other annotation",
    )
    parser.add_argument("--flickr-images", choices=["no", "yes"], help="whether it was trained on images from flickr")
    parser.add_argument(
        "--flickr-image-hashes",
        metavar="FILE",
        type=Path,
        help="with `yes`: the list of these images that `vocboard hash-images` prints",
    )
    parser.add_argument(
        "--segmentation-classes",
        metavar="CLASSES",
        help="classes entered for segmentation, divided by commas (default: all)",
    )
    parser.add_argument("--wait", action="store_true", help="wait until it is scored, and show the scores")
    add_json_argument(parser)
    add_server_argument(parser)


@reporting_errors
def run(arguments: argparse.Namespace) -> int:
    """Upload, tell what the server says of the archive, and wait for the scores if asked to."""
    with connect(arguments.server) as connection, OutgoingArchive(arguments.archive) as archive:
        found = understood(challenge, connection.get(path("challenges", arguments.challenge)))
        _check_that_it_is_open(found)
        _say_what_is_left_open(found, arguments)
        try:
            answer = _upload(connection, arguments, archive)
        except InvalidArchiveError as error:
            if arguments.json:
                print_json({"problems": [problem.as_json() for problem in error.problems]})
            else:
                print("\n".join(report(error.problems)))
            return PROBLEMS
        accepted = understood(submission_details, answer)
        if not arguments.json:
            print("\n".join([*report(accepted.warnings), _welcome(accepted, arguments.wait)]), flush=True)
        if not arguments.wait:
            if arguments.json:
                print_json(answer)
            return DONE
        followed(connection, accepted.id)
        answer = connection.get(path("submissions", accepted.id))
    ended = understood(submission_details, answer)
    if arguments.json:
        print_json(answer)
    elif ended.scores:
        print(f"\n{scores_in_full(ended)}")
    else:
        print(f"\n{printable(ended.failure or '') or f'The submission is {state_in_words(ended.state, None)}.'}")
    return exit_status(ended)


def report(problems: tuple[Problem, ...]) -> list[str]:
    """Return the lines of a validation report, the same as `vocboard validate` prints."""
    return [*problem_lines(problems), summary(problems)]


def _check_that_it_is_open(found: Challenge) -> None:
    """Spare the person an upload that the server would refuse at its end.

    Raises:
        MisuseError: the challenge takes no submissions now.
    """
    if found.phase == "closed" and found.closes_at is not None:
        raise MisuseError(f"{printable(found.title)} has been closed since {instant(found.closes_at)}")
    if found.phase == "not_yet_open" and found.opens_at is not None:
        raise MisuseError(f"{printable(found.title)} opens at {instant(found.opens_at)}; submit after that")


def _say_what_is_left_open(found: Challenge, arguments: argparse.Namespace) -> None:
    """Tell, before the upload, which declarations competitions of the challenge ask for and the command leaves out."""
    for declaration, keys in found.declarations.items():
        if not getattr(arguments, declaration, "given"):
            option = "--" + declaration.replace("_", "-")
            say(f"{', '.join(map(printable, keys))} would have you state {option}; without it the result says so")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"{file} cannot be read: {error}") from error


def _upload(connection: Connection, arguments: argparse.Namespace, archive: OutgoingArchive) -> Answer:
    fields: dict[str, FieldValue] = {
        "method_name": arguments.method,
        "method_description": arguments.description,
        "contributors": arguments.contributors,
        "affiliation": arguments.affiliation,
        "training_data": arguments.training_data,
        "training_annotation": arguments.training_annotation or "",
        "flickr_images": arguments.flickr_images or "",
    }
    if arguments.flickr_image_hashes is not None:
        fields["flickr_image_hashes"] = _read(arguments.flickr_image_hashes)
    if arguments.segmentation_classes is not None:
        fields["segmentation_classes"] = [name.strip() for name in arguments.segmentation_classes.split(",")]
    with ProgressBar(archive.name, archive.size) as bar:
        left = archive.size

        def advanced(count: int) -> None:
            nonlocal left
            left -= count
            bar.advance(count)
            if left == 0:
                bar.say("Uploaded; the server is checking it ...")

        archive.advanced = advanced
        return connection.upload(path("challenges", arguments.challenge, "submissions"), fields, archive)


def _welcome(accepted: SubmissionDetails, waiting: bool) -> str:
    lines = [
        f"Accepted as submission {printable(accepted.id)}: {printable(', '.join(accepted.competitions))}",
        f"It is {state_in_words(accepted.state, accepted.queue_position)}.",
    ]
    if not waiting:
        lines[-1] += f" Follow it with `vocboard status {printable(accepted.id)} --wait`."
    return "\n".join(lines)
