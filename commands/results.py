"""`vocboard results`: show the scores of a submission."""

import argparse

from vocboard.client.answers import submission_details, understood
from vocboard.client.paths import path
from vocboard.commands.connecting import add_online_arguments, connect
from vocboard.commands.names import submission_id
from vocboard.commands.reporting import DONE, PROBLEMS, print_json, say
from vocboard.commands.submissions import scores_in_full, state_in_words


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "submission", metavar="SUBMISSION", help="submission identifier, or its beginning; see `vocboard status`"
    )
    add_online_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table for each competition."""
    with connect(arguments.server, as_visitor=True) as connection:
        answer = connection.get(path("submissions", submission_id(connection, arguments.submission)))
    submission = understood(submission_details, answer)
    if arguments.json:
        print_json(answer)
    elif submission.scores:
        print(scores_in_full(submission))
    if not submission.scores:
        say(f"no scores yet: the submission is {state_in_words(submission.state, submission.queue_position)}")
        return PROBLEMS
    return DONE
