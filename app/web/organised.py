"""The challenge in a request's path, for handlers that only its organisers may use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.queries import lock_challenge
from vocboard.app.web.dependencies import services_of
from vocboard.app.web.identity import Organiser, OrganisingUser
from vocboard.app.web.preconditions import require_match

Result = TypeVar("Result")


class OrganisedChallenge:
    """Transactions in which the challenge is loaded, and the user is checked to be one of its organisers.

    Attributes:
        user: who sent the request.
        slug: of the challenge, from the path.
        site: the address of this server, for links in emails.
    """

    def __init__(self, request: Request, user: User, slug: str) -> None:
        services = services_of(request)
        self.request, self.user, self.slug = request, user, slug
        self.database, self.settings = services.database, services.settings
        self.site = services.settings.public_url

    @contextmanager
    def reading(self) -> Iterator[tuple[Session, Challenge]]:
        """Read in a transaction.

        Raises:
            NotFoundError: the user may not see the challenge.
            ForbiddenError: the user may see it, but does not organise it.
        """
        with self.database.reading() as session:
            yield session, challenges.get_organised(session, self.slug, self.user)

    @contextmanager
    def writing(self) -> Iterator[tuple[Session, Challenge]]:
        """Write in a transaction; raises the same errors.

        Raises:
            PreconditionFailedError: as `require_match`.
        """
        with self.database.writing() as session:
            challenge = challenges.get_organised(session, self.slug, self.user)
            if require_match(self.request, session, partial(lock_challenge, session, challenge.id)):
                challenge = challenges.get_organised(session, self.slug, self.user)
            yield session, challenge

    def change(self, function: Callable[..., Result], **given: Any) -> Result:
        """Call a function of a service in a transaction, with the challenge and the user; raises the same errors."""
        with self.writing() as (session, challenge):
            return function(session, challenge=challenge, user=self.user, **given)

    def load(self) -> Challenge:
        """Return the challenge; raises the same errors."""
        with self.reading() as (_, challenge):
            return challenge


# Asynchronous, so that they need no thread.


async def _of_a_page(request: Request, user: Organiser, slug: str) -> OrganisedChallenge:
    return OrganisedChallenge(request, user, slug)


async def _of_the_api(request: Request, user: OrganisingUser, slug: str) -> OrganisedChallenge:
    return OrganisedChallenge(request, user, slug)


Organised = Annotated[OrganisedChallenge, Depends(_of_a_page)]
OrganisedByToken = Annotated[OrganisedChallenge, Depends(_of_the_api)]
