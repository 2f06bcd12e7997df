"""Accounts over the API: who may submit, and registrations that wait for approval."""

import pytest
from sqlalchemy import select

from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.submissions.models import Submission


@pytest.mark.parametrize(
    ("confirmed", "approved", "code"), [(False, True, "address_not_confirmed"), (True, False, "not_approved")]
)
def test_nothing_is_uploaded_before_the_address_is_confirmed_and_the_account_approved(
    site: Site, confirmed: bool, approved: bool, code: str
) -> None:
    with site.writing() as session:
        token = make_token(session, make_user(session, confirmed=confirmed, approved=approved))
        slug = make_challenge(session).slug
    with site.client(token) as client:
        answer = client.post(
            f"/api/v1/challenges/{slug}/submissions", data={"method_name": "M"}, files={"archive": b"x" * 1000}
        )
        me = client.get("/api/v1/me").json()
    assert (answer.status_code, answer.json()["code"]) == (403, code)
    assert (me["email_confirmed"], me["approved"]) == (confirmed, approved)
    with site.database.reading() as session:
        assert session.query(Submission).count() == 0


def test_an_organiser_decides_on_registrations(site: Site) -> None:
    with site.writing() as session:
        organiser = make_token(session, make_organiser(session))
        people = [make_user(session, approved=False) for _ in range(2)]
        make_user(session, approved=False, confirmed=False)
    with site.client(organiser) as client:
        listed = client.get("/api/v1/registrations").json()["items"]
        assert [item["email"] for item in listed] == [person.email for person in people]
        first, second = (f"/api/v1/registrations/{person.id}" for person in people)
        assert client.post(f"{first}/approve").status_code == 204
        assert client.post(f"{second}/reject").status_code == 204
        assert client.post(f"{first}/reject").status_code == 409
        assert client.get("/api/v1/registrations").json()["items"] == []
    with site.database.reading() as session:
        assert session.get_one(User, people[0].id).is_approved
        assert session.get_one(User, people[1].id).disabled_at is not None
        actions = session.scalars(select(AuditEvent.action).order_by(AuditEvent.created_at)).all()
    assert actions[-3:] == ["user.approve", "user.reject", "user.disable"]
