"""Administrators' pages of the whole server."""

import re
import uuid
from datetime import timedelta

import httpx
import pytest
from lxml import html
from sqlalchemy import delete, select

from tests.app.pages.test_second_factor import set_up
from tests.app.pages.test_signing_in_pages import the_mail
from tests.browser.gallery import Gallery
from tests.support.browsing import send_form, signed_in
from tests.support.factories import PASSWORD, make_challenge, make_token, make_user
from tests.support.jobs import send_due
from tests.support.site import Site
from vocboard.app.accounts import administration, removal
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.queries import user_by_email
from vocboard.app.challenges.models import Ban, Challenge, ChallengeOrganiser
from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.jobs.models import Job, Kind, WorkerHeartbeat
from vocboard.app.messaging import outbox
from vocboard.app.messaging.delivery import UndeliverableError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.pages.formats import file_size
from vocboard.app.submissions.models import Submission

ADMIN = "admin@lab.example"


def admin_of(site: Site) -> User:
    with site.writing() as session:
        return make_user(session, role=Role.ADMINISTRATOR, email=ADMIN, name="Alma Admin")


def found(client: httpx.Client, **filters: str) -> list[str]:
    page = client.get("/admin/people", params=filters)
    return re.findall(r'<a href="/admin/people/[0-9a-f-]{36}">([^<]+)</a>', page.text)


def test_people_are_searched_and_filtered(embedded_site: Site) -> None:
    admin_of(embedded_site)
    with embedded_site.writing() as session:
        make_user(session, name="Ada Active", email="ada@lab.example", affiliation="Institute of Lakes")
        make_user(session, name="Una", confirmed=False)
        make_user(session, name="Wanda", approved=False)
        administration.disable(session, user=make_user(session, name="Dirk", role=Role.ORGANISER))
        removal.scrub(session, make_user(session, name="Nobody"))
    with signed_in(embedded_site, ADMIN) as client:
        assert found(client) == ["Ada Active", "Alma Admin", "Dirk", "Una", "Wanda"]
        for filters, expected in (
            ({"q": "ADA@LAB"}, ["Ada Active"]),
            ({"q": "of lakes"}, ["Ada Active"]),
            ({"q": "%"}, []),
            ({"q": "\x00dirk"}, ["Dirk"]),
            ({"role": "organiser"}, ["Dirk"]),
            ({"role": "no such", "state": "unconfirmed"}, ["Una"]),
            ({"state": "waiting"}, ["Wanda"]),
            ({"state": "disabled"}, ["Dirk"]),
            ({"state": "active", "q": "a"}, ["Ada Active", "Alma Admin"]),
        ):
            assert found(client, **filters) == expected, filters


def test_an_administrator_changes_an_account_and_the_log_says_so(embedded_site: Site) -> None:
    admin_of(embedded_site)
    with embedded_site.writing() as session:
        person = make_user(session, name="Ada", email="ada@lab.example", confirmed=False)
        address = f"/admin/people/{person.id}"
    with signed_in(embedded_site, ADMIN) as client:

        def act(action: str, status: int = 303, **fields: str) -> str:
            answer = send_form(client, address, f"{address}/{action}", **fields)
            assert answer.status_code == status, answer.text[-3000:]
            return answer.text

        for _ in range(5):
            act("resend")
        assert "Too many attempts" in act("resend", 429)
        assert "/confirm?token=" in the_mail(embedded_site, "ada@lab.example")
        with embedded_site.writing() as session:
            administration.confirm(session, user=administration.get_user(session, "ada@lab.example"))
            secret = make_token(session, administration.get_user(session, "ada@lab.example"))
        with signed_in(embedded_site, "ada@lab.example") as other:
            act("sign-out")
            assert other.get("/account").headers["location"].startswith("/sign-in")
        with embedded_site.client(secret) as program:
            assert program.get("/api/v1/me").status_code == 401
        act("role", 422, role="organiser", password="wrong")
        assert "Choose a role" in act("role", 422, role="emperor", password=PASSWORD)
        act("role", role="organiser", password=PASSWORD)
        with signed_in(embedded_site, "ada@lab.example") as other:
            set_up(other)
            act("disable")
            assert other.get("/account").status_code == 303
        assert "Enable account" in client.get(address).text
        act("enable")
        act("remove-second-factor", password=PASSWORD)
        act("remove-second-factor", 409, password=PASSWORD)
        with embedded_site.writing() as session:
            person = administration.get_user(session, "ada@lab.example")
            assert (person.role, person.disabled_at) == (Role.ORGANISER, None)
            make_challenge(session, organiser=person)
        assert "Hand over" in act("delete", 409, naming="keep_name", password=PASSWORD)
        with embedded_site.writing() as session:
            session.execute(delete(ChallengeOrganiser))
        assert "Choose what happens" in act("delete", 422, password=PASSWORD)
        act("delete", naming="keep_name", password=PASSWORD)
        act_again = client.get(address)
        assert act_again.status_code == 404
        assert "This is the last email" in the_mail(embedded_site, "ada@lab.example")
        log = client.get("/organise/log").text
    for sentence in (
        "another link to confirm",
        "out everywhere and revoked the API tokens.",
        "from participant to organiser.",
        "disabled the account of",
        "enabled the account of",
        "removed the second factor of",
        "Alma Admin deleted the account of somebody else.",
    ):
        assert sentence in log


