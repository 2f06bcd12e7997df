"""Actions on users and their tokens."""

import argparse
import json
import secrets
import sys
from datetime import timedelta

from vocboard.app.accounts import administration, service
from vocboard.app.accounts.models import Role, Scope
from vocboard.app.accounts.passwords import hashed
from vocboard.app.accounts.people import new_user
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.commands.admin.actions import Actions

GENERATED_PASSWORD_BYTES = 15  # 120 bits, 20 characters


def configure(actions: Actions) -> None:
    """Add the actions."""
    action = actions.add_parser("create-user", help="create an account with a confirmed email address")
    action.add_argument("email")
    action.add_argument("--name", required=True)
    action.add_argument("--affiliation", default="")
    action.add_argument("--role", choices=list(map(str, Role)), default="participant")
    action.add_argument(
        "--password-stdin", action="store_true", help="read the password from standard input (default: generate one)"
    )
    action.set_defaults(do=create_user)

    action = actions.add_parser("list-users", help="list all accounts")
    action.add_argument("--json", action="store_true", help="print JSON")
    action.set_defaults(do=list_users)

    action = actions.add_parser("set-role", help="change a user's role")
    action.add_argument("email")
    action.add_argument("role", choices=list(map(str, Role)))
    action.set_defaults(do=set_role)

    action = actions.add_parser("confirm-user", help="mark a user's email address as confirmed")
    action.add_argument("email")
    action.set_defaults(do=confirm_user)

    action = actions.add_parser("approve-user", help="approve a pending registration")
    action.add_argument("email")
    action.set_defaults(do=approve_user)

    action = actions.add_parser("reject-user", help="reject a pending registration")
    action.add_argument("email")
    action.set_defaults(do=reject_user)

    action = actions.add_parser("disable-user", help="disable an account immediately")
    action.add_argument("email")
    action.set_defaults(do=disable_user)

    action = actions.add_parser("enable-user", help="enable a disabled account")
    action.add_argument("email")
    action.set_defaults(do=enable_user)

    action = actions.add_parser(
        "reset-password", help="set a new password; ends the user's sessions and revokes tokens"
    )
    action.add_argument("email")
    action.set_defaults(do=reset_password)

    action = actions.add_parser("create-token", help="create an API token")
    action.add_argument("email")
    action.add_argument("--label", default="created by the operator")
    action.add_argument(
        "--scope", action="append", choices=list(map(str, Scope)), help="can be repeated (default: read, submit)"
    )
    action.add_argument("--days", type=int, help="days until it expires (default: the maximum set by the operator)")
    action.set_defaults(do=create_token)


def create_user(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Create an account; print the password if it was generated."""
    given = sys.stdin.readline().rstrip("\r\n") if arguments.password_stdin else None
    password = given if given is not None else secrets.token_urlsafe(GENERATED_PASSWORD_BYTES)
    person = new_user(
        email=arguments.email,
        name=arguments.name,
        affiliation=arguments.affiliation,
        password=password,
        role=Role(arguments.role),
    )
    with database.writing() as session:
        administration.create_user(session, person=person)
    if given is None:
        print(password)
    return 0


def list_users(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """List all accounts."""
    with database.reading() as session:
        users = administration.list_users(session)
    if arguments.json:
        fields = [
            {
                "email": user.email,
                "name": user.name,
                "affiliation": user.affiliation,
                "role": user.role.value,
                "created_at": user.created_at.isoformat(),
                "email_confirmed_at": user.email_confirmed_at.isoformat() if user.email_confirmed_at else None,
                "approved_at": user.approved_at.isoformat() if user.approved_at else None,
                "disabled_at": user.disabled_at.isoformat() if user.disabled_at else None,
            }
            for user in users
        ]
        print(json.dumps(fields, indent=2, ensure_ascii=False))
        return 0
    for user in users:
        marks = {
            "not confirmed": not user.is_confirmed,
            "not approved": not user.is_approved,
            "disabled": user.disabled_at is not None,
        }
        print("  ".join([user.email, user.name, user.role.value, *(mark for mark, holds in marks.items() if holds)]))
    return 0


def set_role(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Change a user's role."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.email)
        administration.set_role(session, user=user, role=Role(arguments.role))
    return 0


def confirm_user(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Mark a user's email address as confirmed."""
    with database.writing() as session:
        administration.confirm(session, user=administration.get_user(session, arguments.email))
    return 0


def approve_user(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Approve a registration."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.email)
        administration.approve(session, user=user, site=settings.public_url)
    return 0


def reject_user(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Reject a registration."""
    with database.writing() as session:
        user = administration.get_user(session, arguments.email)
        administration.reject(session, user=user, site=settings.public_url)
    return 0


def disable_user(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Disable an account."""
    with database.writing() as session:
        administration.disable(session, user=administration.get_user(session, arguments.email))
    return 0


def enable_user(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Enable an account."""
    with database.writing() as session:
        administration.enable(session, user=administration.get_user(session, arguments.email))
    return 0


def reset_password(arguments: argparse.Namespace, database: Database, _settings: Settings) -> int:
    """Set and print a new password."""
    password = secrets.token_urlsafe(GENERATED_PASSWORD_BYTES)
    password_hash = hashed(password)
    with database.writing() as session:
        user = administration.get_user(session, arguments.email)
        administration.reset_password(session, user=user, password_hash=password_hash)
    print(password)
    return 0


def create_token(arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Create a token and print its secret."""
    lifetime = settings.token_lifetime if arguments.days is None else timedelta(days=arguments.days)
    with database.writing() as session:
        _, secret = service.create_token(
            session,
            user=administration.get_user(session, arguments.email),
            label=arguments.label,
            scopes=[Scope(scope) for scope in arguments.scope or ("read", "submit")],
            lifetime=min(lifetime, settings.token_lifetime),
        )
    print(secret)
    return 0
