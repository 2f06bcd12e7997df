"""Signing in with OpenID Connect, at a real provider: whom it signs in, and what it must not."""

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from sqlalchemy import select

from tests.app.pages.test_second_factor import STEP, send_code, set_up
from tests.app.pages.test_signing_in_pages import NEWCOMER, path_of, the_mail
from tests.support.browsing import send_form, signed_in
from tests.support.clock import Clock
from tests.support.factories import PASSWORD, make_user
from tests.support.mail import link_in
from tests.support.provider import Provider, approved, running_provider
from tests.support.site import Site, serving
from vocboard.app.accounts import administration
from vocboard.app.accounts.models import LinkedIdentity, User, WebSession
from vocboard.app.database import now
from vocboard.app.settings import Settings

NEW, ACCOUNT = "/sign-in/new", "/account/sign-in"
DOWN = "http://127.0.0.1:9/o"  # nothing listens there


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


@pytest.fixture
def serve(provider: Provider, sqlite_url: str, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Give what starts a site with the provider, and further settings."""
    with contextlib.ExitStack() as stack:
        yield lambda **given: stack.enter_context(
            serving(
                Settings(
                    data_directory=tmp_path / "data",
                    database_url=sqlite_url,
                    oidc_providers=provider.setting(down=DOWN),
                    **given,
                )
            )
        )


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    return serve()


def leave(client: httpx.Client, name: str = "uni", to: str = "/submissions") -> str:
    """Follow the button on the sign-in page; return the address at the provider."""
    page = client.get("/sign-in", params={"next": to}).text
    button = f"/sign-in/with/{name}?{urlencode({'next': to})}"
    assert button in page
    return client.get(button).headers["location"]


def come_back(client: httpx.Client, person: str, name: str = "uni") -> httpx.Response:
    """Sign in at the provider, and come back."""
    return client.get(approved(leave(client, name), person))


def is_signed_in(client: httpx.Client) -> bool:
    return client.get("/account").status_code == 200


def accounts(site: Site) -> dict[str, list[str]]:
    """Return the subjects that are linked to each account, by its address."""
    with site.database.reading() as session:
        users = session.scalars(select(User).where(User.email.not_like("%@deleted.invalid"))).all()
        return {
            user.email: list(session.scalars(select(LinkedIdentity.subject).where(LinkedIdentity.user_id == user.id)))
            for user in users
        }


def test_a_newcomer_registers_with_a_verified_address_and_returns(site: Site) -> None:
    # A stranger who has registered the address before, without receiving its email, does not get in.
    with site.client() as stranger:
        send_form(stranger, "/register", **{**NEWCOMER, "email": "ada@uni.example"})
        early = path_of(link_in(the_mail(site, "ada@uni.example")))
        with site.client() as client:
            assert come_back(client, "ada").headers["location"] == NEW
            assert not is_signed_in(client)
            page = client.get(NEW).text
            assert "ada@uni.example" in page
            assert 'value="Ada Example"' in page
            assert send_form(client, NEW, name="").status_code == 422
            created = send_form(client, NEW, name="Ada", affiliation="University")
            assert created.headers["location"] == "/submissions?done=registered"
            assert is_signed_in(client)
            assert client.get(NEW).status_code == 401, "the identity has its account"
            assert "Example University" in client.get("/account").text
        assert stranger.get(early).status_code == 404
        refused = send_form(stranger, "/sign-in", email="ada@uni.example", password=NEWCOMER["password"])
        assert refused.status_code == 401
    with site.client() as other:
        assert come_back(other, "ada").headers["location"] == "/submissions"
        assert is_signed_in(other)
        exported = other.get("/api/v1/account/export").json()["identities"]
        assert [one["issuer"].endswith("/o") for one in exported] == [True]
        with site.writing() as session:
            administration.disable(session, user=administration.get_user(session, "ada@uni.example"))
        refused = come_back(other, "ada")
        assert (refused.status_code, "ask the operators" in refused.text.lower()) == (401, True)
        assert not is_signed_in(other)
    assert len(accounts(site)) == 1


def test_an_account_with_the_address_is_linked_by_its_password_and_code_alone(site: Site, clock: Clock) -> None:
    with site.writing() as session:
        make_user(session, email="ada@uni.example")
    with signed_in(site, "ada@uni.example") as owner, site.client() as client:
        app, _ = set_up(owner)
        assert come_back(client, "ada").headers["location"] == NEW
        assert "There is an account with the address ada@uni.example" in client.get(NEW).text
        form = {"email": "ada@uni.example", "password": "not this one"}
        assert send_form(client, NEW, f"{NEW}/link", **form).status_code == 401
        assert send_form(client, NEW, NEW, name="Another").status_code == 409
        clock.advance(STEP)
        asked = send_form(client, NEW, f"{NEW}/link", **{**form, "password": PASSWORD})
        assert asked.headers["location"] == "/sign-in/code?next=%2Fsubmissions"
        assert accounts(site) == {"ada@uni.example": []}
        assert send_code(client, "000000").status_code == 422
        assert accounts(site) == {"ada@uni.example": []}
        assert send_code(client, app.at(now())).headers["location"] == "/submissions"
        assert len(accounts(site)["ada@uni.example"]) == 1
        assert "Example University" in the_mail(site, "ada@uni.example", "you can sign in")
    # Neither the provider nor a new password stands for the code.
    with site.client() as other:
        clock.advance(STEP)
        assert come_back(other, "ada").headers["location"] == "/sign-in/code?next=%2Fsubmissions"
        send_form(other, "/forgotten-password", email="ada@uni.example")
        link = path_of(link_in(the_mail(site, "ada@uni.example", "reset-password")))
        new = {"token": link.partition("token=")[2], "new_password": "another dozen of words"}
        assert send_form(other, link, "/reset-password", **new).headers["location"] == "/sign-in?done=reset"
        assert come_back(other, "ada").headers["location"] == "/sign-in/code?next=%2Fsubmissions"
        assert not is_signed_in(other)
        assert send_code(other, app.at(now())).status_code == 303
        assert is_signed_in(other)


def test_an_address_that_the_provider_has_not_verified_takes_no_account(site: Site) -> None:
    victim = "victim@lab.example"
    with site.writing() as session:
        make_user(session, email=victim)
    with site.client() as mallory, site.client() as owner:
        assert come_back(mallory, "mallory").headers["location"] == NEW
        page = mallory.get(NEW).text
        assert "There is an account" not in page
        assert send_form(mallory, NEW, NEW, name="Mallory").status_code == 409
        answers = [
            send_form(mallory, NEW, f"{NEW}/address", address=address) for address in (victim, "nobody@lab.example")
        ]
        assert {(one.status_code, one.headers["location"]) for one in answers} == {
            (303, f"{NEW}?done=identity-address")
        }
        link = path_of(link_in(the_mail(site, victim)))
        # The owner, who follows it, has to sign in at the provider, and is not the person who has asked.
        asked = owner.get(link).headers["location"]
        assert asked.startswith("/sign-in/with/uni?")
        back = owner.get(approved(owner.get(asked).headers["location"], "bob")).headers["location"]
        # A token may end in "=", which comes back as "%3D".
        assert (urlsplit(back).path, parse_qs(urlsplit(back).query)) == (
            urlsplit(link).path,
            parse_qs(urlsplit(link).query),
        )
        assert owner.get(link).status_code == 404
        assert accounts(site) == {victim: []}
        # Even with the mailbox, the account is only linked by its password.
        assert mallory.get(link).headers["location"] == NEW
        assert f"There is an account with the address {victim}" in mallory.get(NEW).text
        assert send_form(mallory, NEW, NEW, name="Mallory").status_code == 409
        assert not is_signed_in(mallory)
    assert accounts(site) == {victim: []}


def test_an_address_that_is_free_is_confirmed_by_email(site: Site) -> None:
    with site.client() as client:
        assert come_back(client, "nobody").headers["location"] == NEW
        assert send_form(client, NEW, f"{NEW}/address", address="no address").status_code == 422
        send_form(client, NEW, f"{NEW}/address", address="new@lab.example")
        link = path_of(link_in(the_mail(site, "new@lab.example")))
        assert accounts(site) == {}
        forged = link[:-2] + ("aa" if link[-2:] != "aa" else "bb")
        assert client.get(forged).status_code == 404
        assert client.get(link).headers["location"] == NEW
        assert send_form(client, NEW, name="New").headers["location"] == "/submissions?done=registered"
        asked = client.get(client.get(link).headers["location"]).headers["location"]
        assert client.get(approved(asked, "nobody")).headers["location"] == "/", "not the link, which would ask again"
    assert len(accounts(site)["new@lab.example"]) == 1


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"registration": "closed"}, "You cannot register on this server"),
        ({"registration": "domains:lab.example"}, "An address of lab.example."),
        ({"registration": "approval"}, ""),
        ({"terms_file": True}, "Accept the terms."),
    ],
)
def test_new_accounts_follow_the_rules_of_registration(
    serve: Callable[..., Site], tmp_path: Path, given: dict[str, object], refusal: str
) -> None:
    if "terms_file" in given:
        given = {"terms_file": tmp_path / "terms.md"}
        (tmp_path / "terms.md").write_text("Be kind.")
    site = serve(**given)
    with site.client() as client:
        come_back(client, "ada")
        answer = send_form(client, NEW, NEW, name="Ada")
        if refusal:
            assert refusal in client.get(NEW).text or refusal in answer.text
            assert answer.status_code in {403, 422}
            assert accounts(site) == {}
        else:
            assert answer.headers["location"] == "/submissions?done=registered-waits"
            assert is_signed_in(client)
            with site.database.reading() as session:
                assert session.scalars(select(User.approved_at)).all() == [None]
        if "terms_file" in given:
            [version] = re.findall(r'name="terms" value="(\w+)"', client.get(NEW).text)
            assert send_form(client, NEW, name="Ada", terms=version).status_code == 303


def with_query(address: str, **changed: str) -> str:
    parts = urlsplit(address)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    return parts._replace(query=urlencode(query | changed)).geturl()


def test_an_answer_counts_once_in_the_browser_that_has_asked_and_for_what_it_has_asked(site: Site) -> None:
    with site.client() as client:
        come_back(client, "ada")
        send_form(client, NEW, name="Ada")

    def refused(answer: httpx.Response, browser: httpx.Client) -> None:
        assert (answer.status_code, "did not work" in answer.text) == (400, True)
        assert not is_signed_in(browser)

    with site.client() as first, site.client() as second:
        back = approved(leave(first), "ada")
        refused(second.get(back), second)  # which has begun nothing
        leave(second)
        refused(second.get(back), second)  # which has begun another sign-in
        leave(second)
        refused(second.get(with_query(back, state="é")), second)
        code = parse_qs(urlsplit(back).query)["code"][0]
        mine = parse_qs(urlsplit(leave(second)).query)["state"][0]
        refused(second.get(f"/sign-in/with/uni/callback?{urlencode({'code': code, 'state': mine})}"), second)
        # A replay with the cookie of the first time.
        cookies = dict(first.cookies)
        assert first.get(back).headers["location"] == "/submissions"
        refused(second.get(back), second)
        replaying = httpx.Client(base_url=site.url, cookies=cookies)
        with replaying:
            refused(replaying.get(back), replaying)
        # The provider signs a token, but for a sign-in with another nonce.
        with site.client() as mixed:
            refused(mixed.get(approved(with_query(leave(mixed), nonce="of another sign-in"), "ada")), mixed)
        # Another provider's address, another issuer, a code of nobody, and a person who declines.
        with site.client() as third:
            back = approved(leave(third), "ada")
            refused(third.get(back.replace("/uni/", "/mirror/")), third)
            refused(third.get(with_query(approved(leave(third), "ada"), iss="https://evil.example")), third)
            refused(third.get(with_query(approved(leave(third), "ada"), code="guessed")), third)
            state = parse_qs(urlsplit(leave(third)).query)["state"][0]
            declined = third.get(f"/sign-in/with/uni/callback?error=access_denied&state={state}")
            assert (declined.status_code, "has not signed you in" in declined.text) == (401, True)
            assert third.get("/sign-in/with/another").status_code == 404
    with site.database.reading() as session:
        assert len(session.scalars(select(WebSession)).all()) == 2


@pytest.mark.parametrize("name", ["down", "elsewhere", "huge", "unsafe"])
def test_a_provider_that_is_down_or_configured_for_another_issuer_is_not_gone_to(site: Site, name: str) -> None:
    with site.client() as client:
        for _ in range(2):
            answer = client.get(f"/sign-in/with/{name}?next=/submissions")
            assert (answer.status_code, f"{name} does not answer" in answer.text) == (503, True)
            assert 'value="/submissions"' in answer.text, "the form for the password is there"


@pytest.mark.parametrize(("name", "status"), [("mirror", 400), ("forged", 400), ("half", 503), ("failing", 503)])
def test_tokens_of_another_issuer_or_signed_by_others_are_refused(site: Site, name: str, status: int) -> None:
    with site.client() as client:
        back = approved(leave(client, name), "ada")
        cookies = dict(client.cookies)
        assert client.get(back).status_code == status
        with httpx.Client(base_url=site.url, cookies=cookies) as replaying:
            assert replaying.get(back).status_code == 400, "the provider is not even asked"
        assert client.get(NEW).status_code == 401
        assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("name", "scopes"), [("uni", "openid profile email"), ("mirror", "openid"), ("half", "openid profile email")]
)
def test_scopes_that_a_provider_does_not_know_are_not_asked_for(site: Site, name: str, scopes: str) -> None:
    with site.client() as client:
        asked = parse_qs(urlsplit(leave(client, name)).query)
    assert asked["scope"] == [scopes]


def unlink(client: httpx.Client, linked: str, password: str = PASSWORD) -> httpx.Response:
    return send_form(client, "/account", f"{ACCOUNT}/unlink", linked=linked, unlink_password=password)


def test_people_link_and_unlink_without_losing_the_account(site: Site) -> None:
    with signed_in(site) as client:
        email = client.get("/api/v1/me").json()["email"]

        def link(browser: httpx.Client, password: str = PASSWORD) -> httpx.Response:
            return send_form(browser, ACCOUNT, f"{ACCOUNT}/link", provider="uni", password=password)

        assert link(client, "not this one").status_code == 422
        [address] = re.findall(r'href="(http[^"]+/authorize/[^"]+)"', link(client).text)
        back = approved(address.replace("&amp;", "&"), "ada")
        assert client.get(back).headers["location"] == f"{ACCOUNT}?done=linked"
        assert "you can sign in" in the_mail(site, email, "Example University")
        # One identity, one account; and a sign-in that was begun for linking belongs to the account that began it.
        with signed_in(site) as other:
            [address] = re.findall(r'href="(http[^"]+/authorize/[^"]+)"', link(other).text)
            taken = other.get(approved(address.replace("&amp;", "&"), "ada"))
            assert (taken.status_code, "another account" in taken.text) == (409, True)
            [address] = re.findall(r'href="(http[^"]+/authorize/[^"]+)"', link(other).text)
            back = approved(address.replace("&amp;", "&"), "bob")
            send_form(other, "/account", "/sign-out")
            assert other.get(back).status_code == 401
            [linked] = re.findall(r'<option value="([0-9a-f-]{36})">', client.get(ACCOUNT).text)
        with signed_in(site) as third:
            assert unlink(third, linked).status_code == 404
        assert unlink(client, linked, "not this one").status_code == 422
        assert unlink(client, linked).headers["location"].endswith("done=unlinked")
        assert "no longer be signed in to" in the_mail(site, email, "Example University")
        assert not any(accounts(site).values())


def test_the_only_way_in_stays_until_there_is_a_password(site: Site) -> None:
    with site.client() as client:
        come_back(client, "ada")
        send_form(client, NEW, name="Ada")
        page = client.get(ACCOUNT).text
        assert "choose a password" in page
        assert "unlink_password" not in page
        with site.database.reading() as session:
            [identity] = session.scalars(select(LinkedIdentity.id)).all()
        refused = unlink(client, str(identity), "!")
        assert (refused.status_code, "has no password yet" in refused.text) == (422, True)
        sent = send_form(client, "/account", "/forgotten-password", email="ada@uni.example")
        assert sent.headers["location"] == "/forgotten-password/sent"
        link = path_of(link_in(the_mail(site, "ada@uni.example", "reset-password")))
        token = link.partition("token=")[2]
        send_form(client, link, "/reset-password", token=token, new_password=PASSWORD)
    with signed_in(site, "ada@uni.example") as client:
        assert unlink(client, str(identity)).headers["location"].endswith("done=unlinked")
    assert accounts(site) == {"ada@uni.example": []}
