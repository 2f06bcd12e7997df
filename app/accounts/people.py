"""Validation of a user's email address, name and password."""

import re

from email_validator import EmailNotValidError, validate_email

from vocboard.app.accounts import passwords
from vocboard.app.accounts.models import Role, User
from vocboard.app.database import now
from vocboard.app.forms import FieldChecks


def written_addresses(text: str) -> list[str]:
    """Return the parts of a pasted list that are meant as email addresses, valid or not.

    >>> written_addresses("ada@lab.example, bob@lab.example;Cleo C. <cleo@lab.example>\\nnobody")
    ['ada@lab.example', 'bob@lab.example', 'cleo@lab.example', 'nobody']
    """
    found: list[str] = []
    for part in re.split(r"[,;\n]", text):
        in_brackets = re.search(r"<([^<>]*)>", part)
        found += [in_brackets[1].strip()] if in_brackets else part.split()
    return found


def normalised_email(email: str) -> str | None:
    """Return the canonical form of an email address; None if it is not valid.

    Addresses with `=?` are refused: mail programs may read an encoded word (RFC 2047) as another address.
    """
    if "=?" in email:
        return None
    try:
        # Laboratories use host names that are not in the public DNS.
        checked = validate_email(email.strip(), check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        return None
    return checked.normalized.lower()


def checked_email(checks: FieldChecks, email: str) -> str:
    """Return the canonical form of an email address; record an error of `email`, and return "", if it is not valid."""
    found = normalised_email(email)
    if found is None:
        checks.fail("email", "This is not an email address.")
    return found or ""


def valid_email(email: str) -> str:
    """Return the canonical form of an email address.

    Raises:
        InvalidInputError: for `email`.
    """
    checks = FieldChecks()
    found = checked_email(checks, email)
    checks.finish()
    return found


def domain_of(email: str) -> str:
    """Return the domain of a (normalised) email address.

    >>> domain_of("ada@cs.lab.example")
    'cs.lab.example'
    """
    return email.rpartition("@")[2]


def checked_person(
    checks: FieldChecks, *, email: str, name: str, affiliation: str, password: str | None
) -> dict[str, str]:
    """Return the normalised columns `email`, `name` and `affiliation` of a user, and record errors.

    Args:
        password: None for an account without one.
    """
    person = {"email": checked_email(checks, email), **checked_names(checks, name=name, affiliation=affiliation)}
    if password is not None:
        passwords.check(checks, "password", password, about=(email, name))
    return person


def checked_names(checks: FieldChecks, *, name: str, affiliation: str) -> dict[str, str]:
    """Return the normalised columns `name` and `affiliation` of a user, and record errors."""
    return {
        "name": checks.line("name", name, max_length=200, required=True),
        "affiliation": checks.line("affiliation", affiliation, max_length=200),
    }


def new_user(*, email: str, name: str, affiliation: str, password: str, role: Role) -> User:
    """Return a confirmed and approved user who is not in the database yet. Computes a password hash.

    Raises:
        InvalidInputError: for `email`, `name`, `affiliation`, `password`.
    """
    checks = FieldChecks()
    person = checked_person(checks, email=email, name=name, affiliation=affiliation, password=password)
    checks.finish()
    instant = now()
    return User(
        **person,
        password_hash=passwords.hashed(password),
        role=role,
        email_confirmed_at=instant,
        approved_at=instant,
    )
