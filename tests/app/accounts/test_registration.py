"""Registration: equal answers, links, approval, domains."""

import contextlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select

from tests.support import signing_in
from tests.support.clock import Clock
from tests.support.factories import PASSWORD, make_user
from tests.support.mail import link_in
from vocboard.app.accounts import addresses, administration, links, password_changes, registration, service
from vocboard.app.accounts.links import InvalidLinkError
from vocboard.app.accounts.models import EmailLink, LinkPurpose, Role, User
from vocboard.app.accounts.passwords import hashed
from vocboard.app.accounts.people import valid_email
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, LimitedError, SignInError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.participating import leaving
from vocboard.app.rate_limits import REGISTRATION_FROM_ADDRESS, REGISTRATION_OF_ACCOUNT, RESET_OF_ACCOUNT
from vocboard.app.settings import RegistrationPolicy, Settings

SITE = "https://voc.example"
EMAIL = "ada@lab.example"
OPEN = RegistrationPolicy.parse("open")
SETTINGS = Settings(public_url=SITE, secret_key="the secret of the server")  # type: ignore[arg-type]


def register(database: Database, policy: str = "open", **given: str) -> None:
    fields = {"email": EMAIL, "name": "Ada", "affiliation": "", "password": PASSWORD, **given}
    parsed = RegistrationPolicy.parse(policy)
    checked = registration.check(**fields, policy=parsed)
    with database.writing() as session:
        registration.register(session, checked, password_hash=hashed(fields["password"]), policy=parsed, site=SITE)


def outbox(database: Database) -> list[OutgoingMail]:
    with database.reading() as session:
        return list(session.scalars(select(OutgoingMail).order_by(OutgoingMail.created_at)))


def secret_in(mail: OutgoingMail) -> str:
    return link_in(mail.body).partition("token=")[2]


def the_user(database: Database) -> User:
    with database.reading() as session:
        return session.scalars(select(User).where(User.email == EMAIL)).one()


def confirm(database: Database) -> None:
    with database.writing() as session:
        user = links.use(session, secret_in(outbox(database)[-1]), LinkPurpose.CONFIRM_ADDRESS)
        registration.confirm(session, user=user, settings=SETTINGS)


def sign_in(database: Database, password: str = PASSWORD) -> str:
    return signing_in.sign_in(database, EMAIL, password)[1]


def test_registering_a_known_address_is_only_reported_by_email(database: Database) -> None:
    with database.writing() as session:
        make_user(session, email=EMAIL, name="Ada")
    register(database, name="Mallory", password="mallory chose this")
    assert the_user(database).name == "Ada"
    [mail] = outbox(database)
    assert mail.recipient == EMAIL
    assert "already have an account" in mail.body
    with pytest.raises(SignInError):
        sign_in(database, "mallory chose this")


def test_nobody_gets_an_account_confirmed_that_another_registered(database: Database) -> None:
    """The owner of an address that somebody else registered takes the account over, by choosing a new password."""
    register(database, name="Mallory", password="mallory chose this")
    with database.writing() as session:
        registration.send_reset_link(session, email=EMAIL, site=SITE)
    with database.writing() as session:
        user = links.use(session, secret_in(outbox(database)[-1]), LinkPurpose.RESET_PASSWORD)
        password_changes.reset(session, user=user, password_hash=hashed(PASSWORD), settings=SETTINGS)
    assert the_user(database).is_confirmed
    sign_in(database)
    with pytest.raises(SignInError):
        sign_in(database, "mallory chose this")


def test_emails_to_addresses_that_are_not_confirmed_hold_nothing_that_the_sender_chose(database: Database) -> None:
    register(database, name="Win at https://evil.example", affiliation="evil")
    assert "evil" not in outbox(database)[0].body


@pytest.mark.postgres
def test_a_link_works_once_and_not_for_ever(database: Database) -> None:
    register(database)
    secret = secret_in(outbox(database)[0])
    confirm(database)
    with pytest.raises(InvalidLinkError), database.writing() as session:
        links.use(session, secret, LinkPurpose.CONFIRM_ADDRESS)
    with database.writing() as session:
        late = links.create(session, user=the_user(database), purpose=LinkPurpose.RESET_PASSWORD)
        session.scalars(select(EmailLink)).one().expires_at = now()
    with pytest.raises(InvalidLinkError), database.reading() as session:
        links.owner(session, late, LinkPurpose.RESET_PASSWORD)


