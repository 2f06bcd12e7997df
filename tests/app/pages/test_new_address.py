"""Another email address: a link to the new one, the same answers for known addresses, and nothing lost or escaped."""

import pytest
from sqlalchemy import select

from tests.app.pages.test_signing_in_pages import path_of, the_mail
from tests.support.browsing import send_form, sign_in, signed_in
from tests.support.factories import PASSWORD, make_challenge, make_token, make_user
from tests.support.mail import link_in
from tests.support.site import Site
from vocboard.app.accounts import addresses, links
from vocboard.app.accounts.models import LinkPurpose, User, WebSession
from vocboard.app.challenges.bans import bans_of_people
from vocboard.app.challenges.models import Ban, ExtraQuota, PhaseAdmission
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError
from vocboard.app.participating import leaving
from vocboard.app.settings import RegistrationPolicy

NEW = "ada@elsewhere.example"


def ask(site: Site, client: object, email: str = NEW, password: str = PASSWORD) -> str:
    """Ask for another address; return where the answer leads."""
    answer = send_form(client, "/account", "/account/email", email=email, address_password=password)  # type: ignore[arg-type]
    return str(answer.headers.get("location") or answer.status_code)


def test_the_address_changes_once_the_link_is_opened_and_the_old_one_is_told(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        old = make_user(session).email
    with embedded_site.client() as here, embedded_site.client() as there, embedded_site.client() as later:
        sign_in(there, old)
        sign_in(here, old)
        assert ask(embedded_site, here, password="not this one") == "422"
        assert ask(embedded_site, here, email=old) == "422"
        assert ask(embedded_site, here) == "/account?done=address-requested"
        send_form(later, "/forgotten-password", email=old)
        reset = path_of(link_in(the_mail(embedded_site, old)))
        link = path_of(link_in(the_mail(embedded_site, NEW)))
        token = link.partition("token=")[2]
        assert here.get("/api/v1/me").json()["email"] == old
        done = send_form(here, link, "/account/address", token=token)
        assert done.headers["location"] == "/account?done=address"
        assert here.get("/api/v1/me").json()["email"] == NEW
        assert there.get("/account").status_code == 303
        again = here.get(link)
        assert (again.status_code, '"/account#address-title"' in again.text) == (404, True)
        assert later.get(reset).status_code == 404
        assert "has another email address" in the_mail(embedded_site, old)
        sign_in(later, NEW)


def test_errors_have_the_names_of_their_fields(embedded_site: Site) -> None:
    with signed_in(embedded_site) as client:
        answer = send_form(client, "/account", "/account/email", email=NEW, address_password="not this one")
    assert ">Password: This is not your current password.<" in answer.text


def test_a_link_changes_nothing_for_another_account_or_without_one(embedded_site: Site) -> None:
    with signed_in(embedded_site) as client:
        ask(embedded_site, client)
    link = path_of(link_in(the_mail(embedded_site, NEW)))
    with embedded_site.client() as visitor, signed_in(embedded_site) as other:
        assert visitor.get(link).headers["location"].startswith("/sign-in?next=%2Faccount%2Faddress%3Ftoken%3D")
        assert other.get(link).status_code == 404
        answer = send_form(other, "/account", "/account/address", token=link.partition("token=")[2])
        assert answer.status_code == 404


def test_known_and_unknown_addresses_get_the_same_answer(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        make_user(session, email="eve@gmail.com")
    with signed_in(embedded_site) as client:
        answers = {ask(embedded_site, client, email) for email in ("e.v.e+2@googlemail.com", "nobody@gmail.com")}
    assert len(answers) == 1
    assert "You already have an account" in the_mail(embedded_site, "eve@gmail.com")


@pytest.mark.parametrize("is_deleted", [False, True])
def test_an_address_that_was_confirmed_since_is_refused(embedded_site: Site, is_deleted: bool) -> None:
    """Also if that account was deleted: its quota and bans are for who registers there again, not for a new start."""
    with signed_in(embedded_site) as client:
        ask(embedded_site, client)
        link = path_of(link_in(the_mail(embedded_site, NEW)))
        with embedded_site.writing() as session:
            other = make_user(session, email=f"ada+2@{NEW.partition('@')[2]}")
            if is_deleted:
                settings = embedded_site.settings
                leaving.delete_account(session, user=other, naming=leaving.Naming.KEEP_NAME, settings=settings)
        answer = send_form(client, link, "/account/address", token=link.partition("token=")[2])
        assert answer.status_code == 409
        assert client.get("/api/v1/me").json()["email"] != NEW


def test_an_unconfirmed_registration_does_not_keep_the_address(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        waiting = make_user(session, email=NEW, confirmed=False)
        links.send(session, user=waiting, purpose=LinkPurpose.CONFIRM_ADDRESS, site="https://voc.example")
    squatter = path_of(link_in(the_mail(embedded_site, NEW)))
    with signed_in(embedded_site) as client:
        ask(embedded_site, client)
        link = path_of(link_in(the_mail(embedded_site, NEW, "/account/address")))
        assert send_form(client, link, "/account/address", token=link.partition("token=")[2]).status_code == 303
        assert client.get(squatter).status_code == 404


def test_what_organisers_stored_for_the_old_address_follows(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        ada, imported = make_user(session), make_user(session)
        challenge = make_challenge(session)
        phase = challenge.phases[0].id
        session.add(PhaseAdmission(phase_id=phase, email=ada.email))
        session.add(PhaseAdmission(phase_id=phase, email=NEW))
        session.add(ExtraQuota(phase_id=phase, email=ada.email, count=2, until=now(), reason=""))
        session.add(Ban(user_id=imported.id, challenge_id=challenge.id, reason="Cheated there", email=ada.email))
    with signed_in(embedded_site, ada.email) as client:
        ask(embedded_site, client)
        link = path_of(link_in(the_mail(embedded_site, NEW)))
        assert send_form(client, link, "/account/address", token=link.partition("token=")[2]).status_code == 303
    with embedded_site.writing() as session:
        assert session.scalars(select(PhaseAdmission.email)).all() == [NEW]
        assert session.scalars(select(ExtraQuota.email)).all() == [NEW]
        assert bans_of_people(session, user_ids=[ada.id], challenge_id=challenge.id)
        assert session.scalars(select(WebSession.user_id)).all() == [ada.id]
        assert session.get_one(User, ada.id).mailbox == NEW


@pytest.mark.parametrize(("email", "status"), [(NEW, 202), ("not an address", 422)])
def test_the_api_sends_the_link_for_the_password(embedded_site: Site, email: str, status: int) -> None:
    with embedded_site.writing() as session:
        secret = make_token(session, make_user(session))
    with embedded_site.client(secret) as client:
        wrong = client.post("/api/v1/account/email", json={"email": NEW, "password": "not this one"})
        assert wrong.json()["fields"] == {"password": "This is not your current password."}
        answer = client.post("/api/v1/account/email", json={"email": email, "password": PASSWORD})
    assert answer.status_code == status


def test_sessions_end_as_the_email_to_the_old_address_says_also_if_operators_change_it(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        ada = make_user(session)
    with signed_in(embedded_site, ada.email) as client:
        with embedded_site.writing() as session:
            addresses.change(session, user=session.get_one(User, ada.id), email=NEW, settings=embedded_site.settings)
        assert "All other sessions were signed out" in the_mail(embedded_site, ada.email)
        assert client.get("/account").status_code == 303


def test_a_policy_of_domains_holds_for_new_addresses() -> None:
    with pytest.raises(InvalidInputError):
        addresses.checked(User(email="a@lab.example"), NEW, RegistrationPolicy(domains=("lab.example",)))
