"""What people see of notifications, and how they stop email."""

import uuid

from sqlalchemy import select

from tests.support.browsing import send_form, signed_in
from tests.support.factories import make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.notifications import queries
from vocboard.app.notifications.models import Notification, NotificationKind, NotificationSetting
from vocboard.app.notifications.service import notify

HOSTILE = "<script>alert(1)</script>"


def people(site: Site) -> tuple[User, User]:
    """Return two people, who were each told three times."""
    with site.writing() as session:
        ada, eve = make_user(session), make_user(session)
        for person in (ada, eve):
            for number in range(3):
                title = f"{number} of {person.name} {HOSTILE}"
                notify(session, [person.id], NotificationKind.SCORED, title=title, link="/submissions")
        for person, token in ((ada, "a" * 43), (eve, "e" * 43)):
            for kind in (NotificationKind.SCORED, NotificationKind.FAILED):
                own = token if kind is NotificationKind.SCORED else token.upper()
                session.add(NotificationSetting(user_id=person.id, kind=kind, unsubscribe_token=own))
    return ada, eve


def stopped(site: Site, person: User) -> set[NotificationKind]:
    with site.database.reading() as session:
        return {kind for kind, by_email in queries.by_email(session, person.id).items() if not by_email}


def test_people_see_and_read_only_their_own(embedded_site: Site) -> None:
    ada, eve = people(embedded_site)
    with embedded_site.database.reading() as session:
        of_eve = session.scalars(select(Notification).where(Notification.user_id == eve.id)).all()
    with signed_in(embedded_site, ada.email) as client:
        page = client.get("/notifications").text
        assert f"of {ada.name}" in page
        assert eve.name not in page
        assert HOSTILE not in page
        assert "Notifications, 3 unread" in page
        fields = {"notification": str(of_eve[0].id)}
        assert send_form(client, "/notifications", "/notifications/read", **fields).status_code == 303
        assert "Notifications, 3 unread" in client.get("/").text
        assert send_form(client, "/notifications", "/notifications/read").status_code == 303
        assert "unread" not in client.get("/").text.replace("unread<", "")
    with embedded_site.database.reading() as session:
        assert queries.count_unread(session, eve.id) == 3


def test_the_api_lists_and_marks_only_ones_own(embedded_site: Site) -> None:
    ada, eve = people(embedded_site)
    with embedded_site.writing() as session:
        token = make_token(session, ada)
        of_eve = [str(one) for one in session.scalars(select(Notification.id).where(Notification.user_id == eve.id))]
    with embedded_site.client(token) as client:
        listed = client.get("/api/v1/notifications", params={"unread": True, "per_page": 2}).json()
        assert (listed["total"], len(listed["items"])) == (3, 2)
        assert all(ada.name in one["title"] and one["read_at"] is None for one in listed["items"])
        ids = [listed["items"][0]["id"], *of_eve, str(uuid.uuid4())]
        assert client.post("/api/v1/notifications/read", json={"ids": ids}).status_code == 204
        assert client.get("/api/v1/notifications", params={"unread": True}).json()["total"] == 2
        assert client.patch("/api/v1/account/emails", json={"scored": False}).json()["scored"] is False
        assert client.get("/api/v1/account/emails").json()["failed"] is True
        assert list(client.patch("/api/v1/account/emails", json={"nope": False}).json()["fields"]) == ["nope"]
        refused = client.patch("/api/v1/account/emails", json={"failed": False, "disqualified": False})
        assert refused.status_code == 422
    assert stopped(embedded_site, ada) == {NotificationKind.SCORED}
    assert stopped(embedded_site, eve) == set()
    with embedded_site.database.reading() as session:
        assert queries.count_unread(session, eve.id) == 3


def test_a_link_stops_one_kind_for_one_person_with_one_post(site: Site) -> None:
    ada, eve = people(site)
    one_click = {"List-Unsubscribe": "One-Click"}
    with site.client() as program:  # without cookies, as a mail program
        shown = program.get("/unsubscribe", params={"token": "a" * 43})
        assert shown.status_code == 200
        assert stopped(site, ada) == set(), "programs that check links open them"
        for wrong in ("", "b" * 43, "a" * 42, "%", "a\x00"):
            assert program.get("/unsubscribe", params={"token": wrong}).status_code == 404
            assert program.post("/unsubscribe", params={"token": wrong}, data=one_click).status_code == 404
        for _ in range(2):
            assert program.post("/unsubscribe", params={"token": "a" * 43}, data=one_click).status_code == 200
    assert stopped(site, ada) == {NotificationKind.SCORED}
    assert stopped(site, eve) == set()
    with signed_in(site, eve.email) as client:  # somebody else's link, in the browser of a signed-in person
        assert client.post("/unsubscribe", params={"token": "A" * 43}).status_code == 200
    assert stopped(site, ada) == {NotificationKind.SCORED, NotificationKind.FAILED}
    assert stopped(site, eve) == set()


def test_people_choose_what_they_get_by_email(embedded_site: Site) -> None:
    ada, eve = people(embedded_site)
    with signed_in(embedded_site, ada.email) as client:
        assert "/account/notifications" in client.get("/account").text
        answer = send_form(client, "/account/notifications", by_email="scored", user_id=str(eve.id))
        assert answer.status_code == 303
        assert stopped(embedded_site, ada) == set(queries.EMAILED_BY_CHOICE) - {NotificationKind.SCORED}
        shown = client.get("/account/notifications").text
        assert shown.count("checked") == 1
    assert stopped(embedded_site, eve) == set()