@pytest.mark.postgres
def test_a_link_is_for_one_purpose_and_stored_hashed(database: Database) -> None:
    register(database)
    secret = secret_in(outbox(database)[0])
    with pytest.raises(InvalidLinkError), database.writing() as session:
        links.use(session, secret, LinkPurpose.RESET_PASSWORD)
    with database.reading() as session:
        assert secret.encode() not in session.scalars(select(EmailLink.token_hash)).one()


def test_a_reset_ends_sessions_and_tokens_and_says_so_by_email(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session, email=EMAIL)
        _, token = service.create_token(session, user=user, label="t", scopes=["read"], lifetime=timedelta(days=1))  # type: ignore[list-item]
    secret = sign_in(database)
    with database.writing() as session:
        registration.send_reset_link(session, email=EMAIL, site=SITE)
    link = secret_in(outbox(database)[-1])
    with database.writing() as session:
        user = links.use(session, link, LinkPurpose.RESET_PASSWORD)
        password_changes.reset(session, user=user, password_hash=hashed("a new password"), settings=SETTINGS)
    with database.reading() as session:
        assert service.user_of_session(session, secret) is None
        assert service.user_of_token(session, token) is None
    assert outbox(database)[-1].subject == "Your password was changed"


@pytest.mark.postgres
def test_a_reset_for_an_unknown_or_disabled_address_sends_nothing(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session, email=EMAIL)
        administration.disable(session, user=user)
        for email in (EMAIL, "nobody@lab.example"):
            registration.send_reset_link(session, email=email, site=SITE)
    assert outbox(database) == []


def test_only_addresses_of_the_domains_register(database: Database) -> None:
    register(database, "domains:lab.example,b.example")
    for email in ("eve@c.example", "eve@evil-lab.example", "eve@sub.lab.example", "lab.example@c.example"):
        with pytest.raises(InvalidInputError) as caught:
            register(database, "domains:lab.example,b.example", email=email)
        assert "lab.example or b.example" in caught.value.fields["email"]


def test_a_closed_registration_takes_nobody(database: Database) -> None:
    with pytest.raises(ForbiddenError):
        register(database, "closed")


@pytest.mark.parametrize("value", ["", "opened", "domains", "domains:", "domains:a@b.example", "closed:x"])
def test_a_wrong_setting_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="open, domains"):
        RegistrationPolicy.parse(value)


def test_a_rejected_person_is_out_and_cannot_register_again(database: Database) -> None:
    register(database, "approval")
    with database.writing() as session:
        organiser = make_user(session, role=Role.ORGANISER)
    confirm(database)
    with database.writing() as session:
        user = registration.registered(session, the_user(database).id, organiser)  # the only one of the server
        administration.reject(session, user=user, site=SITE)
    with pytest.raises(SignInError):
        sign_in(database)
    count = len(outbox(database))
    register(database, "approval")
    assert the_user(database).disabled_at is not None
    assert len(outbox(database)) == count + 1  # that there is an account already


@pytest.mark.postgres
def test_of_several_organisers_none_sees_registrations(database: Database) -> None:
    with database.writing() as session:
        first, second = (make_user(session, role=Role.ORGANISER) for _ in range(2))
        administrator = make_user(session, role=Role.ADMINISTRATOR)
    register(database, "approval")
    confirm(database)
    assert [mail.recipient for mail in outbox(database)] == [EMAIL, administrator.email]
    with database.reading() as session:
        assert [user.email for user in registration.waiting(session, administrator).items] == [EMAIL]
        for organiser in (first, second):
            with pytest.raises(ForbiddenError, match="administrators"):
                registration.waiting(session, organiser)
            with pytest.raises(ForbiddenError, match="administrators"):
                registration.registered(session, the_user(database).id, organiser)


def test_a_role_is_given_to_confirmed_accounts_only(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session, email=EMAIL, confirmed=False)
        with pytest.raises(ConflictError, match="not confirmed"):
            administration.set_role(session, user=user, role=Role.ADMINISTRATOR)
        administration.confirm(session, user=user)
        administration.set_role(session, user=user, role=Role.ADMINISTRATOR)


