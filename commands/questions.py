"""`vocboard questions`: questions to the organisers of a challenge, and their answers."""

import argparse
from typing import Any

from vocboard.client.answers import understood
from vocboard.client.connection import Connection
from vocboard.client.errors import MisuseError
from vocboard.client.messages import question
from vocboard.client.paging import items
from vocboard.client.paths import path
from vocboard.client.terminal import instant, printable
from vocboard.commands.subcommands import add_action, add_actions, run_action, text_of

run = run_action


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = add_actions(parser)
    listed = add_action(
        actions, "list", _list, "list public answers and your questions; organisers see all", show=_print
    )
    ask = add_action(actions, "ask", _ask, "ask the organisers", show=_print_one)
    answer = add_action(
        actions, "answer", _answer, "answer a question, as an organiser, or change its answer", show=_print_one
    )
    for each in (listed, ask, answer):
        each.add_argument("challenge", metavar="CHALLENGE", help="short name of the challenge")
    answer.add_argument("question", metavar="QUESTION", help="id of the question, or its beginning")
    for each in (ask, answer):
        each.add_argument("text", metavar="TEXT", help="what to say; - reads it from standard input")
    answer.add_argument("--public", action="store_true", help="show question and answer to everyone, without the name")


def _list(connection: Connection, arguments: argparse.Namespace) -> Any:
    return list(items(connection, path("challenges", arguments.challenge, "questions")))


def _ask(connection: Connection, arguments: argparse.Namespace) -> Any:
    return connection.post(path("challenges", arguments.challenge, "questions"), {"text": text_of(arguments.text)})


def _answer(connection: Connection, arguments: argparse.Namespace) -> Any:
    wanted = arguments.question.strip().lower()
    known = [understood(question, one).id for one in _list(connection, arguments)]
    found = [one for one in known if wanted and one.startswith(wanted)]
    if len(found) != 1:
        raise MisuseError(f"{len(found) or 'no'} questions begin with {printable(arguments.question)}; list them first")
    where = path("challenges", arguments.challenge, "questions", found[0], "answer")
    return connection.post(where, {"text": text_of(arguments.text), "public": arguments.public}, method="PUT")


def _print(answer: Any) -> None:
    for number, one in enumerate(answer):
        if number:
            print()
        _print_one(one)


def _print_one(answer: Any) -> None:
    found = understood(question, answer)
    who = f", {printable(found.asked_by)}" if found.asked_by else ""
    print(f"{found.id[:8]}  {instant(found.created_at)}{who}")
    for line in found.text.split("\n"):
        print(f"  {printable(line)}".rstrip())
    if found.answer is None:
        print("  (no answer yet)")
        return
    print("  Answer, public:" if found.is_public else "  Answer:")
    for line in found.answer.split("\n"):
        print(f"    {printable(line)}".rstrip())
