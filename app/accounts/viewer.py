"""The user of a request. `app.web.identity` determines it."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import ApiToken, Role, Scope, User, WebSession
from vocboard.app.errors import NotSignedInError


@dataclass(frozen=True, slots=True)
class Identity:
    """The user and the scopes of a request.

    Attributes:
        user: None for a visitor; with a token without the scope `organise`, the user as a participant.
        scopes: scopes of the request; all of them for a signed-in browser.
        session: the browser session; None for a visitor and for a bearer token.
        token: the bearer token; None for a visitor and for a signed-in browser.
        lacks_second_factor: whether the user may not organise before setting one up, and so acts as a participant.
        terms_due: whether the user still has to accept the terms of the server.
        unread: number of unread notifications of the person signed in with a browser.
    """

    user: User | None = None
    scopes: frozenset[Scope] = frozenset()
    session: WebSession | None = None
    token: ApiToken | None = None
    lacks_second_factor: bool = False
    terms_due: bool = False
    unread: int = 0

    @property
    def reader(self) -> User | None:
        """The user whose private data a response may contain; None for visitors and without the scope `read`."""
        return self.user if Scope.READ in self.scopes else None

    @property
    def is_administrator(self) -> bool:
        """Whether the user is an administrator."""
        return self.user is not None and self.user.role is Role.ADMINISTRATOR

    @property
    def may_organise(self) -> bool:
        """Whether the user may organise the challenges that list the user as an organiser."""
        return self.user is not None and self.user.role is not Role.PARTICIPANT

    @property
    def may_create_challenges(self) -> bool:
        """Whether the user may create challenges."""
        return self.user is not None and self.user.role in {Role.ORGANISER, Role.ADMINISTRATOR}

    def require_user(self) -> User:
        """Return the user.

        Raises:
            NotSignedInError: there is no signed-in user.
        """
        if self.user is None:
            raise NotSignedInError("Sign in or send an API token.")
        return self.user


def viewer_now(session: Session, identity: Identity) -> User | None:
    """Return the current user of a long-running request; None for a visitor.

    Raises:
        NotSignedInError: the session or token has ended, or the account was disabled.
    """
    used = identity.session or identity.token
    if used is None:
        return None
    user = accounts.still_valid(session, used)
    if user is None:
        raise NotSignedInError("You have been signed out.")
    return accounts.acting_with(user, identity.scopes)
