"""Actions on users and their tokens."""

import json
import secrets
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from vocboard.app.accounts import addresses, administration, identities, second_factor, service
from vocboard.app.accounts.models import Role, Scope, User
from vocboard.app.accounts.passwords import hashed
from vocboard.app.accounts.people import new_user, valid_email
from vocboard.app.administering import people
from vocboard.app.audit import service as audit
from vocboard.app.errors import NotFoundError
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.commands.admin.actions import Actions, Call, Outcome, Transaction, argument, in_transaction

GENERATED_PASSWORD_BYTES = 15  # 120 bits, 20 characters

ACTIONS = Actions()
# They send mail that names the site.
NOTIFYING = {administration.approve, administration.reject, administration.resend_confirmation}
ROLES = list(map(str, Role))


@ACTIONS.runs(
    "email",
    argument("--name", required=True),
    argument("--affiliation", default=""),
    argument("--role", choices=ROLES, default="participant"),
    argument(
        "--password-stdin", action="store_true", help="read the password from standard input (default: generate one)"
    ),
)
def create_user(call: Call) -> Outcome:
    """Create an account with a confirmed email address."""
    arguments = call.arguments
    given = sys.stdin.readline().rstrip("\r\n") if arguments.password_stdin else None
    password = given if given is not None else secrets.token_urlsafe(GENERATED_PASSWORD_BYTES)
    person = new_user(
        email=arguments.email,
        name=arguments.name,
        affiliation=arguments.affiliation,
        password=password,
        role=Role(arguments.role),
    )
    with call.writing() as at:
        created = administration.create_user(at.session, person=person, settings=at.settings)
        if created.disabled_at is not None:
            print("The mailbox is banned from the server: the account is disabled until lift-ban.", file=sys.stderr)
    return password if given is None else None


@ACTIONS.reads(
    argument("--search", default="", metavar="TEXT", help="only those with this in name, affiliation or email address"),
    argument("--json", action="store_true", help="print JSON"),
)
def list_users(at: Transaction) -> str:
    """List accounts."""
    users = administration.list_users(at.session)
    if wanted := at.arguments.search.casefold():
        users = [one for one in users if wanted in f"{one.email}\n{one.name}\n{one.affiliation}".casefold()]
    if at.arguments.json:
        return json.dumps([_fields(user) for user in users], indent=2, ensure_ascii=False)
    return "\n".join("  ".join([user.email, user.name, user.role.value, *_marks(user)]) for user in users)


def _fields(user: User) -> dict[str, str | None]:
    times = ("created_at", "email_confirmed_at", "approved_at", "disabled_at")
    return {
        "email": user.email,
        "name": user.name,
        "affiliation": user.affiliation,
        "role": user.role.value,
        **{name: time.isoformat() if (time := getattr(user, name)) else None for name in times},
    }


def _marks(user: User) -> list[str]:
    marks = {
        "not confirmed": not user.is_confirmed,
        "not approved": not user.is_approved,
        "disabled": user.disabled_at is not None,
    }
    return [mark for mark, holds in marks.items() if holds]


@ACTIONS.changes("email", argument("role", choices=ROLES))
def set_role(at: Transaction) -> None:
    """Change a user's role."""
    administration.set_role(at.session, user=at.person, role=Role(at.arguments.role))


@ACTIONS.changes("email")
def confirm_user(at: Transaction) -> None:
    """Mark a user's email address as confirmed."""
    administration.confirm(at.session, user=at.person, settings=at.settings)


@ACTIONS.changes("email")
def enable_user(at: Transaction) -> None:
    """Enable a disabled account; a ban from the whole server is lifted."""
    people.enable(at.session, user=at.person, actor=at.user, site=at.site)


def _set_state(change: Callable[..., Any], at: Transaction) -> None:
    site = {"site": at.site} if change in NOTIFYING else {}
    change(at.session, user=at.person, **site)


for name, change, help_text in (
    ("approve-user", administration.approve, "approve a pending registration"),
    ("reject-user", administration.reject, "reject a pending registration"),
    ("disable-user", administration.disable, "disable an account immediately"),
    ("end-sessions", administration.end_sessions, "sign a user out everywhere, and revoke the API tokens"),
    ("resend-confirmation", administration.resend_confirmation, "send another link to confirm the email address"),
):
    ACTIONS.add(name, help_text, in_transaction(partial(_set_state, change)), "email")


