"""Terminal output for submissions: lists, details, and progress."""

import sys
from collections.abc import Sequence

from vocboard.client.answers import StateEvent, Submission, SubmissionDetails
from vocboard.client.connection import Connection
from vocboard.client.following import follow
from vocboard.client.terminal import instant, printable
from vocboard.commands.reporting import DONE, FAILED, PROBLEMS, say
from vocboard.commands.score_tables import score_lines
from vocboard.commands.tables import Column, render, shortened, terminal_width


def listed(submissions: Sequence[Submission]) -> str:
    """Return a table of submissions."""
    return render(
        [
            Column("SUBMISSION", [printable(item.id) for item in submissions]),
            Column("STATE", [printable(item.state) for item in submissions]),
            Column("METHOD", [shortened(printable(item.method)) for item in submissions]),
            Column("CHALLENGE", [printable(item.challenge) for item in submissions]),
            Column("COMPETITIONS", [printable(" ".join(item.competitions)) for item in submissions]),
            Column("PUBLISHED", ["yes" if item.published_at else "no" for item in submissions]),
            Column("SUBMITTED", [instant(item.created_at) for item in submissions]),
        ],
        width=terminal_width(),
    )


def described(submission: SubmissionDetails) -> str:
    """Return the details of one submission, one field per line."""
    lines = [
        ("Submission", submission.id),
        ("Challenge", submission.challenge),
        ("Method", submission.method),
        ("Competitions", ", ".join(submission.competitions)),
        ("Submitted", instant(submission.created_at)),
        ("Published", instant(submission.published_at) if submission.published_at else "no"),
        ("State", state_in_words(submission.state, submission.queue_position)),
    ]
    if submission.failure:
        lines.append(("Failure", submission.failure))
    if submission.moderation_reason:
        lines.append(("Organisers", submission.moderation_reason))
    if submission.warnings:
        lines.append(("Warnings", f"{len(submission.warnings)}; see the report on the submission's page"))
    return "\n".join(f"{label + ':':<17}{printable(text)}" for label, text in lines)


def scores_in_full(submission: SubmissionDetails) -> str:
    """Return a table for each competition, like `vocboard evaluate`."""
    blocks = []
    for scores in submission.scores:
        title = f"{printable(scores.competition)}: {printable(scores.task)}"
        origin = [f"Scores {printable(scores.imported.text)}."] if scores.imported else []
        blocks.append("\n".join([title, *origin, *score_lines(scores)]))
    return "\n\n".join(blocks)


def state_in_words(state: str, queue_position: int | None) -> str:
    """Return a state with the position in the queue.

    >>> state_in_words("queued", 1), state_in_words("scored", None)
    ('queued, next in line', 'scored')
    """
    if queue_position is None:
        return printable(state)
    return f"{printable(state)}, {'next in line' if queue_position == 1 else f'number {queue_position} in line'}"


def followed(connection: Connection, identifier: str) -> SubmissionDetails:
    """Wait until a submission is scored, failed or withdrawn, and print each change on standard error.

    On a terminal, one line is updated; otherwise each change is a new line.

    Raises:
        ClientError: there is no such submission, or the server stays unavailable.
    """
    told = ""
    try:
        for step in follow(connection, identifier):
            words = state_in_words(step.state, step.queue_position)
            if words != told:
                _tell(words)
                told = words
            if isinstance(step, SubmissionDetails) and step.is_final:
                return step
    except KeyboardInterrupt:
        _end_line()
        say(f"evaluation continues on the server; see `vocboard status {printable(identifier)}`")
        raise
    finally:
        _end_line()
    raise AssertionError("following ends with a final submission")


def exit_status(submission: Submission | StateEvent) -> int:
    """Return the exit status for a final submission."""
    return {"scored": DONE, "withdrawn": PROBLEMS, "disqualified": PROBLEMS, "failed": FAILED}.get(
        submission.state, DONE
    )


def _tell(words: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{words}\x1b[K", end="", file=sys.stderr, flush=True)
    else:
        print(words, file=sys.stderr, flush=True)


def _end_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
