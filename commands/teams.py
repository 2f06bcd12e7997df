"""`vocboard teams`: your team in a challenge."""

import argparse
from typing import Any

from vocboard.client import teams
from vocboard.client.answers import understood
from vocboard.client.connection import Connection
from vocboard.client.terminal import instant, printable
from vocboard.commands.subcommands import add_action, add_actions, run_action

run = run_action


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = add_actions(parser)
    member_help = "name of the member, or the beginning of the id that `show --json` prints"

    _of_challenge(add_action(actions, "show", _show, "show your team, its members and invitations", show=_print))

    found = _of_challenge(
        add_action(actions, "found", _found, "found a team, which gets all you have submitted", show=_print)
    )
    found.add_argument("name", metavar="NAME", help="name of the team")

    invite = _of_challenge(add_action(actions, "invite", _invite, "invite somebody to your team", show=_print_link))
    invite.add_argument(
        "email", nargs="?", default="", metavar="EMAIL", help="where the server sends the link (default: pass it on)"
    )

    accept = add_action(actions, "accept", _accept, "join a team with the link of an invitation", show=_print)
    accept.add_argument("link", metavar="LINK", help="the link, or its last part")
    accept.add_argument("--bring-team", action="store_true", help="bring the members and submissions of your own team")

    _of_challenge(add_action(actions, "leave", _leave, "leave your team, which keeps what it has submitted"))

    for name, do, help_text in (
        ("hand-over", _hand_over, "make a member an owner, who invites and removes members; you can leave then"),
        ("remove", _remove, "remove a member from your team"),
    ):
        action = _of_challenge(add_action(actions, name, do, help_text, show=_print if do is _hand_over else None))
        action.add_argument("member", metavar="MEMBER", help=member_help)


def _of_challenge(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("challenge", metavar="CHALLENGE", help="short name of the challenge")
    return parser


def _show(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.own(connection, arguments.challenge)


def _found(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.found(connection, arguments.challenge, arguments.name)


def _invite(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.invite(connection, arguments.challenge, arguments.email)


def _accept(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.accept(connection, arguments.link, bring_team=arguments.bring_team)


def _leave(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.remove(connection, arguments.challenge, None)


def _hand_over(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.make_owner(connection, arguments.challenge, arguments.member)


def _remove(connection: Connection, arguments: argparse.Namespace) -> Any:
    return teams.remove(connection, arguments.challenge, arguments.member)


def _print(answer: Any) -> None:
    team = understood(teams.team, answer)
    print(printable(team.name) or "You take part alone.")
    for member in team.members:
        print(f"  {printable(member.name)}, {printable(member.role)}")
    for invitation in team.invitations:
        print(f"  invited: {printable(invitation.email) or 'by a link'}, until {instant(invitation.expires_at)}")


def _print_link(answer: Any) -> None:
    print(printable(understood(lambda content: str(content["link"]), answer)))
