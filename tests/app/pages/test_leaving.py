"""Deleting an account: nothing personal remains that need not, and nothing is won by it."""

import gzip
import io
import json
import re
import tarfile
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from lxml import html
from sqlalchemy import func, select

from tests.app.pages.test_signing_in_pages import path_of, the_mail
from tests.support.browsing import from_here, send_form, sign_in, signed_in, token_of
from tests.support.clock import Clock
from tests.support.factories import PASSWORD, ban, change_rules, make_challenge, make_organiser, make_token, make_user
from tests.support.jobs import send_due
from tests.support.mail import link_in
from tests.support.phases import complete
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.accounts import registration, removal
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.own_data import COLUMNS, OF_TEAM
from vocboard.app.accounts.privacy import STORED, Fate
from vocboard.app.audit import service as audit
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges import admission_requests, organisers
from vocboard.app.challenges.bans import bans_of_people
from vocboard.app.challenges.models import Admission, Ban, ChallengeOrganiser, PhaseAdmission
from vocboard.app.challenges.phase_people import is_admitted
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.rules import AdmissionQuestion
from vocboard.app.database import Base, Database, now
from vocboard.app.errors import ConflictError
from vocboard.app.leaderboards import freezing
from vocboard.app.leaderboards.models import FrozenLeaderboard
from vocboard.app.messaging.delivery import UndeliverableError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.organising import moderation
from vocboard.app.participating import admission, leaving, publishing, teams
from vocboard.app.submissions import quota
from vocboard.app.submissions.forms import previous_names
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.app.teams.models import TeamMember, TeamRole
from vocboard.app.teams.queries import members_of, teams_of

DAY = timedelta(days=1)
NAME, EMAIL = "Zéphyrine Quillfeather", "zephyrine@quillfeather.example"
PERSONAL = re.compile(r"quillfeather|z(é|\\u00e9|%C3%A9)phyrine", re.IGNORECASE)
MAX_PAGES = 30
BOARD = "/api/v1/challenges/frozen/leaderboards/comp1"


class World:
    """A challenge that closes in a day with two people's results, of whom one is to be deleted."""

    def __init__(self, site: Site) -> None:
        with site.writing() as session:
            self.organiser = make_organiser(session, name="Olga")
            self.person = make_user(session, name=NAME, email=EMAIL, affiliation="Quillfeather Institute")
            self.challenge = make_challenge(
                session,
                organiser=self.organiser,
                slug="frozen",
                competitions=["comp1"],
                closes_at=now() + DAY,
                quota_count=2,
            )
            other = make_user(session)
            self.ids = [
                make_published(session, self.challenge, person, method, score, published=is_published, **given).id
                for person, method, score, is_published, given in (
                    (other, "Baseline", 0.512345678901234, True, {}),
                    (self.person, "Winner", 0.71234567890123456, True, self._named()),
                    (self.person, "Draft", 0.9, False, self._named()),
                )
            ]
            for method in session.scalars(select(Method).where(Method.team_id.in_(teams_of(self.person)))):
                method.paper_url = "https://quillfeather.example/paper"
            self.email, self.id = self.person.email, self.person.id

    def _named(self) -> dict[str, str]:
        texts = ("contributors", "description", "note", "affiliation")
        return dict.fromkeys(texts, f"By {NAME}") | {"archive_name": "quillfeather.tar.gz"}


def delete(client: httpx.Client, naming: str) -> None:
    answer = send_form(client, "/account/delete", naming=naming, password=PASSWORD)
    assert answer.headers["location"] == "/sign-in?done=account-deleted", answer.text[:2000]


def everything_linked(client: httpx.Client, *starts: str) -> Iterator[httpx.Response]:
    """Open pages and everything on the site that they lead to."""
    waiting, known = list(starts), set(starts)
    for _ in range(MAX_PAGES):
        if not waiting:
            return
        answer = client.get(waiting.pop(0))
        yield answer
        if "text/html" not in answer.headers.get("content-type", "") or not answer.text:
            continue
        for link in html.fromstring(answer.text).xpath("//a/@href"):
            address = link.partition("#")[0]
            if address.startswith("/") and not address.startswith(("/docs", "/api/docs")) and address not in known:
                known.add(address)
                waiting.append(address)


