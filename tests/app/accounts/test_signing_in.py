"""Signing in: delays, known browsers, caps, and what argon2 holds while it waits."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from tests.support.factories import PASSWORD, make_token, make_user
from vocboard.app import rate_limits
from vocboard.app.accounts import service, signing_in
from vocboard.app.accounts.account_service import AccountService
from vocboard.app.accounts.models import WebSession
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.signing_in import Attempt, SignInQueue, SignInService
from vocboard.app.accounts.tokens import MAX_TOKENS
from vocboard.app.database import Database, now
from vocboard.app.errors import BusyError, ConflictError, LimitedError, SignInError
from vocboard.app.organising.audit_log import Filters, batch_of_log
from vocboard.app.settings import Settings

pytestmark = pytest.mark.anyio

EMAIL = "ada@lab.example"
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give the delays that were asked for, without waiting for them."""
    delays: list[float] = []

    async def wait(seconds: float) -> None:
        delays.append(seconds)

    monkeypatch.setattr(signing_in, "sleep", wait)  # not of asyncio, which servers in this process use
    return delays


@pytest.fixture
def sign_in_service() -> SignInService:
    return SignInService(PasswordWork(), Settings())


def attempt(sign_in_service: SignInService, database: Database, *attempts: Attempt) -> list[object]:
    """Make attempts at the same time; return what became of each."""

    async def all_of_them() -> list[object]:
        return await asyncio.gather(
            *(sign_in_service.sign_in(database, one) for one in attempts), return_exceptions=True
        )

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("email", [EMAIL, "unknown@lab.example"])
def test_failures_delay_the_next_attempt_and_never_forbid_it(
    database: Database, sign_in_service: SignInService, waited: list[float], email: str
) -> None:
    with database.writing() as session:
        make_user(session, email=EMAIL, name="Ada")
    for _ in range(12):
        [outcome] = attempt(sign_in_service, database, Attempt(email, "wrong password", HERE))
        assert isinstance(outcome, SignInError)
    assert waited == [0.0] * 5 + [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    if email == EMAIL:
        [outcome] = attempt(sign_in_service, database, Attempt(email, PASSWORD, HERE))
        assert isinstance(outcome, signing_in.SignedIn)
        with database.writing() as session:
            service.sign_out(session, web_session=session.scalars(select(WebSession)).one())
    whose = "Ada" if email == EMAIL else "an unknown account"
    refused = f"The server refused to sign {whose} in from {HERE}"
    failures = [f"{refused}."] * 4 + [f"{refused}; further ones are not logged for up to 15 minutes."]
    with database.reading() as session:
        events = batch_of_log(session, challenge_id=None, filters=Filters(action="user"), after=None)
    others = [f"Ada signed in from {HERE}.", "Ada signed out."] if email == EMAIL else []
    assert [event.text for event in events if event.action != "user.create"] == [*failures, *others]
    assert "wrong password" not in str([event.details for event in events])


def test_failures_of_others_delay_nobody_elsewhere(
    database: Database, sign_in_service: SignInService, waited: list[float]
) -> None:
    for _ in range(10):
        attempt(sign_in_service, database, Attempt(EMAIL, "wrong password", HERE))
    waited.clear()
    attempt(
        sign_in_service, database, Attempt(EMAIL, "wrong password", ELSEWHERE), Attempt("eve@b.example", "wrong", HERE)
    )
    assert waited == [0.0, 0.0]


def test_a_browser_that_signed_in_before_is_not_delayed(
    database: Database, sign_in_service: SignInService, waited: list[float]
) -> None:
    with database.writing() as session:
        make_user(session, email=EMAIL)
    [first] = attempt(sign_in_service, database, Attempt(EMAIL, PASSWORD, HERE))
    assert isinstance(first, signing_in.SignedIn)
    for _ in range(10):
        attempt(sign_in_service, database, Attempt(EMAIL, "wrong password", HERE))
    waited.clear()
    forged = first.known_browser[:-1] + ("0" if first.known_browser[-1] != "0" else "1")
    attempt(sign_in_service, database, Attempt(EMAIL, PASSWORD, HERE, "", first.known_browser))
    attempt(sign_in_service, database, Attempt(EMAIL, PASSWORD, HERE, "", forged))
    assert waited[0] == 0.0
    assert waited[1] > 0.0


@pytest.mark.parametrize("cookie", ["", "invented {}"])
def test_parallel_attempts_are_counted_one_after_the_other(
    database: Database, sign_in_service: SignInService, waited: list[float], cookie: str
) -> None:
    each = (Attempt(EMAIL, "wrong password", HERE, "", cookie.format(number)) for number in range(8))
    attempt(sign_in_service, database, *each)
    assert waited == [0.0] * 5 + [1.0, 2.0, 4.0]


def test_the_right_password_among_many_at_once_is_not_confirmed(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session, email=EMAIL)
    accounts = AccountService(Settings(), database, PasswordWork(at_once=1))

    async def all_of_them() -> list[object]:
        guesses = (*["wrong password"] * 3 * rate_limits.PASSWORD_CHECK.count, PASSWORD)
        verified = (accounts.verify(user, guess, field="password", address=HERE) for guess in guesses)
        return await asyncio.gather(*verified, return_exceptions=True)

    assert isinstance(asyncio.run(all_of_them())[-1], LimitedError)


def test_sign_ins_sessions_and_tokens_of_a_person_are_capped(
    database: Database, sign_in_service: SignInService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.writing() as session:
        user = make_user(session, email=EMAIL)
        for _ in range(service.MAX_SESSIONS + 3):
            service.start_session(session, user=user, browser="", lifetime=timedelta(days=1))
        assert len(session.scalars(select(WebSession)).all()) == service.MAX_SESSIONS
        for _ in range(MAX_TOKENS):
            make_token(session, user)
        with pytest.raises(ConflictError, match="Revoke one first"):
            make_token(session, user)
        for _ in range(rate_limits.SIGN_INS_OF_PERSON.count):
            rate_limits.count(session, {rate_limits.SIGN_INS_OF_PERSON: str(user.id)})
    [outcome] = attempt(sign_in_service, database, Attempt(EMAIL, PASSWORD, HERE))
    assert isinstance(outcome, LimitedError)


def test_an_idle_session_ends(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session)
        secret = service.start_session(session, user=user, browser="", lifetime=timedelta(days=1))
        session.scalars(select(WebSession)).one().last_used_at = now() - timedelta(hours=2)
        session.flush()
        assert service.user_of_session(session, secret, idle_timeout=timedelta(hours=3)) is not None
        assert service.user_of_session(session, secret, idle_timeout=timedelta(hours=1)) is None


def test_hashing_takes_turns_between_networks_and_refuses_what_is_too_much() -> None:
    order: list[str] = []

    async def hash_for(work: PasswordWork, client: str) -> None:
        await work.hashed("a password", client=client)
        order.append(client)

    async def all_of_them() -> list[object]:
        work = PasswordWork(max_waiting=5)
        clients = ["many", "many", "many", "many", "one", "another", "too much"]
        return await asyncio.gather(*(hash_for(work, client) for client in clients), return_exceptions=True)

    outcomes = asyncio.run(all_of_them())
    assert isinstance(outcomes[-1], BusyError)
    assert order == ["many", "many", "one", "another", "many", "many"]


def test_a_new_client_waits_for_few_of_those_with_failures() -> None:
    order: list[str] = []

    async def check_for(work: PasswordWork, client: str) -> None:
        await work.matches("a password", None, client=client, has_failed=client.startswith("botnet"))
        order.append(client)

    async def all_of_them() -> None:
        work = PasswordWork()
        clients = [*(f"botnet {number}" for number in range(5)), "newcomer", "other newcomer"]
        await asyncio.gather(*(check_for(work, client) for client in clients))

    asyncio.run(all_of_them())
    assert order.index("newcomer") <= 2
    assert order.index("other newcomer") <= 4


async def test_one_network_cannot_take_all_places() -> None:
    async def enter(queue: SignInQueue, client: str) -> None:
        async with queue.turn(f"{client} line", client=client):
            await asyncio.Event().wait()

    queue = SignInQueue(max_waiting=10, max_waiting_per_client=2, refusal_pause_seconds=0.05)
    waiting = [asyncio.ensure_future(enter(queue, "many")) for _ in range(2)]
    for _ in range(3):
        await asyncio.get_running_loop().run_in_executor(None, int)  # let them begin
    with pytest.raises(BusyError):
        await enter(queue, "many")
    async with queue.turn("other line", client="other"):
        pass
    for task in waiting:
        task.cancel()
