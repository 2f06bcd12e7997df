"""A request for a page about people and their accounts, with what its handler works with."""

from typing import Annotated

from fastapi import Depends, Request

from vocboard.app.accounts.account_service import AccountService
from vocboard.app.accounts.models import User
from vocboard.app.accounts.signing_in import SignInService
from vocboard.app.accounts.viewer import Identity
from vocboard.app.intake.requests import client_address
from vocboard.app.web.dependencies import services_of
from vocboard.app.web.identity import CurrentIdentity, SignedIn


class Visit:
    """What somebody asks for, who may be signed in."""

    def __init__(self, request: Request, identity: Identity) -> None:
        services = services_of(request)
        self.request, self.identity = request, identity
        self.database, self.settings, self.openid = services.database, services.settings, services.openid
        self.accounts: AccountService = services.account_service
        self.signing_in: SignInService = services.sign_in_service

    @property
    def user(self) -> User:
        """Who is signed in."""
        return self.identity.require_user()

    @property
    def address(self) -> str:
        """Of the client, for rate limits."""
        return client_address(self.request)


# Asynchronous, so that they need no thread.


async def _of_anybody(request: Request, identity: CurrentIdentity) -> Visit:
    return Visit(request, identity)


async def _of_user(request: Request, identity: CurrentIdentity, _: SignedIn) -> Visit:
    return Visit(request, identity)


AnyVisit = Annotated[Visit, Depends(_of_anybody)]
SignedInVisit = Annotated[Visit, Depends(_of_user)]
