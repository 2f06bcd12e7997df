"""Signing in without a browser."""

import asyncio

from tests.support.factories import PASSWORD
from vocboard.app.accounts.models import User
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.signing_in import Attempt, SignedIn, SignInService
from vocboard.app.database import Database
from vocboard.app.settings import Settings


def sign_in(
    database: Database, email: str, password: str = PASSWORD, address: str = "192.0.2.1", known_browser: str = ""
) -> tuple[User, str]:
    """Sign in; return the person and the secret of the session."""
    sign_in_service = SignInService(PasswordWork(), Settings())
    signed_in = asyncio.run(
        sign_in_service.sign_in(database, Attempt(email, password, address, "Firefox", known_browser))
    )
    assert isinstance(signed_in, SignedIn)
    return signed_in.user, signed_in.secret
