"""A user's team in a challenge, in requests and answers of the API."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from vocboard.client.answers import understood
from vocboard.client.connection import Answer, Connection
from vocboard.client.errors import MisuseError
from vocboard.client.paths import path
from vocboard.client.reading import read
from vocboard.client.terminal import printable


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a team; owners also invite and remove members."""

    user: str
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation to a team that can be accepted; `email` is empty if a member passes its link on."""

    email: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Team:
    """A team; the name of one who takes part alone is empty."""

    id: str
    challenge: str
    name: str
    members: tuple[Member, ...]
    invitations: tuple[Invitation, ...]


def team(answer: Mapping[str, Any]) -> Team:
    """Read a team."""
    return read(Team, answer)


def own(connection: Connection, challenge: str) -> Answer:
    """Return the user's team."""
    return connection.get(path("challenges", challenge, "teams", "mine"))


def found(connection: Connection, challenge: str, name: str) -> Answer:
    """Found a team, or give a name to the team of one who has taken part alone."""
    return connection.post(path("challenges", challenge, "teams"), {"name": name})


def invite(connection: Connection, challenge: str, email: str) -> Answer:
    """Invite somebody; return the invitation with its link."""
    return connection.post(path("teams", _of(connection, challenge).id, "invitations"), {"email": email})


def accept(connection: Connection, link: str, *, bring_team: bool) -> Answer:
    """Join a team with the link of an invitation, or the last part of it."""
    token = urlsplit(link.strip()).path.rstrip("/").rpartition("/")[2]
    return connection.post(path("team-invitations", token, "accept"), {"bring_team": bring_team})


def remove(connection: Connection, challenge: str, member: str | None) -> None:
    """Remove a member from the user's team, or leave it.

    Args:
        member: a name or the beginning of an id; None for the user.

    Raises:
        MisuseError: no member, or several, are called like this.
    """
    of = _of(connection, challenge)
    leaving = understood(lambda answer: str(answer["id"]), connection.get("/me")) if member is None else None
    user = leaving if leaving is not None else member_called(of, member or "").user
    connection.post(path("teams", of.id, "members", user), method="DELETE")


def make_owner(connection: Connection, challenge: str, member: str) -> Answer:
    """Make a member of the user's team an owner; it raises as `remove`."""
    of = _of(connection, challenge)
    where = path("teams", of.id, "members", member_called(of, member).user, "role")
    return connection.post(where, {"role": "owner"}, method="PUT")


def member_called(of: Team, typed: str) -> Member:
    """Return the member with a name, or with an id that begins like this.

    Raises:
        MisuseError: there is none, or there are several.
    """
    wanted = typed.strip().casefold()
    known = [one for one in of.members if wanted and (one.name.casefold() == wanted or one.user.startswith(wanted))]
    if len(known) == 1:
        return known[0]
    names = ", ".join(f"{printable(one.name)} ({one.user[:8]})" for one in of.members)
    raise MisuseError(
        f"{'several members are' if known else 'no member is'} called {printable(typed)}; members: {names}"
    )


def _of(connection: Connection, challenge: str) -> Team:
    return understood(team, own(connection, challenge))
