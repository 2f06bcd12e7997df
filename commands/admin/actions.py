"""Shared code of the modules of `vocboard admin`: how an action is declared, and what it is run with."""

import argparse
import os
import pwd
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from vocboard.app.accounts import administration
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import service
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database
from vocboard.app.errors import ServiceError
from vocboard.app.settings import Settings

WHERE_TO_RUN = (
    "With docker compose, commands that read or write files of the server (import-truth, prune, move-archives, "
    "export-challenge, import-challenge), create-user, confirm-user, change-address, delete-user, doctor and "
    "rotate-secret-key run in the service web, "
    "rotate-worker-key in worker, backup, list-backups and restore in backup, all others in migrate: "
    "docker compose run --rm web vocboard admin ..."
)

Outcome: TypeAlias = str | int | None  # a text to print, the exit status, or neither: all went well
Declared: TypeAlias = Callable[[argparse.ArgumentParser], Any]  # adds an argument, or several, to a parser
Argument: TypeAlias = str | Declared
Run: TypeAlias = Callable[["Call"], Outcome]
F = TypeVar("F", bound=Callable[..., Any])
Step: TypeAlias = Callable[["Transaction"], str | None]


class ActionError(ServiceError):
    """The action cannot be done as it was called; the message says why."""


class Transaction:
    """What an action works with in a transaction: the session, and whom and what its arguments name.

    Raises:
        NotFoundError: there is nobody, or nothing, of that name.
    """

    def __init__(self, session: Session, call: "Call") -> None:
        self.session, self.arguments, self.settings = session, call.arguments, call.settings
        self.site = call.settings.public_url

    @cached_property
    def user(self) -> User:
        """Who acts: the organiser that --organiser names, or the operator."""
        email = getattr(self.arguments, "organiser", None)
        return operators_user() if email is None else administration.get_user(self.session, email)

    @cached_property
    def challenge(self) -> Challenge:
        """The challenge that the argument `slug` names."""
        return service.get_organised(self.session, self.arguments.slug, self.user)

    @cached_property
    def person(self) -> User:
        """The user that the argument `email` names."""
        return administration.get_user(self.session, self.arguments.email)

    @property
    def organised(self) -> dict[str, Any]:
        """The challenge and who acts, as services take them."""
        return {"challenge": self.challenge, "user": self.user}


@dataclass(frozen=True, slots=True)
class Call:
    """What an action works with."""

    arguments: argparse.Namespace
    database: Database
    settings: Settings

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Write in a transaction."""
        with self.database.writing() as session:
            yield Transaction(session, self)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Read in a transaction."""
        with self.database.reading() as session:
            yield Transaction(session, self)


class Actions:
    """The actions of a module. A decorated function is one: it has the action's name, and its docstring is the help."""

    def __init__(self) -> None:
        self._added: list[tuple[str, str, Run, tuple[Argument, ...]]] = []

    def add(self, name: str, help_text: str, run: Run, *arguments: Argument) -> None:
        """Add an action, with its arguments in the order of the help; a text declares a positional without help."""
        self._added.append((name, help_text, run, arguments))

    def configure(self, parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        """Add a parser for each action."""
        for name, help_text, run, arguments in self._added:
            parser = parsers.add_parser(name, help=help_text)
            for each in arguments:
                (argument(each) if isinstance(each, str) else each)(parser)
            parser.set_defaults(do=run)

    def runs(self, *arguments: Argument) -> Callable[[Run], Run]:
        """Decorate an action that opens its transactions itself."""
        return self._decorator(lambda run: run, arguments)

    def reads(self, *arguments: Argument) -> Callable[[Step], Step]:
        """Decorate an action that reads in one transaction, and returns the text to print."""

        return self._decorator(lambda read: in_transaction(read, Call.reading), arguments)

    def changes(self, *arguments: Argument) -> Callable[[Step], Step]:
        """Decorate an action that is one transaction; the text that it returns is printed after the commit."""
        return self._decorator(in_transaction, arguments)

    def _decorator(self, as_run: Callable[[F], Run], arguments: tuple[Argument, ...]) -> Callable[[F], F]:
        def decorate(function: F) -> F:
            text = (function.__doc__ or "").partition("\n\n")[0].removesuffix(".")
            name: str = function.__name__
            self.add(name.replace("_", "-"), text[:1].lower() + text[1:], as_run(function), *arguments)
            return function

        return decorate


def in_transaction(step: Step, opened: Callable[[Call], AbstractContextManager[Transaction]] = Call.writing) -> Run:
    """Return what runs an action that is one transaction, see `Actions.changes`."""

    def run(call: Call) -> Outcome:
        with opened(call) as at:
            return step(at)

    return run


def argument(*names: str, **how: Any) -> Declared:
    """Declare an argument, as `add_argument` takes it."""
    return methodcaller("add_argument", *names, **how)


def rule(*names: str, **how: Any) -> Declared:
    """Declare a rule of a challenge or phase, under its name in their rules; one that is not given is not there."""
    return argument(*names, default=argparse.SUPPRESS, **how)


def one_of(*arguments: Declared, required: bool = False) -> Declared:
    """Declare arguments that exclude each other."""

    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for each in arguments:
            each(group)  # type: ignore[arg-type]  # groups add arguments as parsers do

    return add


SUBMISSION = argument("submission", type=UUID, metavar="ID")
ORGANISER = argument(
    "--organiser", required=True, metavar="EMAIL", help="organiser of the challenge, named in the audit log"
)


def read_text(path: Path | None) -> str | None:
    """Return the text of a file, None for None.

    Raises:
        ActionError: it cannot be read.
    """
    try:
        return None if path is None else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ActionError(f"{path}: {error}") from error


def operators_user() -> User:
    """Return who acts in services for an operator: an administrator without an account; the log names the operator."""
    return User(name="operator", role=Role.ADMINISTRATOR)


def operator() -> str:
    """Return the actor for the audit log: the system user (not $USER) and the host."""
    user = os.getuid()
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:  # a container may run as a user that has no name
        name = f"uid {user}"
    return f"{name}@{socket.gethostname()}, command line"