def test_registration_reports_all_errors_at_once(database: Database) -> None:
    with pytest.raises(InvalidInputError) as caught:
        register(database, email="nobody", name=" ", affiliation="x" * 201, password="short")
    assert set(caught.value.fields) == {"email", "name", "affiliation", "password"}


@pytest.mark.parametrize(
    "password",
    [
        "aaaaaaaaaaaaaa",
        EMAIL,
        "x" * 501,
        "password123",
        "Password123!",
        "1234567890",
        "qwertyuiop",
        "P@ssw0rd1234",
        "letmein2024!!",
        "Lovelace-Ada",
    ],
)
def test_refuses_a_common_or_guessable_password(database: Database, password: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        register(database, password=password, name="Ada Lovelace")
    assert set(caught.value.fields) == {"password"}


def test_registrations_from_one_address_are_limited(database: Database) -> None:
    def count(email: str, address: str = "192.0.2.1") -> None:
        with database.writing() as session:
            registration.count_attempt(session, email=email, address=address)

    for number in range(REGISTRATION_FROM_ADDRESS.count):
        count(f"{number}@lab.example")
    with pytest.raises(LimitedError) as caught:
        count("onemore@lab.example")
    assert timedelta() < caught.value.allowed_at - now() <= REGISTRATION_FROM_ADDRESS.period
    count("onemore@lab.example", address="192.0.2.2")


@pytest.mark.parametrize("event", ["password changed", "password changed by the operator", "disabled and enabled"])
def test_links_end_with_what_they_were_sent_for(database: Database, event: str) -> None:
    """Somebody who finds an old email cannot set another password."""
    with database.writing() as session:
        make_user(session, email=EMAIL)
        registration.send_reset_link(session, email=EMAIL, site=SITE)
    secret = secret_in(outbox(database)[-1])
    with database.writing() as session:
        user = administration.get_user(session, EMAIL)
        if event == "password changed":
            password_changes.change(
                session,
                user=user,
                verified_hash=user.password_hash,
                password_hash=hashed("a new password"),
                keep=None,
                site=SITE,
            )
        elif event == "disabled and enabled":
            administration.disable(session, user=user)
            administration.enable(session, user=user)
        else:
            administration.reset_password(session, user=user, password_hash=hashed("a new password"))
    with pytest.raises(InvalidLinkError), database.writing() as session:
        links.use(session, secret, LinkPurpose.RESET_PASSWORD)


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda secret: secret[:-1], lambda secret: secret + "A"])
def test_a_link_that_was_tampered_with_is_none(database: Database, change: Callable[[str], str]) -> None:
    register(database)
    secret = secret_in(outbox(database)[0])
    with pytest.raises(InvalidLinkError), database.writing() as session:
        links.use(session, change(secret), LinkPurpose.CONFIRM_ADDRESS)


@pytest.mark.postgres
def test_a_tag_after_a_plus_sign_is_no_way_to_another_account(database: Database) -> None:
    with database.writing() as session:
        make_user(session, email=EMAIL)
    register(database, email="ada+2@lab.example")
    with database.reading() as session:
        assert session.scalars(select(User.email)).all() == [EMAIL]
    [mail] = outbox(database)
    assert mail.recipient == EMAIL  # it is said to nobody else
    assert "You already have an account with this address" in mail.body
    assert "ada+2@lab.example" in mail.body


def test_all_spellings_of_an_address_are_of_one_mailbox(database: Database) -> None:
    services = ("mal@proton.me", "mal@fastmail.com", "mal@yahoo.de", "mal@icloud.com", "m.a-l@yandex.ru")
    known = ("mal@gmail.com", "ben@lab.example", "c.d@lab.example", *services)
    with database.writing() as session:
        for email in known:
            make_user(session, email=email)
    spellings = ("M.al@gmail.com", "m.a.l+2@GoogleMail.com", "\uff4d\u1d43l@googlemail.com", "\uff22en@lab.example")
    elsewhere = ("m.a-l+2@pm.me", "2@mal.fastmail.com", "mal-2@yahoo.de", "mal@me.com", "m-a.l@ya.ru")
    spellings += elsewhere
    for email in spellings:
        register(database, email=email)
    with database.reading() as session:
        assert set(session.scalars(select(User.email))) == set(known)
    assert [mail.recipient for mail in outbox(database)] == ["mal@gmail.com"] * 3 + ["ben@lab.example", *services]
    register(database, email="cd@lab.example")  # elsewhere, dots make another address
    with database.reading() as session:
        assert len(session.scalars(select(User.email)).all()) == len(known) + 1


