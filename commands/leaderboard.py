"""`vocboard leaderboard`: show the leaderboard of one competition."""

import argparse
import sys

from vocboard.client.answers import understood
from vocboard.client.connection import Connection
from vocboard.client.errors import MisdirectedError
from vocboard.client.paths import path, phase_parameter
from vocboard.client.scores import Board, board
from vocboard.client.terminal import printable
from vocboard.commands.connecting import add_server_argument, connect
from vocboard.commands.formats import add_format_arguments
from vocboard.commands.names import wrong_name
from vocboard.commands.reporting import DONE, print_json
from vocboard.commands.score_tables import UNDEFINED, metric_title
from vocboard.commands.tables import Column, render, shortened, terminal_width

BEST = "^"  # for bold type
SYMBOLS = f"{BEST} best of the column   n/a undefined   – class not entered   * not all classes entered"
MEDIA_TYPES = {"csv": "text/csv", "latex": "application/x-tex"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("challenge", metavar="CHALLENGE", help="short name of the challenge: the last part of its URL")
    parser.add_argument("competition", metavar="COMPETITION", help="for example comp4")
    parser.add_argument(
        "--phase", metavar="KEY", help="phase of the challenge (default: the one whose leaderboards are shown first)"
    )
    add_format_arguments(parser, "json", *MEDIA_TYPES)
    add_server_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the leaderboard in the chosen format."""
    where = path("challenges", arguments.challenge, "leaderboards", arguments.competition)
    with connect(arguments.server, as_visitor=True) as connection:
        try:
            if arguments.format in MEDIA_TYPES:
                print(_text(connection, where, arguments.phase, MEDIA_TYPES[arguments.format]), end="")
                return DONE
            answer = connection.get(where, phase_parameter(arguments.phase))
        except MisdirectedError as error:
            raise wrong_name(connection, error, arguments.challenge, arguments.competition) from error
    if arguments.format == "json":
        print_json(answer)
    else:
        print(_table(understood(board, answer)))
    return DONE


def _text(connection: Connection, where: str, phase: str | None, media_type: str) -> str:
    text = connection.get_text(where, phase_parameter(phase), accept=media_type).replace("\r\n", "\n")
    if sys.stdout.isatty():
        return "\n".join(map(printable, text.split("\n")))
    return text


def _table(board: Board) -> str:
    if not board.rows:
        return "No methods have been published yet."
    decimals = board.decimals
    columns = [
        Column("RANK", ["n/a" if row.rank is None else str(row.rank) for row in board.rows], right=True),
        Column("METHOD", [shortened(printable(row.method)) for row in board.rows]),
        Column(
            "MEAN",
            [
                _marked(row.mean, decimals, is_best="mean" in row.best, is_complete=row.is_complete)
                for row in board.rows
            ],
            right=True,
        ),
    ]
    for name in board.classes:
        cells = [
            _marked(row.per_class[name], decimals, is_best=name in row.best) if name in row.per_class else "–  "
            for row in board.rows
        ]
        columns.append(Column(printable(name), cells, right=True))
    columns.append(Column("CONTRIBUTORS", [shortened(printable(row.contributors)) for row in board.rows]))
    title = f"{printable(f'{board.challenge} {board.competition}')}: {metric_title(board.metric)}"
    table = render(columns, repeated=2, width=terminal_width())
    origin = f"\nScores {printable(board.imported.text)}." if board.imported else ""
    return f"{title}, in per cent{origin}\n\n{table}\n\n{SYMBOLS}"


def _marked(score: float | None, decimals: int, *, is_best: bool, is_complete: bool = True) -> str:
    """Return a score in per cent, with its marks in columns of their own."""
    text = UNDEFINED if score is None else f"{100 * score:.{max(decimals - 2, 0)}f}"
    return f"{text}{' ' if is_complete else '*'}{BEST if is_best else ' '}"