def rejecting(_message: OutgoingMail) -> None:
    raise UndeliverableError("550 no such mailbox")


def rows_with(site: Site, pattern: re.Pattern[str]) -> set[str]:
    """Return the columns of all tables in which a text matches."""
    found = set()
    with site.writing() as session:
        for table in Base.metadata.tables.values():
            for row in session.execute(select(table)).mappings():
                for name, value in row.items():
                    text = json.dumps(value, default=str) if isinstance(value, dict | list) else str(value)
                    if pattern.search(text):
                        found.add(f"{table.name}.{name}")
    return found


def test_a_deleted_persons_name_appears_in_no_page_export_log_view_or_mail(embedded_site: Site, clock: Clock) -> None:
    world = World(embedded_site)
    with embedded_site.writing() as session:
        admin = make_user(session, role=Role.ADMINISTRATOR)
        challenge = complete(session, world.challenge.id)
        organisers.invite(session, challenge=challenge, user=world.organiser, email=EMAIL, site="https://voc.example")
        [invitation] = organisers.invitations_to(session, challenge)
        organisers.accept(session, user=world.person, invitation_id=invitation.id)
        mate, other = make_user(session), make_challenge(session, organiser=world.organiser, slug="other")
        team = teams.create(session, challenge=other, user=mate, name="Mates")
        _, token = teams.invite(session, team_id=team.id, user=mate, site="https://voc.example")
        teams.accept(session, token=token, user=session.get_one(User, world.id))
        admin_email, admin_id, mate_email = admin.email, admin.id, mate.email
    for path, body in (
        ("admissions", {"email": EMAIL}),
        ("extra-quotas", {"email": EMAIL, "count": 1, "until": "2100-01-01T00:00:00Z"}),
    ):
        with embedded_site.writing() as session:
            secret = make_token(session, session.get_one(User, world.organiser.id))
        with embedded_site.client(secret) as organiser:
            assert organiser.post(f"/api/v1/challenges/frozen/{path}", json=body).status_code == 201
    with signed_in(embedded_site, EMAIL) as client:
        clock.advance(DAY * 2)
        assert PERSONAL.search(client.get(f"{BOARD}.json").text), "it is on the frozen leaderboard"
        send_form(client, "/account", "/account/profile", name=NAME, affiliation="")
        assert {
            "outbox.recipient",
            "notifications.title",
            "users.email",
            "frozen_leaderboards.content",
            "audit_events.details",
        } <= rows_with(embedded_site, PERSONAL)
        delete(client, "without_name")
        assert client.get("/account").status_code == 303
    assert "This is the last email" in the_mail(embedded_site, EMAIL)
    send_due(embedded_site.database, embedded_site.settings.data_directory, rejecting)
    # Rate limits count addresses for a day.
    assert rows_with(embedded_site, PERSONAL) <= {"attempts.subject"}
    for email in (world.organiser.email, admin_email, mate_email, None):
        with embedded_site.client() as browser:
            if email:
                send_form(browser, "/sign-in", email=email, password=PASSWORD)
            seen = 0
            starts = ["/", "/organise", "/organise/log", "/organise/frozen/log", "/admin/mail", "/admin/people"]
            starts += [f"/admin/people/{admin_id}", "/notifications", "/challenges/other/team"]
            for answer in everything_linked(browser, *starts):
                assert not PERSONAL.search(answer.text), (email, str(answer.url))
                seen += answer.status_code == 200
            assert seen > 10
            endings = [f"{BOARD}.{ending}" for ending in ("json", "csv", "tex")]
            others = ["/organise/log.csv", "/api/v1/challenges/frozen/entrants", "/api/v1/challenges/frozen/admissions"]
            for address in (*endings, *others):
                assert not PERSONAL.search(browser.get(address).text), address
            if email == world.organiser.email:
                exported = browser.post(
                    "/organise/frozen/export",
                    data={"csrf_token": token_of(browser.get("/organise/frozen"))},
                    headers=from_here(browser),
                )
                assert exported.status_code == 200
                with tarfile.open(fileobj=io.BytesIO(exported.content)) as archive:
                    for member in archive:
                        content = archive.extractfile(member)
                        plain = content.read() if content else b""
                        plain = gzip.decompress(plain) if plain.startswith(b"\x1f\x8b") else plain
                        assert not PERSONAL.search(plain.decode("utf-8", "replace")), member.name
    with embedded_site.writing() as session:
        ban(session, world.challenge, session.get_one(User, world.id), world.organiser)


