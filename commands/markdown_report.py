"""A submission's scores, intervals and ranks in Markdown, for the comments of a continuous integration."""

import re
import time
from collections.abc import Iterator

from vocboard.client.answers import SubmissionDetails, understood
from vocboard.client.connection import Connection
from vocboard.client.errors import ClientError, InvalidArchiveError
from vocboard.client.paths import path, phase_parameter
from vocboard.client.scores import Board, CompetitionScores, board
from vocboard.commands.problem_text import group_lines, group_summary
from vocboard.commands.score_tables import DECIMALS, metric_title, percentage

SECONDS_FOR_INTERVALS = 600.0
SECONDS_BETWEEN = 5.0
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#|~])")


def problems_in_markdown(error: InvalidArchiveError) -> str:
    """Return why an archive was refused."""
    lines = [*group_lines(error.groups, None, every_place=False), group_summary(error.groups)] if error.groups else []
    lines += [f"{field.replace('_', ' ')}: {message}" for field, message in error.fields.items()]
    return "**Refused; no quota was used.**\n\n" + "".join(f"    {line}\n" for line in "\n".join(lines).split("\n"))


def scores_in_markdown(connection: Connection, submission: SubmissionDetails) -> str:
    """Return the state of a submission, and a row for each of its competitions.

    Only published results have intervals and ranks. Intervals are computed after the publication: this waits for them,
    at most ten minutes.
    """
    page = f"{connection.address}/submissions/{submission.id}"
    lines = [
        f"**[{_escaped(submission.method)}]({page})** in {_escaped(submission.challenge)}: {_escaped(submission.state)}"
    ]
    if submission.failure:
        lines += ["", _escaped(submission.failure)]
    if submission.scores:
        lines += ["", "| competition | measure | score | 95 % interval | rank |", "|---|---|--:|--:|--:|"]
        deadline = time.monotonic() + SECONDS_FOR_INTERVALS
        for scores in submission.scores:
            found = _board(connection, submission, scores.competition, deadline)
            cells = [scores.competition, metric_title(scores.metric), *_figures(submission, scores, found)]
            lines.append(f"| {' | '.join(map(_escaped, cells))} |")
        if submission.published_at is None:
            lines += ["", "Not published, so without interval and rank."]
    return "\n".join(lines) + "\n"


def _board(connection: Connection, submission: SubmissionDetails, competition: str, deadline: float) -> Board | None:
    """Return the leaderboard of a published result, with its intervals if there are some in time."""
    if submission.published_at is None:
        return None
    where = path("challenges", submission.challenge, "leaderboards", competition)
    while True:
        try:
            found = understood(board, connection.get(where, phase_parameter(submission.phase)))
        except ClientError:  # it is not visible yet
            return None
        if not found.is_computing or time.monotonic() > deadline:
            return found
        time.sleep(SECONDS_BETWEEN)


def _figures(submission: SubmissionDetails, scores: CompetitionScores, found: Board | None) -> Iterator[str]:
    row = next((row for row in found.rows if row.submission == submission.id), None) if found else None
    places = DECIMALS if scores.decimals is None else max(scores.decimals - 2, 0)
    yield percentage(scores.mean, places)
    yield " to ".join(percentage(end, places) for end in row.interval) if row and row.interval else "–"
    yield f"{row.rank} of {len(found.rows)}" if found and row and row.rank else "–"


def _escaped(text: str) -> str:
    """Return text as it is to be read, in one line.

    >>> _escaped("a_b | [c](d)")
    'a\\\\_b \\\\| \\\\[c\\\\]\\\\(d\\\\)'
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