def test_enabling_a_banned_account_lifts_the_ban(embedded_site: Site) -> None:
    admin_of(embedded_site)
    with embedded_site.writing() as session:
        person = make_user(session)
        session.add(Ban(user_id=person.id, challenge_id=None, reason="Attacks"))
        administration.disable(session, user=person)
        address, email = f"/admin/people/{person.id}", person.email
    with signed_in(embedded_site, ADMIN) as client:
        assert "Attacks" in client.get(address).text
        assert send_form(client, address, f"{address}/enable").status_code == 303
    assert "no longer banned" in the_mail(embedded_site, email)


def test_rejected_email_is_sent_again(embedded_site: Site) -> None:
    def reject(_message: OutgoingMail) -> None:
        raise UndeliverableError("550 relaying <b>denied</b>")

    admin_of(embedded_site)
    database, directory = embedded_site.database, embedded_site.settings.data_directory
    with embedded_site.writing() as session:
        person = make_user(session)
        for email in (person.email, "other@lab.example"):
            outbox.put(session, to=email, template="approved", site="https://voc.example")
    assert send_due(database, directory, reject) == 2
    with signed_in(embedded_site, ADMIN) as client:
        page = client.get("/admin/mail").text
        assert "550 relaying &lt;b&gt;denied&lt;/b&gt;" in page
        assert "550 relaying" in client.get(f"/admin/people/{person.id}").text
        [first, _] = re.findall(r'name="message" value="([^"]+)"', page)
        assert send_form(client, "/admin/mail", "/admin/mail/retry", message=first).status_code == 303
        assert send_form(client, "/admin/mail", "/admin/mail/retry", message=first).status_code == 409
        assert send_form(client, "/admin/mail", "/admin/mail/retry").status_code == 303
        assert send_due(database, directory, lambda message: None) == 2
        assert "No email of the last 30 days has failed" in client.get("/admin/mail").text
        log = client.get("/organise/log").text
    assert "had a rejected email to " in log
    assert "had 1 rejected email sent again" in log


def test_workers_work_and_storage_are_shown(gallery_site: Site, gallery: Gallery) -> None:
    with gallery_site.writing() as session:
        instant = now()
        for host, ago in (("calm", timedelta()), ("stuck", timedelta(hours=2))):
            looked_at = instant - ago
            session.add(WorkerHeartbeat(host=host, kind="scoring", started_at=looked_at, looked_at=looked_at))
        for failure, finished_at in (("error", instant), ("too_large", instant), (None, None)):
            job = Job(kind=Kind.DIAGNOSIS, key=uuid.uuid4(), priority=1, failure=failure, finished_at=finished_at)
            job.not_before = instant - timedelta(hours=3)
            session.add(job)
        challenge = session.scalars(select(Challenge).where(Challenge.slug == "voc2012")).one()
        sizes = dict(
            session.execute(
                select(Submission.archive_sha256, Submission.archive_bytes).where(
                    Submission.challenge_id == challenge.id, Submission.has_archive
                )
            ).all()
        )
        total = file_size(sum(sizes.values()))

    def rows(client: httpx.Client, path: str) -> list[str]:
        found = html.fromstring(client.get(path).text).xpath("//tbody/tr")
        return [re.sub(r"\d+ \w+ \d{4}(, [\d:]+ UTC)?", "T", " ".join(row.text_content().split())) for row in found]

    with signed_in(gallery_site, gallery.administrator) as client:
        shown = rows(client, "/admin/queue")
        assert [row for row in shown if row.startswith(("calm", "stuck"))] == [
            "calm Scoring Working T T",
            "stuck Scoring Silent T T",
        ]
        [waiting] = [int(row.split()[1]) for row in shown if row.endswith(" T 0 0") and row.startswith("Diagnosis")]
        assert "Diagnosis Too large 1 T Try again: Diagnosis, too_large" in shown
        retried = send_form(client, "/admin/queue", "/admin/queue/retry", kind="diagnosis", failure="error")
        assert retried.status_code == 303
        shown = rows(client, "/admin/queue")
        assert any(row.startswith(f"Diagnosis {waiting + 1} ") for row in shown)
        assert not any("Diagnosis Error" in row for row in shown)
        assert "tried 1 failed job again: diagnosis, error." in client.get("/organise/log").text
        [stored] = [row for row in rows(client, "/admin/storage") if row.startswith(challenge.title)]
        assert f" {len(sizes)} · {total} " in stored


def test_the_last_administrator_stays_and_nobody_loses_the_own_role(embedded_site: Site) -> None:
    admin = admin_of(embedded_site)
    own = f"/admin/people/{admin.id}"
    with signed_in(embedded_site, ADMIN) as client:
        for action, fields in (("disable", {}), ("role", {"role": "participant"}), ("delete", {"naming": "keep_name"})):
            answer = send_form(client, own, f"{own}/{action}", password=PASSWORD, **fields)
            assert (answer.status_code, "to your own account" in answer.text) == (409, True)
        alone = send_form(client, "/account/delete", naming="keep_name", password=PASSWORD)
        assert (alone.status_code, "only administrator" in alone.text) == (409, True)
        with embedded_site.writing() as session:
            other = make_user(session, role=Role.ADMINISTRATOR)
            first = administration.get_user(session, ADMIN)
            first.disabled_at = now()  # as if the other one had done it at the same time
            with pytest.raises(ConflictError, match="only administrator"):
                administration.disable(session, user=other, actor=first)
            first.disabled_at = None
        assert send_form(client, f"/admin/people/{other.id}", f"/admin/people/{other.id}/disable").status_code == 303
    with embedded_site.writing() as session:
        stored = user_by_email(session, ADMIN)
        assert stored is not None
        administration.disable(session, user=stored)  # operators may: the account can have been stolen
