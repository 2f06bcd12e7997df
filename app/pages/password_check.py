"""Asking for the present password before something that a borrowed browser must not do."""

from anyio import to_thread
from fastapi import Request

from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import User
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.database import Database
from vocboard.app.rate_limits.attempts import network
from vocboard.app.web.client import client_address


async def verify_password(
    request: Request, database: Database, work: PasswordWork, user: User, password: str, *, field: str
) -> str:
    """Check a person's password without holding a thread or a connection while the check waits for its turn.

    Returns:
        The hash that the password was checked against, to see later whether it has changed meanwhile.

    Raises:
        WrongPasswordError: on `field`; the attempt is counted.
        LimitedError: too many wrong passwords.
        BusyError: too many requests wait.
    """

    def look_up() -> str:
        with database.reading() as session:
            return accounts.password_hash_of(session, user=user)

    def refuse() -> None:
        with database.writing() as session:
            accounts.refuse_password(session, user=user, field=field)

    password_hash = await to_thread.run_sync(look_up)
    if not await work.matches(password, password_hash, client=network(client_address(request))):
        await to_thread.run_sync(refuse)
    return password_hash
