"""`vocboard submit`: upload an archive of results."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vocboard.client.answers import (
    Challenge,
    SubmissionDetails,
    challenge,
    submission,
    submission_details,
    understood,
)
from vocboard.client.archive import OutgoingArchive, opened
from vocboard.client.connection import Answer, Connection
from vocboard.client.editing import FIELDS, submission_form
from vocboard.client.errors import (
    ClientError,
    InvalidArchiveError,
    MisdirectedError,
    MisuseError,
    RefusedError,
    WarningsNotAcceptedError,
)
from vocboard.client.paths import path, phase_parameter
from vocboard.client.resumable import UploadListener, has_begun
from vocboard.client.submitting import submit
from vocboard.client.terminal import instant, printable, size
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.declarations import add_declaration_arguments
from vocboard.commands.explanations import PAGE
from vocboard.commands.markdown_report import problems_in_markdown, scores_in_markdown
from vocboard.commands.names import wrong_name
from vocboard.commands.problem_text import group_lines, group_summary
from vocboard.commands.progress import ProgressBar
from vocboard.commands.reporting import DONE, PROBLEMS, print_json
from vocboard.commands.submissions import exit_status, followed, scores_in_full, state_in_words
from vocboard.commands.submit_questions import accepts_warnings, complete, confirm, in_terminal
from vocboard.evaluator.problem_groups import ProblemGroup, groups_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Upload a results archive. If the upload is interrupted, run the same command again: it continues. "
        "Exit status: 0 accepted (with --wait: scored), 1 the archive has problems, 2 usage "
        "error, 3 server or network error, 4 a quota or limit is used up."
    )
    parser.add_argument("challenge", metavar="CHALLENGE", help="short name of the challenge: the last part of its URL")
    parser.add_argument(
        "archive",
        metavar="ARCHIVE",
        type=Path,
        help="result files: .tar, .tar.gz/.xz/.bz2 or .zip; - reads the archive from standard input",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        required=True,
        help="name of the method; use the same name if only its parameters changed",
    )
    parser.add_argument("--description", metavar="TEXT", default="", help="description of the method")
    previous = "(default: as in your last submission, or as in your account)"
    parser.add_argument("--contributors", metavar="NAMES", help=f"names of the authors {previous}")
    parser.add_argument("--affiliation", metavar="TEXT", help=f"affiliation of the authors {previous}")
    parser.add_argument(
        "--training-data",
        metavar="TEXT",
        default="",
        help="what the method was trained on, for competitions that require it",
    )
    add_declaration_arguments(parser)
    parser.add_argument(
        "--segmentation-classes",
        metavar="CLASSES",
        help="classes entered for segmentation, separated by commas (default: all)",
    )
    parser.add_argument("--all", action="store_true", help="show all listed places of each problem, not only three")
    parser.add_argument("--phase", metavar="KEY", help="phase of the challenge (default: the current one)")
    parser.add_argument("--publish", action="store_true", help="publish the result as soon as it is scored")
    parser.add_argument(
        "--again", action="store_true", help="do not ask for confirmation if this archive was submitted before"
    )
    parser.add_argument(
        "--accept-warnings", action="store_true", help="do not ask if warnings are about many of the results"
    )
    parser.add_argument("--wait", action="store_true", help="wait until the submission is scored, and print the scores")
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="wait, and write scores, intervals and ranks, or what is wrong, to a file in Markdown",
    )
    add_online_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Upload the archive, print the server's report, and wait for the scores if requested."""
    arguments.wait = arguments.wait or arguments.markdown is not None
    if arguments.markdown is not None and (arguments.markdown.is_dir() or not arguments.markdown.parent.is_dir()):
        raise MisuseError(f"--markdown: {arguments.markdown} cannot be a file; nothing was submitted")
    with connect(arguments.server) as connection, opened(arguments.archive) as archive:
        found = understood(challenge, _challenge(connection, arguments.challenge))
        try:
            _check_that_it_is_open(found, arguments.phase)
        except MisuseError:
            # What has begun before the deadline may end after it.
            if not has_begun(connection, arguments.challenge, phase_parameter(arguments.phase), archive.sha256()):
                raise
        complete(arguments, connection, found, archive)
        try:
            answer = _accepted(connection, arguments, archive)
        except InvalidArchiveError as error:
            _report_rejection(connection, arguments, error)
            return PROBLEMS
        accepted = understood(submission_details, answer)
        if not arguments.json:
            warnings = report(groups_of(accepted.warnings), connection.address + PAGE, every_place=arguments.all)
            print("\n".join([*warnings, _accepted_message(accepted, arguments.wait)]), flush=True)
        if not arguments.wait:
            if arguments.json:
                print_json(answer)
            return DONE
        try:
            followed(connection, accepted.id)
            answer = connection.get(path("submissions", accepted.id))
        finally:
            if arguments.json:  # the submission has its id even if the wait fails
                print_json(answer)
        ended = understood(submission_details, answer)
        if arguments.markdown is not None:
            _write(arguments.markdown, scores_in_markdown(connection, ended))
    if not arguments.json:
        print(f"\n{_outcome(ended, publish=arguments.publish)}")
    return exit_status(ended)


def _outcome(ended: SubmissionDetails, *, publish: bool) -> str:
    if not ended.scores:
        return printable(ended.failure or "") or f"The submission is {state_in_words(ended.state, None)}."
    if ended.published_at is not None or publish:
        return scores_in_full(ended)
    return (
        f"{scores_in_full(ended)}\n\n"
        f"Only you and the organisers see this. `vocboard publish {printable(ended.id)}` publishes it."
    )


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ClientError(f"cannot write {file}: {error.strerror}") from error