def test_the_log_loses_a_persons_name_and_addresses_and_nothing_that_is_like_them(database: Database) -> None:
    told = {
        "contributors": {"from": "", "to": "test"},
        "organisers": [{"name": "test", "email": "test@lab.example"}, {"name": "Bob", "email": "latest@lab.example"}],
        "person": "test",
        "phase": "test",
        "reason": "Ask test@lab.example about the test.",
    }
    with database.writing() as session:
        user, other = make_user(session, name="test", email="test@lab.example"), make_user(session)
        audit.record(session, actor=other, action="phase.create", subject=make_challenge(session), details=told)
        removal.scrub_log(session, user)
    with database.reading() as session:
        [details] = session.scalars(select(AuditEvent.details).where(AuditEvent.action == "phase.create"))
    gone = removal.DELETED_NAME
    assert details == told | {
        "contributors": {"from": "", "to": gone},
        "organisers": [{"name": gone, "email": gone}, {"name": "Bob", "email": "latest@lab.example"}],
        "person": gone,
        "reason": gone,
    }


@pytest.mark.parametrize("naming", ["keep_name", "without_name"])
def test_scores_and_ranks_stay_byte_for_byte_on_frozen_leaderboards(site: Site, clock: Clock, naming: str) -> None:
    world = World(site)
    clock.advance(DAY * 3)
    with site.writing() as session:
        freezing.freeze_due(session, complete(session, world.challenge.id))
        before = session.scalars(select(FrozenLeaderboard)).one().content

    def shown(client: httpx.Client) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = client.get(f"{BOARD}.json").json()["rows"]
        return rows

    with signed_in(site, EMAIL) as client:
        at_first = shown(client)
        delete(client, naming)
        later = shown(client)
    with site.writing() as session:
        after = session.scalars(select(FrozenLeaderboard)).one().content
        kept = [session.get_one(Submission, id_) for id_ in world.ids]
        assert [one.state for one in kept] == [State.SCORED, State.SCORED, State.WITHDRAWN]
        assert not PERSONAL.search(kept[2].contributors + kept[2].description + kept[2].note + kept[1].note)
    if naming == "keep_name":
        assert (after, later) == (before, at_first)
        assert kept[1].contributors == f"By {NAME}"
        return
    unnamed = {"contributors": "Deleted account", "team": "", "affiliation": "", "paper_url": "", "code_url": ""}
    expected = [one | unnamed if one["method"] == "Winner" else one for one in before["entries"]]
    assert json.dumps(after) == json.dumps(before | {"entries": expected})
    for old, new in zip(at_first, later, strict=True):
        assert {name for name in old if old[name] != new[name]} <= {"contributors", "affiliation", "paper_url"}