@pytest.mark.postgres
def test_of_addresses_of_one_mailbox_that_wait_one_is_confirmed(database: Database) -> None:
    for email in (EMAIL, "ada+2@lab.example", "ad@lab.example", "ada+2@other.example"):
        register(database, email=email)
    secrets = [secret_in(mail) for mail in outbox(database)]
    for number, is_confirmed in enumerate([True, False, True, True]):
        expected = contextlib.nullcontext() if is_confirmed else pytest.raises(ConflictError, match="another spelling")
        with expected, database.writing() as session:
            user = links.use(session, secrets[number], LinkPurpose.CONFIRM_ADDRESS)
            registration.confirm(session, user=user, settings=SETTINGS)


def test_a_mailbox_is_counted_once_however_its_address_is_written(database: Database) -> None:
    for number in range(REGISTRATION_OF_ACCOUNT.count):
        with database.writing() as session:
            email = valid_email(f"Ada+{number}@LAB.example")
            registration.count_attempt(session, email=email, address=f"192.0.2.{number}")
    with pytest.raises(LimitedError), database.writing() as session:
        registration.count_attempt(session, email=valid_email(EMAIL), address="198.51.100.1")


def test_registrations_of_visitors_keep_nobody_from_a_new_password(database: Database) -> None:
    for number in range(REGISTRATION_OF_ACCOUNT.count):
        with database.writing() as session:
            registration.count_attempt(session, email=EMAIL, address=f"192.0.2.{number}")
    with database.writing() as session:
        registration.count_attempt(session, email=EMAIL, address="198.51.100.1", of_account=RESET_OF_ACCOUNT)


@pytest.mark.postgres
def test_a_domain_has_a_number_of_new_accounts_in_a_week_unless_anybody_can_have_one_there(
    database: Database, clock: Clock
) -> None:
    def enters(email: str, rules: str = "open") -> bool:
        settings = SETTINGS.model_copy(update={"registration": rules, "accounts_per_domain": 2})
        with contextlib.suppress(LimitedError), database.writing() as session:
            user = make_user(session, email=email, confirmed=False)
            registration.confirm(session, user=user, settings=settings)
            return True
        return False

    # Subdomains cost nothing either. Addresses that nobody has confirmed, and another domain, do not count.
    with database.writing() as session:
        make_user(session, email="zoe@catch.example", confirmed=False)
    assert [enters(f"{name}.example") for name in ("a@catch", "b@x.catch", "c@catch", "d@y.catch", "e@bigcatch")] == [
        *(True, True, False, False, True)
    ]
    with database.writing() as session:  # another address within the domain is no other account
        user = session.scalars(select(User).where(User.email == "b@x.catch.example")).one()
        secret = links.create(session, user=user, purpose=LinkPurpose.CHANGE_ADDRESS, new_email="bob@catch.example")
        settings = SETTINGS.model_copy(update={"accounts_per_domain": 2})
        addresses.confirm(session, user=user, secret=secret, keep=None, settings=settings)
    with database.writing() as session:  # nor does leaving make room
        left = session.scalars(select(User).where(User.email == "a@catch.example")).one()
        leaving.delete_account(session, user=left, naming=leaving.Naming.KEEP_NAME, settings=SETTINGS)
    assert not enters("i@z.catch.example")
    assert [enters(email) for email in ("a@x.ac.uk", "a@y.ac.uk", "a@z.ac.uk")] == [True] * 3
    assert [enters(f"{name}@gmail.com") for name in "abc"] == [True] * 3
    assert enters("f@catch.example", "approval")
    assert enters("g@catch.example", "domains:catch.example")
    clock.advance(timedelta(days=6))
    assert not enters("h@catch.example")
    clock.advance(timedelta(days=2))
    assert enters("h@catch.example")
