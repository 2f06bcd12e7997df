"""The demo's accounts: made on the first start, kept on later ones."""

import json
import secrets
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from vocboard.app.accounts import administration, tokens
from vocboard.app.accounts.models import Role, Scope
from vocboard.app.accounts.people import new_user
from vocboard.app.database import Database
from vocboard.app.errors import NotFoundError

TOKEN_LIFETIME = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Account:
    """How one person gets in."""

    email: str
    password: str
    token: str


@dataclass(frozen=True, slots=True)
class DemoFile:
    """`demo.json`: where the demo is and how to get in. Its presence says that the demo is ready."""

    url: str
    participant: Account
    organiser: Account

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return what an earlier start wrote, None if there is none that can be read."""
        try:
            content = json.loads(path.read_text())
            return cls(content["url"], Account(**content["participant"]), Account(**content["organiser"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path) -> None:
        """Write it for its owner's eyes, whole or not at all."""
        partial = path.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(asdict(self), indent=2) + "\n")
        partial.replace(path)


def ensure_account(
    database: Database, *, email: str, name: str, affiliation: str, role: Role, known: Account | None = None
) -> Account:
    """Make an account, or let an existing one in again; return how.

    Args:
        known: from an earlier start; taken as it stands if its token still works.
    """
    password = secrets.token_urlsafe(12)
    person = new_user(email=email, name=name, affiliation=affiliation, password=password, role=role)
    with database.writing() as session:
        if known is not None and tokens.user_of_token(session, known.token) is not None:
            return known
        try:
            user = administration.get_user(session, email)
            user.password_hash = person.password_hash
            administration.confirm(session, user=user)
        except NotFoundError:
            user = administration.create_user(session, person=person)
        scopes = set(Scope) if role is Role.ORGANISER else {Scope.READ, Scope.SUBMIT}
        _, token = tokens.create_token(session, user=user, label="demo", scopes=scopes, lifetime=TOKEN_LIFETIME)
        return Account(email, password, token)