def _report_rejection(connection: Connection, arguments: argparse.Namespace, error: InvalidArchiveError) -> None:
    if arguments.markdown is not None:
        _write(arguments.markdown, problems_in_markdown(error))
    if isinstance(error, WarningsNotAcceptedError) and not arguments.json:
        print("Nothing was submitted, and no quota was used; --accept-warnings submits these results.")
    elif arguments.json:
        print_json(
            {
                "problems": [problem.as_json() for problem in error.problems],
                "groups": [group.as_json() for group in error.groups],
                "fields": error.fields,
            }
        )
    else:
        _print_report(connection, arguments, error)
        for field, message in error.fields.items():
            print(f"{field.replace('_', ' ')}: {message}")


def _accepted(connection: Connection, arguments: argparse.Namespace, archive: OutgoingArchive) -> Answer:
    """Upload the archive, and ask about its warnings if the server does; what was sent is not sent again.

    Raises:
        WarningsNotAcceptedError: the answer is no.
    """
    try:
        return _upload(connection, arguments, archive)
    except WarningsNotAcceptedError as error:
        if arguments.json:
            raise
        _print_report(connection, arguments, error)
        if not accepts_warnings(error):
            raise
        arguments.accept_warnings = arguments.again = True
        return _upload(connection, arguments, archive)


def _print_report(connection: Connection, arguments: argparse.Namespace, error: InvalidArchiveError) -> None:
    page = error.documentation and f"{connection.address}{error.documentation}"
    print("\n".join(report(error.groups, page, every_place=arguments.all)), flush=True)


def _challenge(connection: Connection, slug: str) -> Answer:
    try:
        return connection.get(path("challenges", slug))
    except MisdirectedError as error:
        raise wrong_name(connection, error, slug) from error


def report(groups: Sequence[ProblemGroup], page: str | None, *, every_place: bool) -> list[str]:
    """Return the lines of a validation report, the same as `vocboard validate` prints.

    Args:
        page: address of the page that explains problems, if the server has one.
    """
    return [*group_lines(groups, page, every_place=every_place), group_summary(groups)]


def _check_that_it_is_open(found: Challenge, key: str | None) -> None:
    """Check the phase before the upload, which the server would otherwise reject at its end.

    Args:
        key: of the phase; None for the current one.

    Raises:
        MisuseError: it does not accept submissions now, or there is no such phase.
    """
    title, state, opens_at, closes_at = found.title, found.phase, found.opens_at, found.closes_at
    if key is not None:
        phase = next((one for one in found.phases if one.key == key), None)
        if phase is None:
            known = ", ".join(printable(one.key) for one in found.phases)
            raise MisuseError(f"{printable(found.title)} has no phase {printable(key)}; choose one of {known}")
        title = f"{found.title}, {phase.title},"
        state, opens_at, closes_at = phase.state, phase.opens_at, phase.closes_at
    if state == "closed" and closes_at is not None:
        raise MisuseError(f"{printable(title)} closed at {instant(closes_at)}")
    if state == "not_yet_open" and opens_at is not None:
        raise MisuseError(f"{printable(title)} opens at {instant(opens_at)}")


def _upload(connection: Connection, arguments: argparse.Namespace, archive: OutgoingArchive) -> Answer:
    classes = arguments.segmentation_classes
    said: Any = {name: getattr(arguments, name, None) for name in FIELDS}
    form = submission_form(
        None if classes is None else [name.strip() for name in classes.split(",")],
        publish=arguments.publish,
        accept_warnings=arguments.accept_warnings,
        declarations=dict(arguments.declare),
        **said,
    )
    digest = archive.sha256()
    with ProgressBar(archive.name, archive.size) as bar:

        def note(text: str) -> None:
            bar.note(f"vocboard: {text}")

        def begun() -> None:
            if not arguments.again:
                _point_out_identical(connection, arguments.challenge, digest, bar)

        def continuing(done: int) -> None:
            bar.continue_from(done)
            note(f"continuing the interrupted upload at {size(done)} of {size(archive.size)}")

        def uploaded() -> None:
            bar.show("Uploaded; the server is validating the archive ...")

        listener = UploadListener(sent=bar.move_to, begun=begun, waiting=note, continuing=continuing)
        return submit(
            connection,
            arguments.challenge,
            archive,
            form,
            phase_parameter(arguments.phase),
            sha256=digest,
            listener=listener,
            uploaded=uploaded,
        )


def _point_out_identical(connection: Connection, challenge: str, sha256: str, bar: ProgressBar) -> None:
    """Say, before the upload, that the archive was submitted before, and ask on a terminal whether to submit it again.

    Raises:
        MisuseError: it is not.
    """
    try:
        answer = connection.get("/submissions", {"challenge": challenge, "archive_sha256": sha256})
    except RefusedError:  # a token without the scope `read`
        return
    listed = understood(lambda page: [submission(item) for item in page["items"]], answer)
    earlier = next((item for item in listed if item.state not in ("withdrawn", "failed")), None)
    if earlier is None:
        return
    bar.note(
        f"vocboard: you have submitted exactly this archive before, as {printable(earlier.method)} on "
        f"{instant(earlier.created_at)} (submission {printable(earlier.id)}); submitting it again uses quota"
    )
    bar.clear()
    if in_terminal() and not confirm("Submit it again?"):
        raise MisuseError("nothing was submitted; --again submits it without asking")


def _accepted_message(accepted: SubmissionDetails, waiting: bool) -> str:
    lines = [
        f"Accepted as submission {printable(accepted.id)}: {printable(', '.join(accepted.competitions))}",
        f"It is {state_in_words(accepted.state, accepted.queue_position)}.",
    ]
    if not waiting:
        lines[-1] += f" Follow it with `vocboard status {printable(accepted.id)} --wait`."
    return "\n".join(lines)