@pytest.mark.parametrize("by_reset", [False, True])
def test_deleting_the_account_gives_no_extra_quota(embedded_site: Site, by_reset: bool) -> None:
    world = World(embedded_site)

    def used() -> int:
        with embedded_site.writing() as session:
            challenge = complete(session, world.challenge.id)
            user = session.scalars(select(User).where(User.email == "zephyrine+2@quillfeather.example")).one_or_none()
            found = user or session.get_one(User, world.id)
            assert found.id == world.id
            [phase] = phases_of(challenge)
            return quota.quotas(session, user=found, challenge=challenge, phase=phase, now=now())["comp1"].used

    with embedded_site.writing() as session:
        session.add(Ban(user_id=world.id, challenge_id=world.challenge.id, reason="Two accounts"))
    assert used() == 2
    with signed_in(embedded_site, EMAIL) as client:
        delete(client, "without_name")
    new = {"email": "zephyrine+2@quillfeather.example", "name": "Z", "password": "a dozen words in a row"}
    with embedded_site.client() as client:
        assert send_form(client, "/register", **new).headers["location"] == "/register/sent"
        if by_reset:  # which also confirms the address
            send_form(client, "/forgotten-password", email=new["email"])
        link = path_of(link_in(the_mail(embedded_site, new["email"], "reset-password" if by_reset else "confirm")))
        token = link.partition("token=")[2]
        if by_reset:
            new["password"] = "another dozen of words"
            send_form(client, link, "/reset-password", token=token, new_password=new["password"])
            sign_in(client, new["email"], new["password"])
        else:
            done = send_form(client, link, "/confirm", token=token, password=new["password"])
            assert done.headers["location"] == "/?done=welcome"
        assert client.get("/api/v1/me").json()["name"] == "Z"
        assert "Winner" in client.get("/submissions").text
    assert used() == 2
    with embedded_site.writing() as session:
        assert bans_of_people(session, user_ids=[world.id], challenge_id=world.challenge.id)
        assert session.scalar(select(func.count()).where(User.mailbox_hash.is_not(None))) == 0
        again = session.get_one(User, world.id)
        assert previous_names(session, user=again, challenge=world.challenge).contributors == "Z"
        publishing.unpublish(session, submission_id=world.ids[1], user=again)


