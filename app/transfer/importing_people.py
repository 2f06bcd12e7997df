"""Importing people: accounts without access, bans, and invitations to organise.

An archive is untrusted. It must not give rights to anybody, add results to anybody's account, nor tell whether an
address has one. So organisers are only invited if the importer names their addresses, and bans hold for an address
whether or not it has an account.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User, mailbox
from vocboard.app.accounts.people import normalised_email, written_addresses
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges import organisers
from vocboard.app.challenges.models import Ban, Challenge
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError
from vocboard.app.evaluations.origin import IMPORTED
from vocboard.app.transfer import records
from vocboard.app.transfer.reading import Contents, lines_of
from vocboard.app.transfer.records import BanRecord, Person

NOBODYS_PASSWORD = "!"  # no hash that any password has  # noqa: S105
NOBODYS_DOMAIN = "imported.invalid"  # RFC 2606: no mail ever arrives there
MAX_INVITED = 20  # with one import


@dataclass(frozen=True, slots=True)
class OrganiserElsewhere:
    """A person who organised an imported challenge on the other server, according to its archive, and does not here."""

    name: str
    email: str
    is_invited: bool


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The report of an import about people.

    Attributes:
        bans: how many people are banned.
    """

    organisers: tuple[OrganiserElsewhere, ...]
    bans: int


def addresses_in(text: str) -> tuple[str, ...]:
    """Return the email addresses in a text, which are separated by commas or white space.

    >>> addresses_in("ada@lab.example, Bob@Lab.example")
    ('ada@lab.example', 'bob@lab.example')

    Raises:
        InvalidInputError: on `organisers`, with everything that is not an address.
    """
    found = {word: normalised_email(word) for word in written_addresses(text)}
    if wrong := [word[:100] for word, email in found.items() if email is None]:
        raise InvalidInputError({"organisers": f"These are not email addresses: {', '.join(wrong[:MAX_INVITED])}."})
    return tuple(dict.fromkeys(email for email in found.values() if email is not None))


def check_invited(contents: Contents, emails: Sequence[str]) -> None:
    """Check that an archive names all people as organisers whom the importer invites.

    Raises:
        InvalidInputError: on `organisers`, with those whom it does not name.
    """
    if len(emails) > MAX_INVITED:
        raise InvalidInputError({"organisers": f"At most {MAX_INVITED} people can be invited with an import."})
    known = [normalised_email(one.email) for one in contents.organisers]
    if unknown := [email for email in emails if email not in known]:
        there = ", ".join(one.email for one in contents.organisers[:MAX_INVITED]) or "nobody"
        raise InvalidInputError(
            {"organisers": f"Not among the organisers in the archive: {', '.join(unknown)}. It names {there}."}
        )


def invite(session: Session, challenge: Challenge, user: User, emails: Sequence[str], *, site: str) -> None:
    """Invite organisers of the other server; each becomes one here by accepting.

    Raises:
        LimitedError: the user has sent too many invitations.
    """
    for email in emails:
        if email != user.email:
            organisers.invite(session, challenge=challenge, user=user, email=email, site=site)


def add_people(session: Session, path: Path) -> dict[uuid.UUID, uuid.UUID]:
    """Add accounts without access; return their ids by their ids in the archive."""
    ids = {}
    instant = now()
    for person in lines_of(path, records.PEOPLE, Person):
        ids[person.id] = uuid.uuid4()
        session.execute(
            insert(User).values(
                id=ids[person.id],
                created_at=instant,
                email=f"{ids[person.id]}@{NOBODYS_DOMAIN}",
                name=person.name,
                affiliation=person.affiliation,
                password_hash=NOBODYS_PASSWORD,
                role=Role.PARTICIPANT,
                disabled_at=instant,
            )
        )
    return ids


def add_bans(
    session: Session, challenge: Challenge, path: Path, *, people: Mapping[uuid.UUID, uuid.UUID], user: User
) -> int:
    """Add the bans, except one of the importer, who organises the challenge now; return how many.

    Args:
        people: ids of accounts here, by the ids in the archive.
    """
    added = 0
    for one in lines_of(path, records.BANS, BanRecord):
        if mailbox(one.email) != user.mailbox:
            values = {"user_id": people[one.person], "challenge_id": challenge.id, "email": one.email}
            session.execute(insert(Ban).values(**values, reason=one.reason, created_at=one.created_at))
            added += 1
    return added


def report_of(session: Session, challenge: Challenge) -> ImportReport | None:
    """Return what the import of a challenge said of people, for its organisers; None if it was not imported."""
    if challenge.imported_at is None:
        return None
    details = session.scalar(
        select(AuditEvent.details)
        .where(AuditEvent.challenge_id == challenge.id, AuditEvent.action == IMPORTED)
        .order_by(AuditEvent.created_at)
        .limit(1)
    )
    if details is None:
        return None
    invited = {one.email for one in organisers.invitations_to(session, challenge)}
    present = {one.user.email for one in organisers.organisers_of(session, challenge)}
    listed = tuple(
        OrganiserElsewhere(one["name"], one["email"], one["email"] in invited)
        for one in details.get("organisers", ())
        if one["email"] not in present
    )
    return ImportReport(listed, details.get("bans", 0))
