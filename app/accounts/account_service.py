"""Operations on accounts and registrations, for the pages and the API.

Each operation checks, hashes passwords between two short transactions, commits, and then sends emails.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import addresses, administration, links, password_changes, queries, registration, service
from vocboard.app.accounts.models import ApiToken, LinkPurpose, User, WebSession
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.people import valid_email
from vocboard.app.accounts.terms import Terms
from vocboard.app.database import Database
from vocboard.app.errors import NotSignedInError
from vocboard.app.rate_limits import network
from vocboard.app.settings import Settings

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class AccountService:
    """Operations on accounts. `address` is always the client's, for rate limits."""

    settings: Settings
    database: Database
    password_work: PasswordWork

    async def register(
        self, *, email: str, name: str, affiliation: str, password: str, address: str, terms: str = ""
    ) -> None:
        """Register a user, without revealing whether the email address already has an account.

        Args:
            terms: version of the terms that the person has accepted.

        Raises:
            ForbiddenError, InvalidInputError: as `registration.check`.
            LimitedError: too many registrations.
            BusyError: too many requests are waiting for a password hash.
        """
        policy = self.settings.registration_policy

        def check() -> registration.Registration:
            checked = registration.check(
                email=email,
                name=name,
                affiliation=affiliation,
                password=password,
                policy=policy,
                terms=Terms.read(self.settings.terms_file),
                accepted=terms,
            )
            with self.database.writing() as session:
                registration.count_attempt(session, email=checked.email, address=address)
            with self.database.reading() as session:
                registration.check_room(session, checked.email, self.settings)
            return checked

        checked = await to_thread.run_sync(check)
        password_hash = await self.password_work.hashed(password, client=network(address))
        store = partial(registration.register, registration=checked, password_hash=password_hash, policy=policy)
        await self.write(store, site=self.settings.public_url)

    async def confirm_address(self, *, token: str, password: str, address: str) -> User:
        """Confirm the email address that a link was sent to, with the password of the registration.

        Returns:
            The user, whose registration may still need approval.

        Raises:
            InvalidLinkError: the link is not valid.
            WrongPasswordError: for `password`; the attempt is counted.
            ConflictError: another address of the same mailbox has an account.
            LimitedError, BusyError: as `register`.
        """

        def owner() -> User:
            with self.database.reading() as session:
                return links.owner(session, token, LinkPurpose.CONFIRM_ADDRESS)

        def confirm(session: Session) -> User:
            user = links.use(session, token, LinkPurpose.CONFIRM_ADDRESS)
            return registration.confirm(session, user=user, settings=self.settings)

        await self.verify(await to_thread.run_sync(owner), password, field="password", address=address)
        return await self.write(confirm)

    def count_reset_request(self, *, email: str, address: str) -> str:
        """Count a request for a link to choose a new password; return the normalised email address.

        Raises:
            InvalidInputError: for `email`.
            LimitedError: too many requests.
        """
        normalised = valid_email(email)
        with self.database.writing() as session:
            registration.count_attempt(
                session, email=normalised, address=address, of_account=rate_limits.RESET_OF_ACCOUNT
            )
        return normalised

    def send_reset_link(self, email: str) -> None:
        """Send a link to choose a new password, if the (normalised) address has an account."""
        with self.database.writing() as session:
            registration.send_reset_link(session, email=email, site=self.settings.public_url)

    async def reset_password(self, *, token: str, new_password: str, address: str) -> None:
        """Set a new password with a link from an email, confirm the address, and end all sessions and tokens.

        Raises:
            InvalidLinkError: the link is not valid.
            InvalidInputError: for `new_password`.
            ConflictError: another address of the same mailbox has an account.
            BusyError: too many requests are waiting for a password hash.
        """

        def check() -> None:
            with self.database.reading() as session:
                user = links.owner(session, token, LinkPurpose.RESET_PASSWORD)
            password_changes.check_new(user, new_password, field="new_password")

        def store(session: Session) -> None:
            user = links.use(session, token, LinkPurpose.RESET_PASSWORD)
            password_changes.reset(session, user=user, password_hash=password_hash, settings=self.settings)

        await to_thread.run_sync(check)
        password_hash = await self.password_work.hashed(new_password, client=network(address))
        await self.write(store)

    async def change_password(
        self, user: User, *, current_password: str, new_password: str, keep: WebSession | None, address: str
    ) -> None:
        """Set a new password, revoke all tokens, and end all sessions but one.

        Raises:
            WrongPasswordError: for `current_password`; the attempt is counted.
            InvalidInputError: for `new_password`.
            NotSignedInError: the password was changed in the meantime.
            LimitedError, BusyError: as `register`.
        """
        verified_hash = await self.verify(user, current_password, field="current_password", address=address)
        await to_thread.run_sync(partial(password_changes.check_new, user, new_password, field="new_password"))
        password_hash = await self.password_work.hashed(new_password, client=network(address))
        changed = {"verified_hash": verified_hash, "password_hash": password_hash, "keep": keep}
        await self.write(password_changes.change, user=user, **changed, site=self.settings.public_url)

    async def create_token(
        self, user: User, *, password: str, used: WebSession | None, address: str, **wanted: Any
    ) -> tuple[ApiToken, str]:
        """Create a token as `tokens.create_token`, after verifying the password.

        Args:
            used: the browser's session.

        Raises:
            WrongPasswordError: for `password`; the attempt is counted.
            NotSignedInError: the password was changed, or the session ended, in the meantime.
            InvalidInputError, ConflictError: as `tokens.create_token`.
            LimitedError, BusyError: as `register`.
        """
        verified_hash = await self.verify(user, password, field="password", address=address)

        def create(session: Session) -> tuple[ApiToken, str]:
            stored = queries.locked_user(session, user.id)  # after what ends all tokens, which locks it, too
            has_ended = used is None or service.still_valid(session, used) is None
            if stored is None or stored.password_hash != verified_hash or has_ended:
                raise NotSignedInError("You were signed out, or the password was changed, in the meantime.")
            return service.create_token(session, user=stored, **wanted)

        return await self.write(create)

    async def request_address(self, user: User, *, email: str, password: str, address: str, field: str) -> None:
        """Send a link to a new email address of a user, without revealing whether the address has an account.

        Raises:
            WrongPasswordError: for `field`; the attempt is counted.
            InvalidInputError: for `email`.
            LimitedError, BusyError: as `register`.
        """
        await self.verify(user, password, field=field, address=address)
        new = addresses.checked(user, email, self.settings.registration_policy)
        await self.write(addresses.request, user=user, email=new, address=address, site=self.settings.public_url)

    def approve_registration(self, user_id: uuid.UUID, *, actor: User) -> None:
        """Approve a registration, and notify the user by email.

        Raises:
            ForbiddenError, NotFoundError, ConflictError: as `registration.registered`.
        """
        with self.database.writing() as session:
            user = registration.registered(session, user_id, actor)
            administration.approve(session, user=user, site=self.settings.public_url, actor=actor)

    def reject_registration(self, user_id: uuid.UUID, *, actor: User) -> None:
        """Reject a registration, and notify the user by email.

        Raises:
            ForbiddenError, NotFoundError, ConflictError: as `registration.registered`.
        """
        with self.database.writing() as session:
            user = registration.registered(session, user_id, actor)
            administration.reject(session, user=user, site=self.settings.public_url, actor=actor)

    async def write(self, function: Callable[..., Result], **given: Any) -> Result:
        """Call a function of a service in a transaction, in a thread."""

        def call() -> Result:
            with self.database.writing() as session:
                return function(session, **given)

        return await to_thread.run_sync(call)

    async def verify(self, user: User, password: str, *, field: str, address: str) -> str:
        """Verify a user's current password, without holding a thread or a connection while waiting.

        Returns:
            The hash that the password was verified against, to detect later changes.

        Raises:
            WrongPasswordError: for `field`; the attempt is counted.
            LimitedError, BusyError: as `register`.
        """

        def look_up() -> str:
            with self.database.reading() as session:
                return service.password_hash_of(session, user=user)

        password_hash = await to_thread.run_sync(look_up)
        if not await self.password_work.matches(password, password_hash, client=network(address)):
            await self.write(service.refuse_password, user=user, field=field)
        await to_thread.run_sync(look_up)  # again: wrong ones that were sent at the same time count, too
        return password_hash
