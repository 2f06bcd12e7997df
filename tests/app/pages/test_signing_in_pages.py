"""Registering, signing in and out by the pages' forms."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from lxml import html
from sqlalchemy import select

from tests.support.browsing import from_here, send_form, sign_in, signed_in, token_of
from tests.support.factories import PASSWORD, make_challenge, make_token, make_user
from tests.support.jobs import send_due
from tests.support.mail import link_in, read
from tests.support.site import SECONDS_TO_ANSWER, Site, serving
from vocboard.app.accounts import administration, passwords, registration
from vocboard.app.accounts.models import Role
from vocboard.app.audit.models import AuditEvent
from vocboard.app.messaging.delivery import sender
from vocboard.app.settings import Settings

SECONDS_TO_WRITE = 20.0
NEWCOMER = {"email": "ada@lab.example", "name": "Ada", "password": "a dozen words in a row"}


def the_mail(site: Site, address: str, about: str = "", *, earlier: str | None = None) -> str:
    """Send what is in the outbox as the worker does, and return the newest message to an address.

    It may be put in just after the answer that announces it.

    Args:
        about: what its text contains.
        earlier: the text of an earlier message about the same, to wait for another one.
    """
    assert site.settings.mail_directory is not None
    deadline = time.monotonic() + SECONDS_TO_WRITE
    while True:
        send_due(site.database, site.settings.data_directory, sender(site.settings))
        found = [mail for mail in read(site.settings.mail_directory) if mail["To"] == address]
        texts = [text for mail in found if about in (text := str(mail.get_content())) and text != earlier]
        if texts:
            return texts[-1]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def path_of(link: str) -> str:
    return "/" + link.split("/", 3)[3]


def test_a_newcomer_registers_and_is_signed_in_by_confirming(embedded_site: Site) -> None:
    with embedded_site.client() as client:
        registered = send_form(client, "/register", **NEWCOMER)
        assert (registered.status_code, registered.headers["location"]) == (303, "/register/sent")
        sent = client.get("/register/sent").text
        assert str(embedded_site.settings.mail_directory) in sent
        assert "junk mail" not in sent, "nothing is sent"
        refused = send_form(client, "/sign-in", email=NEWCOMER["email"], password=NEWCOMER["password"])
        assert refused.status_code == 401
        assert "or the password is wrong" in refused.text  # another answer would tell whether the address was free
        link = path_of(link_in(the_mail(embedded_site, NEWCOMER["email"])))
        token = link.partition("token=")[2]
        wrong = send_form(client, link, "/confirm", token=token, password="not this one")
        assert wrong.status_code == 422
        confirmed = send_form(client, link, "/confirm", token=token, password=NEWCOMER["password"])
        assert confirmed.headers["location"] == "/?done=welcome"
        assert "You are signed in." in client.get(confirmed.headers["location"]).text
        assert client.get(link).status_code == 404
        assert "ada@lab.example" in client.get("/account").text


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/challenges/voc2012?class=dog", "/challenges/voc2012?class=dog"),
        ("//evil.example", None),  # more of them are in tests/app/web/test_odd_requests.py
    ],
)
def test_registering_leads_back_to_where_it_began(embedded_site: Site, wanted: str, reached: str | None) -> None:
    with embedded_site.client() as client:
        asked = str(httpx.URL("/register", params={"next": wanted}))
        page = html.fromstring(client.get(asked).text)
        [shown] = page.xpath("//form[@action='/register']//input[@name='next']/@value")
        assert shown == (reached or "/")
        registered = send_form(client, asked, "/register", next=wanted, **NEWCOMER)
        assert registered.headers["location"] == "/register/sent"
        link = path_of(link_in(the_mail(embedded_site, NEWCOMER["email"])))
        token = link.partition("token=")[2]
        confirmed = send_form(client, link, "/confirm", token=token, password=NEWCOMER["password"])
        here = reached or "/"
        assert confirmed.headers["location"] == f"{here}{'&' if '?' in here else '?'}done=welcome"


def test_registering_a_known_address_looks_the_same(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        make_user(session, email=NEWCOMER["email"])
    with embedded_site.client() as client:
        known = send_form(client, "/register", **NEWCOMER)
        unknown = send_form(client, "/register", **{**NEWCOMER, "email": "other@lab.example"})
        # What was chosen just now opens neither.
        signing_in = [
            send_form(client, "/sign-in", email=email, password=NEWCOMER["password"])
            for email in (NEWCOMER["email"], "other@lab.example")
        ]
        forgotten = [
            send_form(client, "/forgotten-password", email=email)
            for email in (NEWCOMER["email"], "other@lab.example", "nobody@lab.example")
        ]
    for answers in ([known, unknown], signing_in, forgotten):
        assert len({(answer.status_code, answer.headers.get("location")) for answer in answers}) == 1


def test_a_forgotten_password_is_replaced(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        asked = send_form(client, "/forgotten-password", email=email)
        assert asked.headers["location"] == "/forgotten-password/sent"
        link = path_of(link_in(the_mail(embedded_site, email)))
        token = link.partition("token=")[2]
        poor = send_form(client, link, "/reset-password", token=token, new_password="password123")
        assert poor.status_code == 422
        assert "easy to guess" in poor.text
        done = send_form(client, link, "/reset-password", token=token, new_password="three green ladders")
        assert done.headers["location"] == "/sign-in?done=reset"
        sign_in(client, email, "three green ladders")
        again = send_form(client, "/account", "/reset-password", token=token, new_password="three blue ladders")
        assert again.status_code == 404
    assert "was changed" in the_mail(embedded_site, email)


def test_an_organiser_approves_a_registration(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(data_directory=tmp_path / "data", database_url=sqlite_url, registration="approval")
    with serving(settings) as site, site.client() as client:
        with site.writing() as session:
            organiser = make_user(session, role=Role.ORGANISER).email
        send_form(client, "/register", **NEWCOMER)
        link = path_of(link_in(the_mail(site, NEWCOMER["email"])))
        token = link.partition("token=")[2]
        confirmed = send_form(client, link, "/confirm", token=token, password=NEWCOMER["password"])
        assert confirmed.headers["location"] == "/sign-in?done=waits"
        assert "waiting for approval" in the_mail(site, organiser)
        sign_in(client, organiser)
        page = client.get("/organise/registrations")
        [path] = re.findall(r"/organise/registrations/[0-9a-f-]+/approve", page.text)
        assert send_form(client, "/organise/registrations", path).status_code == 303
        assert "No registrations are waiting" in client.get("/organise/registrations").text
        assert "is approved" in the_mail(site, NEWCOMER["email"])
        with site.database.reading() as session:
            actions = session.scalars(select(AuditEvent.action).order_by(AuditEvent.created_at)).all()
    assert actions == ["user.create", "user.register", "user.confirm_address", "user.sign_in", "user.approve"]


def test_without_approval_the_page_of_registrations_says_who_still_waits(embedded_site: Site) -> None:
    with signed_in(embedded_site, role=Role.ORGANISER) as client:
        nobody = client.get("/organise/registrations").text
        with embedded_site.writing() as session:
            make_user(session, approved=False)
        somebody = client.get("/organise/registrations").text
    for page in (nobody, somebody):
        assert "New registrations on this server do not need approval." in page
    assert "until you approve them" not in nobody
    assert "registered when they did: they can sign in, but not submit until you approve them." in somebody


def test_a_wrong_form_keeps_what_was_typed_but_never_a_password(embedded_site: Site) -> None:
    with embedded_site.client() as client:
        answer = send_form(client, "/register", email="nonsense", name="Ada <b>", password="short")
    assert answer.status_code == 422
    assert 'value="nonsense"' in answer.text
    assert 'value="Ada &lt;b&gt;"' in answer.text
    assert 'id="email-wrong"' in answer.text
    assert 'id="password-wrong"' in answer.text
    assert "short" not in answer.text


def test_a_wrong_password_and_unknown_address_get_the_same_error(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        wrong = send_form(client, "/sign-in", email=email, password="not this one")
        nobody = send_form(client, "/sign-in", email="nobody@lab.example", password="not this one")
    assert wrong.status_code == nobody.status_code == 401
    assert f'value="{email}"' in wrong.text
    assert "The email address or the password is wrong." in wrong.text
    assert "The email address or the password is wrong." in nobody.text


def test_signing_in_leads_back_to_the_page_that_asked_for_it(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        asked = client.get("/submissions?page=2")
        assert asked.headers["location"] == "/sign-in?next=%2Fsubmissions%3Fpage%3D2"
        shown = client.get(asked.headers["location"])
        assert 'name="next" value="/submissions?page=2"' in shown.text
        here = ("/submissions?page=2", "/submissions?page=2")
        elsewhere = ((text, "/") for text in ("https://evil.example/", "//evil.example", "/\\evil.example", "evil"))
        for wanted, reached in (here, *elsewhere):
            client.cookies.clear()
            answer = send_form(client, "/sign-in", email=email, password=PASSWORD, next=wanted)
            assert answer.headers["location"] == reached


def test_signed_out_is_signed_out(embedded_site: Site) -> None:
    with signed_in(embedded_site) as client:
        cookies = dict(client.cookies)
        assert send_form(client, "/account", "/sign-out").status_code == 303
        client.cookies.update(cookies)  # a cookie that was kept is worth nothing
        assert client.get("/account").status_code == 303


def test_a_closed_registration_offers_no_form(sqlite_url: str) -> None:
    with serving(Settings(database_url=sqlite_url, registration="closed")) as site, site.client() as client:
        page = client.get("/register")
    assert page.status_code == 200
    assert "Ask its operators for an account" in page.text
    assert 'name="password"' not in page.text


@pytest.mark.parametrize("email", ["ada@lab.example", "eve@lab.example"], ids=["same account", "another account"])
def test_a_client_that_disconnects_leaves_the_queue(
    embedded_site: Site, monkeypatch: pytest.MonkeyPatch, email: str
) -> None:
    """An attempt that is given up while another one is checked is not checked when its turn comes."""
    has_begun, go_on = threading.Event(), threading.Event()
    checked: list[str] = []

    def check(password: str, _password_hash: str | None) -> bool:
        checked.append(password)
        has_begun.set()
        assert go_on.wait(SECONDS_TO_ANSWER)
        return False

    def attempt(email: str, password: str, *, timeout: float = SECONDS_TO_ANSWER) -> None:
        with embedded_site.client() as client:
            client.timeout = httpx.Timeout(timeout)
            send_form(client, "/sign-in", email=email, password=password)

    monkeypatch.setattr(passwords, "matches", check)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(attempt, "ada@lab.example", "first")
        try:
            assert has_begun.wait(SECONDS_TO_ANSWER)
            with pytest.raises(httpx.ReadTimeout):
                attempt(email, "given up", timeout=1.0)
            with embedded_site.client() as client:
                client.get("/sign-in")  # the server has noticed by the time that it answers
        finally:
            go_on.set()
        first.result()
    attempt(email, "last")
    assert checked == ["first", "last"]


def test_the_time_to_ask_for_a_new_password_does_not_say_whether_there_is_an_account(
    embedded_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    begun, end = threading.Event(), threading.Event()

    def send(*_: object, **__: object) -> None:
        begun.set()
        assert end.wait(SECONDS_TO_WRITE)

    monkeypatch.setattr(registration, "send_reset_link", send)
    with embedded_site.client() as client:
        assert send_form(client, "/forgotten-password", email=email).status_code == 303  # although nothing is sent yet
        assert begun.wait(SECONDS_TO_WRITE)
        end.set()


def test_signing_in_again_ends_the_session_that_the_browser_had(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        first, second = make_user(session).email, make_user(session).email
    with embedded_site.client() as client:
        shown = client.get("/sign-in")
        sign_in(client, first)
        earlier = client.cookies["vocboard_session"]
        token = token_of(client.get("/account"))
        again = client.post(
            "/sign-in", data={"csrf_token": token, "email": second, "password": PASSWORD}, headers=from_here(client)
        )
        assert (shown.status_code, again.status_code) == (200, 303)
        assert second in client.get("/account").text
        with embedded_site.client() as thief:
            thief.cookies.set("vocboard_session", earlier)
            assert thief.get("/account").status_code == 303, "the session of before has ended"


def test_people_accept_the_terms_of_the_server_as_they_are_now(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "terms.md"
    file.write_text("Be **fair**.")
    settings = Settings(data_directory=tmp_path / "data", database_url=sqlite_url, terms_file=file)
    with serving(settings) as site, site.client() as client:
        assert "<strong>fair</strong>" in client.get("/terms").text
        [shown] = html.fromstring(client.get("/register").text).xpath("//input[@name='terms']/@value")
        assert "Accept the terms." in send_form(client, "/register", **NEWCOMER).text
        file.write_text("Be very fair.")
        assert "The terms have changed." in send_form(client, "/register", **NEWCOMER, terms=shown).text
        [shown] = html.fromstring(client.get("/register").text).xpath("//input[@name='terms']/@value")
        assert send_form(client, "/register", **NEWCOMER, terms=shown).status_code == 303
        with site.writing() as session:
            user = administration.get_user(session, NEWCOMER["email"])
            assert user.terms_version == shown
            assert user.terms_accepted_at is not None


def test_people_who_registered_before_accept_terms_that_have_changed(sqlite_url: str, tmp_path: Path) -> None:
    """Until then they read, and sign out; all that changes something asks for it, on pages and in the API."""
    file = tmp_path / "terms.md"
    file.write_text("Be *fair*.")
    settings = Settings(data_directory=tmp_path / "data", database_url=sqlite_url, terms_file=file)
    with serving(settings) as site:
        with site.writing() as session:
            user = make_user(session)
            make_challenge(session, slug="harbour")
            token, email = make_token(session, user), user.email
        with site.client(token) as client:
            assert client.get("/api/v1/me").status_code == 200
            refused = client.patch("/api/v1/account", json={"name": "Another"})
            assert (refused.status_code, refused.json()["code"]) == (403, "server_terms_not_accepted")
            version = refused.json()["version"]
            file.write_text("Be **very** fair.")
            assert client.post("/api/v1/account/terms", json={"version": version}).status_code == 409
            version = client.patch("/api/v1/account", json={"name": "Another"}).json()["version"]
            assert client.post("/api/v1/account/terms", json={"version": version}).status_code == 204
            assert client.patch("/api/v1/account", json={"name": "Another"}).status_code == 200
        with signed_in(site, email) as client:
            assert "has terms that you have not accepted" not in client.get("/").text
            file.write_text("Be fair, and cite.")
            assert "has terms that you have not accepted" in client.get("/challenges/harbour").text
            asked = send_form(client, "/account", "/account/profile", name="A third")
            assert (asked.status_code, asked.headers["location"]) == (303, "/terms")
            assert "Another" in client.get("/account").text
            page = client.get("/terms").text
            assert "Be fair, and cite." in page
            [shown] = html.fromstring(page).xpath("//input[@name='version']/@value")
            file.write_text("Be fair, and cite us.")
            assert send_form(client, "/terms", version=shown).status_code == 409
            [shown] = html.fromstring(client.get("/terms").text).xpath("//input[@name='version']/@value")
            assert send_form(client, "/terms", version=shown).status_code == 303
            assert send_form(client, "/account", "/account/profile", name="A third").status_code == 303
            assert "A third" in client.get("/account").text
            file.write_text("Be fair.")
            assert send_form(client, "/account", "/sign-out").headers["location"] != "/terms"