def test_what_is_decided_about_an_address_outlives_an_account_that_has_not_confirmed_it(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge, imported = make_challenge(session), make_user(session)
        session.add(Ban(user_id=imported.id, challenge_id=challenge.id, email=EMAIL, reason="Two accounts"))
        session.add(PhaseAdmission(phase_id=challenge.main_phase.id, email=EMAIL))
        waiting = make_user(session, email=EMAIL, confirmed=False)
        given = {"naming": leaving.Naming.KEEP_NAME, "settings": embedded_site.settings}
        leaving.delete_account(session, user=waiting, **given)
        person = make_user(session, email=EMAIL)
        assert bans_of_people(session, user_ids=[person.id], challenge_id=challenge.id)
        [phase] = phases_of(complete(session, challenge.id))
        assert is_admitted(session, phase, person)


def test_a_declined_request_to_take_part_outlives_the_account(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser, person = make_organiser(session), make_user(session, email=EMAIL)
        challenge = make_challenge(session, organiser=organiser, admission=Admission.REQUEST)
        questions = [AdmissionQuestion(question="Where do you work?")]
        change_rules(session, challenge, organiser, admission_questions=questions)
        given = {"challenge": complete(session, challenge.id), "phase_key": "main"}
        asked = admission.ask(session, user=person, answers={"Where do you work?": "Quillfeather Institute"}, **given)
        given_to = {"challenge": given["challenge"], "user": organiser, "request_id": asked.id}
        admission_requests.decline(session, **given_to, reason="Only labs.")
    with signed_in(embedded_site, EMAIL) as client:
        delete(client, "without_name")
    assert "admission_requests.answers" not in rows_with(embedded_site, PERSONAL)
    with embedded_site.writing() as session:
        assert admission_requests.page_of_requests(session, challenge.id).items == ()
        new = make_user(session, email=EMAIL, confirmed=False)
        person = registration.confirm(session, user=new, settings=embedded_site.settings)
        with pytest.raises(ConflictError, match="declined your request"):
            admission.ask(session, user=person, answers={"Where do you work?": "A lab"}, **given)


def test_what_is_not_published_when_the_account_is_deleted_stays_so(embedded_site: Site) -> None:
    world, given = World(embedded_site), {"site": "https://voc.example"}
    with embedded_site.writing() as session:
        _, winner, draft = (session.get_one(Submission, id_) for id_ in world.ids)
        moderation.disqualify(session, submission_id=winner.id, user=world.organiser, reason="A mistake", **given)
        draft.state, draft.publish_when_scored = State.FAILED, True
    with signed_in(embedded_site, EMAIL) as client:
        delete(client, "keep_name")
    with embedded_site.writing() as session:
        moderation.reinstate(session, submission_id=winner.id, user=world.organiser, **given)
        assert session.get_one(Submission, winner.id).published_at is None
        assert not session.get_one(Submission, draft.id).publish_when_scored


def test_a_team_keeps_its_results_and_gets_another_owner(embedded_site: Site) -> None:
    world = World(embedded_site)
    with embedded_site.writing() as session:
        friend = make_user(session)
        [team_id] = session.scalars(teams_of(world.person))
        member = {"challenge_id": world.challenge.id, "user_id": friend.id, "team_id": team_id}
        session.add(TeamMember(role=TeamRole.MEMBER, **member))
    with signed_in(embedded_site, EMAIL) as client:
        assert "0 published results" in client.get("/account/delete").text
        delete(client, "without_name")
    with embedded_site.writing() as session:
        [left] = members_of(session, team_id)
        assert (left.user_id, left.role) == (friend.id, TeamRole.OWNER)
        winner, draft = (session.get_one(Submission, id_) for id_ in world.ids[1:])
        assert (winner.contributors, draft.state) == (f"By {NAME}", State.SCORED)


def test_a_ban_from_the_server_outlives_the_account(embedded_site: Site) -> None:
    world = World(embedded_site)
    with signed_in(embedded_site, EMAIL) as client:
        delete(client, "keep_name")
    with embedded_site.writing() as session:
        session.add(Ban(user_id=world.id, challenge_id=None, reason="Attacks"))
    with embedded_site.client() as client:
        send_form(client, "/register", email=EMAIL, name="Z", password="a dozen words in a row")
        link = path_of(link_in(the_mail(embedded_site, EMAIL, "/confirm")))
        token = link.partition("token=")[2]
        refused = send_form(client, link, "/confirm", token=token, password="a dozen words in a row")
        assert refused.status_code == 409
        assert "cannot have an account" in refused.text


def test_deleting_needs_the_password_a_choice_and_no_challenge_that_is_owned(embedded_site: Site) -> None:
    world = World(embedded_site)
    with embedded_site.writing() as session:
        secret = make_token(session, world.person)
        session.add(ChallengeOrganiser(challenge_id=world.challenge.id, user_id=world.id))
    with signed_in(embedded_site, EMAIL) as client:
        assert "1 published result stays" in client.get("/account/delete").text
        assert send_form(client, "/account/delete", naming="", password=PASSWORD).status_code == 422
        assert send_form(client, "/account/delete", naming="keep_name", password="wrong").status_code == 422
    with signed_in(embedded_site, world.organiser.email) as owner:
        token = token_of(owner.get("/account"))
        answer = owner.post(
            "/account/delete",
            data={"csrf_token": token, "naming": "keep_name", "password": PASSWORD},
            headers=from_here(owner),
        )
        assert answer.status_code == 409
        assert "Hand over your challenges first" in answer.text
    with embedded_site.client(secret) as program:
        body = {"naming": "keep_name", "password": PASSWORD}
        wrong = body | {"password": "not this one"}
        assert program.request("DELETE", "/api/v1/account", json=wrong).status_code == 422
        assert program.request("DELETE", "/api/v1/account", json=body).status_code == 204
        assert program.get("/api/v1/me").status_code == 401
    with embedded_site.writing() as session:
        person = session.get_one(User, world.id)
        assert accounts.tokens_of(session, person) == []
        assert person.role is Role.PARTICIPANT
        assert session.get(ChallengeOrganiser, (world.challenge.id, world.id)) is None


def test_the_privacy_page_forgets_no_table(embedded_site: Site) -> None:
    """A new table about people says there what it is for, how long it is kept, and what deletion does."""
    assert STORED.keys() - COLUMNS.keys() == {"submission_sequences", "attempts", "outbox"}
    deleted = {name for name, stored in STORED.items() if stored.fate is Fate.DELETED}
    assert deleted <= COLUMNS.keys() - OF_TEAM
    with embedded_site.client() as client:
        text = " ".join(html.fromstring(client.get("/privacy").text).text_content().split())
    for stored in STORED.values():
        assert stored.what in text
    assert "{" not in text
