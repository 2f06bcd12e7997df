"""Announcements reach each entrant once and nobody before the challenge opens; questions stay between two people."""

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree, html
from sqlalchemy import delete, select
from sqlalchemy.orm import joinedload

from tests.support.backend import Backend
from tests.support.browsing import send_form, signed_in
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.other_server import Server, write_export
from tests.support.phases import main_phase
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app import rate_limits
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.own_data import stored_about
from vocboard.app.accounts.registration import NotConfirmedError
from vocboard.app.announcements import announcing, asking
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges import terms
from vocboard.app.challenges.models import Challenge, PhaseAdmission, Visibility
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError, LimitedError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications import emails
from vocboard.app.notifications.models import Notification
from vocboard.app.participating import admission
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.app.teams.models import TeamMember

SECRET = "zebra-crossing"
ATOM = "{http://www.w3.org/2005/Atom}"


class Case:
    """A challenge with an organiser, and two people who have asked: one answer is private, one public."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.organiser = backend.user(role=Role.ORGANISER, name="Olga")
        self.challenge: Challenge = backend.challenge(organiser=self.organiser, slug="spring", title="Spring")
        self.ada, self.bob = backend.user(name="Ada"), backend.user(name="Bob")

    def announce(self, title: str = "New data", **given: Any) -> Announcement:
        fields = {"text": "Faster **downloads**.", "email": True, **given}
        with self.backend.database.writing() as session:
            challenge = session.get_one(Challenge, self.challenge.id)
            return announcing.announce(session, challenge=challenge, user=self.organiser, title=title, **fields)

    def ask(self, text: str, user: User | None = None) -> Question:
        with self.backend.database.writing() as session:
            challenge = session.get_one(Challenge, self.challenge.id)
            return asking.ask(session, challenge=challenge, user=user or self.ada, text=text)

    def answer(self, question: Question, text: str, *, public: bool = False) -> None:
        with self.backend.database.writing() as session:
            given: dict[str, Any] = {"challenge": session.get_one(Challenge, self.challenge.id), "user": self.organiser}
            asking.answer(session, **given, question_id=question.id, text=text, public=public)

    def told(self) -> Sequence[Notification]:
        with self.backend.database.reading() as session:
            return session.scalars(select(Notification).order_by(Notification.created_at)).all()


@pytest.fixture
def case(backend: Backend) -> Case:
    return Case(backend)


def test_each_entrant_gets_one_email_however_often_it_is_announced(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    mate, disabled, unconfirmed = case.backend.user(), case.backend.user(), case.backend.user(confirmed=False)
    with case.backend.database.writing() as session:
        for user in [*[case.ada] * 10, disabled, unconfirmed, case.bob]:
            team_id = make_scored(session, case.challenge, user, "Method").team_id
        make_scored(session, case.challenge, case.organiser, "Rehearsal").is_rehearsal = True
        session.get_one(User, disabled.id).disabled_at = now()
        session.add(TeamMember(challenge_id=case.challenge.id, user_id=mate.id, team_id=team_id))
    first = case.announce(text="Slower downloads.")
    assert case.announce(text="Slower downloads.").id == first.id
    with case.backend.database.writing() as session:  # before the emails are made
        given: dict[str, Any] = {"challenge": case.challenge, "user": case.organiser, "title": first.title}
        announcing.correct(session, **given, announcement_id=first.id, text="Faster **downloads**.")
    monkeypatch.setattr(emails, "now", lambda: now() + emails.DELAY)
    for _ in range(2):
        with case.backend.database.writing() as session:
            emails.put_due(session, site="https://voc.example")
    with case.backend.database.reading() as session:
        mails = session.scalars(select(OutgoingMail)).all()
        [details] = session.scalars(select(AuditEvent.details).where(AuditEvent.action == "announcement.create"))
    assert details == {"title": "New data", "told": 3}
    assert sorted(mail.recipient for mail in mails) == sorted([case.ada.email, case.bob.email, mate.email])
    assert mails[0].subject == "Spring: New data"
    assert "    Faster **downloads**.\n" in mails[0].body
    assert f"https://voc.example/challenges/spring/announcements#{first.id}\n" in mails[0].body


def test_what_is_removed_or_not_sent_is_told_to_nobody(case: Case) -> None:
    with case.backend.database.writing() as session:
        make_scored(session, case.challenge, case.ada, "Method")
    case.announce("Only on the page", email=False)
    assert case.told() == []
    again = case.announce("Only on the page")
    assert [one.link.partition("#")[2] for one in case.told()] == [str(again.id)]
    assert case.announce("Only on the page", email=False).id == again.id
    with case.backend.database.writing() as session:
        session.execute(delete(Notification))
    announcement, question = case.announce(), case.ask("Why?")
    case.answer(question, SECRET)
    assert len(case.told()) == 3
    given: dict[str, Any] = {"challenge": case.challenge, "user": case.organiser}
    with case.backend.database.writing() as session:
        announcing.remove(session, **given, announcement_id=announcement.id)
        asking.remove(session, **given, question_id=question.id)
    assert case.told() == []


def test_announcements_of_a_private_challenge_reach_those_alone_whom_it_admits(case: Case) -> None:
    with case.backend.database.writing() as session:
        for user in (case.ada, case.bob):
            make_scored(session, case.challenge, user, "Method")
        challenge = session.get_one(Challenge, case.challenge.id)
        challenge.visibility = Visibility.PRIVATE
        session.add(PhaseAdmission(phase_id=main_phase(session, challenge.id).id, email=case.ada.email))
    case.announce()
    assert [one.user_id for one in case.told()] == [case.ada.id]


def test_a_draft_is_announced_to_nobody_by_email(case: Case) -> None:
    with case.backend.database.writing() as session:
        session.get_one(Challenge, case.challenge.id).visibility = Visibility.DRAFT
    with pytest.raises(InvalidInputError, match="draft"):
        case.announce()
    assert not case.announce(email=False).by_email


def test_organisers_are_told_of_questions_and_only_the_asker_of_answers(case: Case) -> None:
    question = case.ask("Why is *my* score n/a?")
    assert case.ask("Why is *my* score n/a?").id == question.id  # a second click
    [told] = case.told()
    assert (told.user_id, told.link) == (case.organiser.id, f"/organise/spring/questions#{question.id}")
    case.answer(question, SECRET)
    case.answer(question, SECRET, public=True)  # the same for everyone: nothing new for the asker
    assert [(one.user_id, one.text) for one in case.told()[1:]] == [(case.ada.id, SECRET)]


def test_people_with_confirmed_addresses_ask_only_so_often(case: Case) -> None:
    for number in range(rate_limits.QUESTIONS_BY_PERSON.count):
        case.ask(f"Question {number}?")
    with pytest.raises(LimitedError):
        case.ask("One more?")
    case.ask("From another person?", case.bob)
    with pytest.raises(NotConfirmedError):
        case.ask("From an address that may be another person's?", case.backend.user(confirmed=False))


def test_an_export_has_terms_announcements_and_public_answers_and_nothing_private(
    case: Case, other: Server, tmp_path: Path
) -> None:
    with case.backend.database.writing() as session:
        make_scored(session, case.challenge, case.ada, "Method")
    case.announce()
    case.answer(case.ask("May I use COCO?"), "Yes.", public=True)
    case.answer(case.ask(f"Is {SECRET} mine?"), f"{SECRET} is yours.")
    case.ask(f"Open {SECRET}?")
    with case.backend.database.writing() as session:
        by_olga = {"challenge": session.get_one(Challenge, case.challenge.id), "user": case.organiser}
        for text in ("For nobody.", "For *research*."):
            terms.publish(session, **by_olga, text=text)
        admission.accept_terms(session, challenge=by_olga["challenge"], user=case.ada, version=2)
    path = write_export(case.backend.database, case.backend.store, tmp_path / "spring.tar", case.organiser)
    with tarfile.open(path) as tar:
        contents = {each.name: tar.extractfile(each).read() for each in tar if each.isfile()}  # type: ignore[union-attr]
    assert not [name for name, content in contents.items() if SECRET.encode() in content]
    assert "Ada" not in contents["questions.jsonl"].decode()
    challenge = other.take(path)
    with other.database.reading() as session:
        [announcement] = session.scalars(select(Announcement).where(Announcement.challenge_id == challenge.id))
        [question] = session.scalars(select(Question).where(Question.challenge_id == challenge.id))
        assert session.scalars(select(Notification)).all() == []
        known = [(one.number, one.text) for one in terms.versions(session, challenge.id)]
        assert known == [(2, "For *research*."), (1, "For nobody.")]
        assert not terms.acceptances(session, challenge.id)
    assert (announcement.title, announcement.by_email) == ("New data", False)
    assert (question.text, question.answer, question.is_public) == ("May I use COCO?", "Yes.", True)
    assert question.user_id is None


def test_an_account_s_data_have_its_own_questions_alone(case: Case) -> None:
    case.answer(case.ask(f"Is {SECRET} mine?"), f"{SECRET} is yours.")
    with case.backend.database.reading() as session:
        [own] = stored_about(session, case.ada)["questions"]
        assert own["answer"] == f"{SECRET} is yours."
        assert SECRET not in json.dumps(stored_about(session, case.bob), default=str)


def test_a_deleted_account_leaves_public_questions_alone(case: Case) -> None:
    case.answer(case.ask("May I use COCO?"), "Yes.", public=True)
    case.answer(case.ask(f"Is {SECRET} mine?"), f"{SECRET} is yours.")
    case.ask(f"Open {SECRET}?")
    with case.backend.database.writing() as session:
        delete_account(session, user=case.ada, naming=Naming.WITHOUT_NAME, settings=case.backend.settings)
    with case.backend.database.reading() as session:
        [question] = session.scalars(select(Question).options(joinedload(Question.user)))
        assert (question.text, question.user and question.user.name) == ("May I use COCO?", "Deleted account")
    assert not [one for one in case.told() if SECRET in one.text]


@pytest.fixture
def organiser(embedded_site: Site) -> User:
    with embedded_site.writing() as session:
        user = make_organiser(session)
        make_challenge(session, organiser=user, slug="spring", title="Spring", organised_by="A & B\nC")
    return user


def api(site: Site, user: User) -> httpx.Client:
    with site.writing() as session:
        token = make_token(session, user)
    return httpx.Client(base_url=f"{site.url}/api/v1/challenges/spring", headers={"Authorization": f"Bearer {token}"})


def test_a_private_answer_is_seen_by_its_asker_and_organisers_alone(embedded_site: Site, organiser: User) -> None:
    with embedded_site.writing() as session:
        ada, bob = make_user(session, name="Ada"), make_user(session)
    with api(embedded_site, ada) as asker, api(embedded_site, organiser) as answerer, api(embedded_site, bob) as other:
        made = asker.post("/questions", json={"text": f"Is {SECRET} mine?"}).json()
        assert asker.put(f"/questions/{made['id']}/answer", json={"text": "Yes"}).status_code == 403
        answer = f"/questions/{made['id']}/answer"
        assert answerer.put(answer, json={"text": f"{SECRET} is yours."}).json()["asked_by"] == "Ada"
        with (
            embedded_site.client() as visitor,
            signed_in(embedded_site, bob.email) as bob_s,
            signed_in(embedded_site, ada.email) as ada_s,
        ):
            shown = [asker.get("/questions"), answerer.get("/questions"), ada_s.get("/challenges/spring/questions")]
            for page in ("", "/announcements", "/questions", "/questions?page=2", "/feed.atom"):
                for client in (visitor, bob_s):
                    assert SECRET not in client.get(f"/challenges/spring{page}").text
            for path in ("/questions", "/announcements", ""):
                assert SECRET not in other.get(path).text
            assert all(f"{SECRET} is yours." in response.text for response in shown)
            answerer.put(answer, json={"text": f"{SECRET} is Ada's.", "public": True})
            public = visitor.get("/challenges/spring/questions").text
            [seen] = other.get("/questions").json()["items"]
        assert f"Is {SECRET} mine?" in public
        assert ada.email not in public
        assert (seen["own"], seen["asked_by"], seen["public"]) == (False, None, True)
        assert answerer.get("/questions").json()["items"][0]["asked_by"] == "Ada"
        answerer.put(answer, json={"text": f"{SECRET} is Ada's.", "public": False})
        assert other.get("/questions").json()["items"] == []


def test_the_feed_is_well_formed_and_its_ids_stay(embedded_site: Site, organiser: User) -> None:
    def read() -> tuple[etree._Element, str]:
        with embedded_site.client() as reader:
            response = reader.get("/challenges/spring/feed.atom")
            assert response.headers["content-type"].startswith("application/atom+xml")
            tag = response.headers["etag"]
            again = reader.get("/challenges/spring/feed.atom", headers={"If-None-Match": tag})
        assert again.status_code == 304
        return etree.fromstring(response.content), tag

    empty, _ = read()
    assert [name.text for name in empty.iterfind(f"{ATOM}author/{ATOM}name")] == ["A & B", "C"]
    with api(embedded_site, organiser) as client:
        made = [
            client.post("/announcements", json={"title": f"<b>{number}</b> & more", "text": "See **this** ]]>"}).json()
            for number in range(2)
        ]
        before, tag = read()
        changed = {"title": "Corrected", "text": "Changed"}
        assert client.patch(f"/announcements/{made[0]['id']}", json=changed).status_code == 200
        client.delete(f"/announcements/{made[1]['id']}")
    after, other_tag = read()
    assert tag != other_tag
    ids = [one.findtext(f"{ATOM}id") for one in before.iterfind(f"{ATOM}entry")]
    assert ids == [f"urn:uuid:{one['id']}" for one in reversed(made)]
    [entry] = after.iterfind(f"{ATOM}entry")
    assert (entry.findtext(f"{ATOM}id"), entry.findtext(f"{ATOM}title")) == (ids[1], "Corrected")
    assert entry.findtext(f"{ATOM}updated") == after.findtext(f"{ATOM}updated") > entry.findtext(f"{ATOM}published")
    assert after.findtext(f"{ATOM}id") == empty.findtext(f"{ATOM}id")
    assert "<strong>this</strong> ]]&gt;" in (before.find(f"{ATOM}entry").findtext(f"{ATOM}content") or "")


def test_pages_lead_to_the_feed_unless_it_is_a_draft_s(embedded_site: Site, organiser: User) -> None:
    link = '//link[@rel="alternate"][@type="application/atom+xml"]/@href'
    with signed_in(embedded_site, organiser.email) as client:
        for path in ("", "/announcements"):
            page = html.fromstring(client.get(f"/challenges/spring{path}").text)
            assert page.xpath(link) == ["/challenges/spring/feed.atom"]
        with embedded_site.writing() as session:
            session.scalars(select(Challenge)).one().visibility = Visibility.DRAFT
        assert html.fromstring(client.get("/challenges/spring").text).xpath(link) == []
        assert client.get("/challenges/spring/feed.atom").status_code == 404


def test_people_announce_ask_and_answer_in_forms(embedded_site: Site, organiser: User) -> None:
    with signed_in(embedded_site, organiser.email) as olga, signed_in(embedded_site, name="Ada") as ada:
        base = "/organise/spring"
        refused = send_form(olga, f"{base}/announcements", title="", text="Kept *text*")
        assert refused.status_code == 422
        assert "Kept *text*" in refused.text
        for number in range(5):
            done = send_form(olga, f"{base}/announcements", title=f"Number {number}", text="Kept *text*", email="true")
            assert done.headers["location"] == f"{base}/announcements?done=announced"
        overview = html.fromstring(ada.get("/challenges/spring").text)
        assert overview.xpath('string(//section[@aria-labelledby="announcements"]//h3)') == "Number 4"
        assert "Number 2" in overview.text_content()
        assert "Number 1" not in overview.text_content()
        assert send_form(ada, "/challenges/spring/questions", text=" ").status_code == 422
        with signed_in(embedded_site, approved=False) as waiting:
            refused = send_form(waiting, "/challenges/spring/questions", text="May I *use* COCO?")
            assert (refused.status_code, "May I *use* COCO?" in refused.text) == (403, True)
        done = send_form(ada, "/challenges/spring/questions", text="May I use COCO?")
        assert done.headers["location"] == "/challenges/spring/questions?done=asked"
        assert "1 question to answer" in olga.get("/organise").text
        assert "1 question to answer" in olga.get(base).text
        [action] = html.fromstring(olga.get(f"{base}/questions").text).xpath(
            '//form[contains(@action, "/answer")]/@action'
        )
        refused = send_form(olga, f"{base}/questions", action, text="", public="true")
        assert refused.status_code == 422
        send_form(olga, f"{base}/questions", action, text="Yes, *but*", public="true")
        assert "question to answer" not in olga.get(base).text
        assert "Yes, <em>but</em>" in ada.get("/challenges/spring/questions").text


def test_an_answer_that_was_given_meanwhile_is_only_replaced_on_purpose(embedded_site: Site, organiser: User) -> None:
    with embedded_site.writing() as session:
        challenge = session.scalars(select(Challenge)).one()
        question = Question(challenge_id=challenge.id, user_id=make_user(session).id, text="May I use COCO?")
        session.add(question)
    page = "/organise/spring/questions"
    action = f"{page}/{question.id}/answer"
    with signed_in(embedded_site, organiser.email) as olga:
        [read] = html.fromstring(olga.get(page).text).xpath('//input[@name="read"]/@value')
        send_form(olga, page, action, text="Yes", public="true", read=read)
        for text in ("No", "No, never"):
            refused = send_form(olga, page, action, text=text, public="true", read=read)
            shown = html.fromstring(refused.text)
            assert refused.status_code == 409
            assert shown.xpath("//textarea")[0].text.strip() == text
            assert shown.xpath('string(//p[b="Answer"]/following-sibling::div)').strip() == "Yes"
        [read], before = shown.xpath('//input[@name="read"]/@value'), read
        refused = send_form(olga, page, action, text="No \u0082", public="true", read=before)
        assert refused.status_code == 422
        assert html.fromstring(refused.text).xpath('//input[@name="read"]/@value') == [before]  # of the first answer
        assert send_form(olga, page, action, text="No", public="true", read=read).status_code == 303


def test_a_refused_answer_or_correction_is_shown_on_its_page_of_the_list(embedded_site: Site, organiser: User) -> None:
    with embedded_site.writing() as session:
        challenge = session.scalars(select(Challenge)).one()
        ada = make_user(session, name="Ada")
        for number in range(21):
            announcing.announce(
                session, challenge=challenge, user=organiser, title=f"Number {number}", text="Data", email=False
            )
            session.add(Question(challenge_id=challenge.id, user_id=ada.id, text=f"Question {number}"))
    with signed_in(embedded_site, organiser.email) as olga:
        for path, change in (("/organise/spring/announcements", "/correct"), ("/organise/spring/questions", "/answer")):
            second = html.fromstring(olga.get(f"{path}?page=2").text)
            [action] = second.xpath(f'//form[contains(@action, "{change}")]/@action')
            refused = send_form(olga, path, action, title="Typed", text="Typed \u0082 by hand")
            page = html.fromstring(refused.text)
            assert refused.status_code == 422
            assert page.xpath(f'//form[@action="{action}"]//textarea')[0].text.strip() == "Typed \u0082 by hand"
            assert page.xpath('//a[@rel="prev"]/@href') == [f"{path}?page=1"]
            for address in page.xpath('//div[@role="alert"]//a/@href'):
                assert page.xpath(f'//*[@id="{address[1:]}"]'), address
