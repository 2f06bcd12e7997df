"""The demo's accounts: created on the first start, reused later."""

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
    """One user's credentials."""

    email: str
    password: str
    token: str


@dataclass(frozen=True, slots=True)
class DemoFile:
    """`demo.json`: the demo's URL and credentials. The file exists once the demo is ready."""

    url: str
    participant: Account
    organiser: Account

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the file of an earlier start; None if there is none or it cannot be read."""
        try:
            content = json.loads(path.read_text())
            return cls(content["url"], Account(**content["participant"]), Account(**content["organiser"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path) -> None:
        """Write the file atomically, readable only by its owner."""
        partial = path.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(asdict(self), indent=2) + "\n")
        partial.replace(path)


def ensure_account(
    database: Database, *, email: str, name: str, affiliation: str, role: Role, known: Account | None = None
) -> Account:
    """Create an account, or reset an existing one, and return its credentials.

    Args:
        known: credentials of an earlier start, returned unchanged if their token is still valid.
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
