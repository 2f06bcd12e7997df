"""Admission to challenges: by domain of the email address, and what becomes of it when the address changes."""

import httpx
import pytest

from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts import addresses
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Admission, Visibility

PATH = "/api/v1/challenges/harbour"
DOMAINS = {"admission": "domain", "admission_domains": [" @Lab.example", "lab.example", "uni.example"]}


def begin_upload(client: httpx.Client) -> httpx.Response:
    """Ask to begin an upload, which is refused before anything is sent if the person may not submit."""
    return client.post("/api/v1/uploads", params={"challenge": "harbour"}, headers={"Upload-Length": "9"})


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.PRIVATE])
def test_admission_by_domain_follows_the_confirmed_address(embedded_site: Site, visibility: Visibility) -> None:
    """A new address counts once it is confirmed, and the old one no more, in a private challenge not even to see it."""
    with embedded_site.writing() as session:
        person = make_user(session, email="ada@lab.example")
        organiser = make_organiser(session, email="olga@elsewhere.example")
        make_challenge(session, organiser=organiser, slug="harbour", visibility=visibility)
        token, organising = make_token(session, person), make_token(session, organiser)
    with embedded_site.client(organising) as client:
        changed = client.patch(PATH, json=DOMAINS)
        assert changed.json()["phases"][0]["admission_domains"] == ["lab.example", "uni.example"]
    refused = 403 if visibility is Visibility.PUBLIC else 404
    with embedded_site.client(token) as client:
        assert begin_upload(client).status_code == 201
        for email, status in (
            ("ada@sub.lab.example", refused),
            ("ada@uni.example", 201),
            ("ada@lab.example.elsewhere.example", refused),
            ("lab.example@elsewhere.example", refused),
            ("ada@lab.example", 201),
        ):
            before = begin_upload(client).status_code
            with embedded_site.writing() as session:
                addresses.request(session, user=person, email=email, address="192.0.2.1", site="https://site.example")
            assert begin_upload(client).status_code == before, email  # not confirmed yet
            with embedded_site.writing() as session:
                person = session.get_one(User, person.id)
                addresses.change(session, user=person, email=email, site="https://site.example", actor=person)
            assert begin_upload(client).status_code == status, email
            assert (client.get(PATH).status_code == 404) == (status == 404), email
    if visibility is Visibility.PUBLIC:
        with embedded_site.client(make_other(embedded_site)) as client:
            assert "lab.example or uni.example" in begin_upload(client).json()["detail"]
    with embedded_site.client(organising) as client:  # whom the organisers admit by address may have any domain
        assert client.post(f"{PATH}/admissions", json={"email": "other@elsewhere.example"}).status_code == 201
    with embedded_site.client(make_other(embedded_site)) as client:
        assert begin_upload(client).status_code == 201


def make_other(site: Site) -> str:
    """Return a token of a person of another domain."""
    with site.writing() as session:
        user = session.query(User).filter_by(email="other@elsewhere.example").one_or_none()
        return make_token(session, user or make_user(session, email="other@elsewhere.example"))


@pytest.mark.parametrize(
    ("domains", "message"),
    [([], "Give between 1 and 50"), (["not a domain", "b@c.example"], "not a domain, b@c.example"), (["@"], "domains")],
)
def test_domains_are_checked(embedded_site: Site, domains: list[str], message: str) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        make_challenge(session, organiser=organiser, slug="harbour")
        token = make_token(session, organiser)
    with embedded_site.client(token) as client:
        given = {"admission": Admission.DOMAIN, "admission_domains": domains}
        refused = client.patch(PATH, json=given)
        assert refused.status_code == 422
        assert message in refused.text
        assert "admission_domains" in refused.text
