"""The person behind a request, as it began and as of now. `app.web.identity` finds out who it is."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import ApiToken, Role, Scope, User, WebSession
from vocboard.app.errors import NotSignedInError


@dataclass(frozen=True, slots=True)
class Identity:
    """The person behind a request.

    Attributes:
        user: None for a visitor; with a token that lacks the scope `organise`, the person as a plain participant.
        scopes: what the request may be used for; all of them for a signed-in browser.
        session: the browser session; None for a visitor and for a bearer token.
        token: the bearer token; None for a visitor and for a signed-in browser.
    """

    user: User | None = None
    scopes: frozenset[Scope] = frozenset()
    session: WebSession | None = None
    token: ApiToken | None = None

    @property
    def reader(self) -> User | None:
        """The person whose own things a response may contain; None without the scope `read`, as for a visitor."""
        return self.user if Scope.READ in self.scopes else None

    @property
    def is_administrator(self) -> bool:
        """Whether this is an administrator."""
        return self.user is not None and self.user.role is Role.ADMINISTRATOR

    @property
    def may_organise(self) -> bool:
        """Whether this person may set up challenges."""
        return self.user is not None and self.user.role in {Role.ORGANISER, Role.ADMINISTRATOR}

    def require_user(self) -> User:
        """The person.

        Raises:
            NotSignedInError: it is a visitor.
        """
        if self.user is None:
            raise NotSignedInError("Sign in or send an API token.")
        return self.user


def viewer_now(session: Session, identity: Identity) -> User | None:
    """Return the person of a request that began a while ago, as the database has it now; None for a visitor.

    Raises:
        NotSignedInError: the browser session or token has ended since, or the account has been disabled.
    """
    used = identity.session or identity.token
    if used is None:
        return None
    user = accounts.still_valid(session, used)
    if user is None:
        raise NotSignedInError("You have been signed out.")
    return accounts.acting_with(user, identity.scopes)