@ACTIONS.changes(
    "email",
    argument("--results", required=True, choices=["keep-name", "without-name"], help="names of published results"),
)
def delete_user(at: Transaction) -> None:
    """Delete an account; published results stay. It needs VOCBOARD_SECRET_KEY."""
    naming = Naming(at.arguments.results.replace("-", "_"))
    at.settings.require("secret_key")
    delete_account(at.session, user=at.person, naming=naming, settings=at.settings)


@ACTIONS.changes()
def rotate_secret_key(at: Transaction) -> str:
    """Encrypt what is encrypted with VOCBOARD_FORMER_SECRET_KEYS with VOCBOARD_SECRET_KEY."""
    at.settings.require("secret_key", "former_secret_keys")
    key, former = at.settings.secret_key.get_secret_value(), at.settings.former_keys
    changed, lost = second_factor.encrypt_again(at.session, server_key=key, former_keys=former)
    details = {"second_factors": changed}
    audit.record(at.session, actor=None, action="server.rotate_secret_key", subject=audit.SERVER, details=details)
    unreadable = f"; {lost} cannot be read with any of the keys: use remove-second-factor" if lost else ""
    return f"{changed} second factors encrypted with the new key{unreadable}"


@ACTIONS.changes("email")
def remove_second_factor(at: Transaction) -> None:
    """Remove the second factor of a user who has lost it; the user gets an email."""
    second_factor.remove(at.session, user=at.person, site=at.site)


@ACTIONS.changes("email", argument("--name"), argument("--affiliation"))
def change_profile(at: Transaction) -> None:
    """Change a user's name or affiliation; what was submitted keeps the names given with it."""
    person, given = at.person, at.arguments
    name = person.name if given.name is None else given.name
    affiliation = person.affiliation if given.affiliation is None else given.affiliation
    service.change_profile(at.session, user=person, name=name, affiliation=affiliation)


@ACTIONS.changes("email", "issuer")
def unlink_identity(at: Transaction) -> None:
    """End that an OpenID Connect provider signs in to an account; the user gets an email."""
    own = identities.identities_of(at.session, at.person)
    found = next((one for one in own if one.issuer == at.arguments.issuer), None)
    if found is None:
        known = ", ".join(one.issuer for one in own) or "no provider"
        raise NotFoundError(f"The account of {at.person.email} is linked to {known}.")
    identities.unlink(at.session, user=at.person, identity_id=str(found.id), settings=at.settings)


@ACTIONS.changes("email", "new_email")
def change_address(at: Transaction) -> None:
    """Change a user's email address without a link; ends the user's sessions, and the old one gets an email."""
    addresses.change(at.session, user=at.person, email=valid_email(at.arguments.new_email), settings=at.settings)


@ACTIONS.runs("email")
def reset_password(call: Call) -> Outcome:
    """Set a new password; ends the user's sessions and revokes tokens."""
    password = secrets.token_urlsafe(GENERATED_PASSWORD_BYTES)
    password_hash = hashed(password)  # takes long: not in the transaction
    with call.writing() as at:
        administration.reset_password(at.session, user=at.person, password_hash=password_hash)
    return password


@ACTIONS.runs(
    "email",
    argument("--label", default="created by the operator"),
    argument("--scope", action="append", choices=list(map(str, Scope)), help="can be repeated (default: read, submit)"),
    argument("--days", type=int, help="days until it expires (default: the maximum set by the operator)"),
)
def create_token(call: Call) -> Outcome:
    """Create an API token."""
    arguments, longest = call.arguments, call.settings.token_lifetime
    lifetime = longest if arguments.days is None else timedelta(days=min(arguments.days, longest.days + 1))
    with call.writing() as at:
        _, secret = service.create_token(
            at.session,
            user=at.person,
            label=arguments.label,
            scopes=[Scope(scope) for scope in arguments.scope or ("read", "submit")],
            lifetime=min(lifetime, longest),
        )
    return secret
