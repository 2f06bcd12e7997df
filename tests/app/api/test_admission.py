"""Admission to challenges: by domain of the email address, by request, and by accepting terms."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import delete, select

from tests.support.browsing import signed_in
from tests.support.clock import Clock
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.services import REAL
from tests.support.site import Site
from vocboard.app.accounts import addresses
from vocboard.app.accounts.models import User
from vocboard.app.challenges import terms
from vocboard.app.challenges.models import (
    Admission,
    AdmissionRequest,
    Challenge,
    ChallengeOrganiser,
    PhaseAdmission,
    TermsAcceptance,
    Visibility,
)
from vocboard.app.challenges.service import get_visible
from vocboard.app.database import now
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications.models import Notification
from vocboard.app.organising import copying, phase_changes
from vocboard.app.organising.waiting import waiting
from vocboard.app.participating import leaving

PATH = "/api/v1/challenges/harbour"
DOMAINS = {"admission": "domain", "admission_domains": [" @Lab.example", "lab.example", "xn--bcher-kva.example"]}


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
        assert changed.json()["phases"][0]["admission_domains"] == ["lab.example", "bücher.example"]
    refused = 403 if visibility is Visibility.PUBLIC else 404
    with embedded_site.client(token) as client:
        assert begin_upload(client).status_code == 201
        for email, status in (
            ("ada@sub.lab.example", refused),
            ("ada@bücher.example", 201),
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
                addresses.change(session, user=person, email=email, settings=embedded_site.settings, actor=person)
            assert begin_upload(client).status_code == status, email
            assert (client.get(PATH).status_code == 404) == (status == 404), email
    if visibility is Visibility.PUBLIC:
        with embedded_site.client(make_other(embedded_site)) as client:
            assert "lab.example or bücher.example" in begin_upload(client).json()["detail"]
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


@contextmanager
def clients_of(site: Site) -> Iterator[dict[str, httpx.Client]]:
    """Yield the clients of two organisers, two participants and a visitor of the challenge `harbour`."""
    with site.writing() as session:
        organisers = [make_organiser(session, name=name, email=f"{name}@lab.example") for name in ("olga", "oleg")]
        challenge = make_challenge(session, organiser=organisers[0], slug="harbour")
        session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=organisers[1].id))
        persons = [make_user(session, name=name, email=f"{name}@lab.example") for name in ("ada", "bob")]
        tokens = {user.name: make_token(session, user) for user in (*organisers, *persons)}
    with ExitStack() as stack:
        clients = {name: stack.enter_context(site.client(token)) for name, token in tokens.items()}
        yield {**clients, "visitor": stack.enter_context(site.client())}


@pytest.fixture
def people(embedded_site: Site) -> Iterator[dict[str, httpx.Client]]:
    with clients_of(embedded_site) as clients:
        yield clients


@pytest.fixture
def racing(site: Site) -> Iterator[dict[str, httpx.Client]]:
    """Yield the same for what databases do differently."""
    with clients_of(site) as clients:
        yield clients


QUESTIONS = [
    {"question": "Where do you work?"},
    {"question": "Tell us more", "kind": "text", "required": False},
    {"question": "Which?", "kind": "choice", "choices": ["Academia", "Industry"]},
    {"question": "I will not share the images", "kind": "box"},
]
ANSWERS = {"Where do you work?": " Lab  A", "Which?": "Academia", "I will not share the images": True}
REQUESTS = f"{PATH}/admission-requests"


def told(site: Site, name: str) -> list[str]:
    """Return the titles of what a person was told, in order."""
    with site.database.reading() as session:
        query = select(Notification.title).join(User, User.id == Notification.user_id).where(User.name == name)
        return list(session.scalars(query.order_by(Notification.created_at)))


def test_a_person_asks_is_declined_and_another_one_is_admitted(
    embedded_site: Site, people: dict[str, httpx.Client]
) -> None:
    olga, ada, bob = people["olga"], people["ada"], people["bob"]
    assert ada.post(REQUESTS, json={}).status_code == 409  # everyone may submit
    assert olga.patch(PATH, json={"admission": "request", "admission_questions": QUESTIONS}).status_code == 200
    assert [each["kind"] for each in ada.get(PATH).json()["admission_questions"]] == ["line", "text", "choice", "box"]
    assert "/challenges/harbour/take-part" in begin_upload(ada).json()["detail"]
    refused = ada.post(REQUESTS, json={"answers": {"Which?": "Neither", "I will not share the images": False}})
    assert refused.json()["fields"] == {
        "answers.Where do you work?": "Required.",
        "answers.Which?": "Choose one of these.",
        "answers.I will not share the images": "Tick this box.",
    }
    assert "not asked any more" in ada.post(REQUESTS, json={"answers": {"Who?": "I"}}).text
    made = ada.post(REQUESTS, json={"answers": ANSWERS})
    assert made.status_code == 201
    assert [each["answer"] for each in made.json()["answers"]] == ["Lab A", "", "Academia", True]
    assert bob.post(REQUESTS, json={"answers": ANSWERS}).status_code == 201
    assert ada.post(REQUESTS, json={"answers": ANSWERS}).status_code == 409  # one at a time
    assert ada.delete(f"{REQUESTS}/main").status_code == ada.delete(f"{REQUESTS}/main").status_code == 204
    assert ada.post(REQUESTS, json={"answers": ANSWERS}).status_code == 201
    assert (
        told(embedded_site, "olga")
        == told(embedded_site, "oleg")
        == ["Somebody asks to take part in “A challenge”"] * 3
    )
    found = olga.get(REQUESTS).json()["items"]
    assert [(each["name"], each["state"], each["email"]) for each in found] == [
        ("bob", "open", "bob@lab.example"),
        ("ada", "open", "ada@lab.example"),
    ]
    with embedded_site.database.reading() as session:
        [waits] = waiting(session, [session.scalars(select(Challenge.id)).one()]).values()
    assert waits.requests == 2
    by_name = {each["name"]: f"{REQUESTS}/{each['id']}" for each in found}
    assert olga.post(f"{by_name['ada']}/decline", json={"reason": " "}).status_code == 422
    assert olga.post(f"{by_name['ada']}/decline", json={"reason": "Only labs."}).json()["state"] == "declined"
    assert people["oleg"].post(f"{by_name['bob']}/admit").json()["email"] == "bob@lab.example"
    assert begin_upload(bob).status_code == 201
    assert begin_upload(ada).status_code == 403
    assert told(embedded_site, "ada") == ["You were not admitted to “A challenge”"]
    assert told(embedded_site, "bob") == ["You are admitted to “A challenge”"]
    [mine] = ada.get(f"{REQUESTS}/mine").json()
    assert (mine["state"], mine["reason"], mine["name"]) == ("declined", "Only labs.", None)
    assert (
        ada.post(REQUESTS, json={"answers": ANSWERS}).status_code == 409
    )  # once declined, only organisers can change it
    assert ada.delete(f"{REQUESTS}/main").status_code == 409
    assert olga.post(f"{PATH}/admissions", json={"email": "ada@lab.example"}).status_code == 201  # admit the address
    assert begin_upload(ada).status_code == 201
    # Whose admission was ended can ask again.
    [admission] = [each for each in olga.get(f"{PATH}/admissions").json() if each["email"] == "bob@lab.example"]
    assert olga.delete(f"{PATH}/admissions/{admission['id']}").status_code == 204
    assert begin_upload(bob).status_code == 403
    assert bob.post(REQUESTS, json={"answers": ANSWERS}).status_code == 201
    # Who is admitted by address is not kept waiting.
    assert olga.post(f"{PATH}/admissions", json={"email": "bob@lab.example"}).status_code == 201
    assert {each["state"] for each in olga.get(REQUESTS).json()["items"]} == {"admitted", "declined"}
    log = people["olga"].get(f"{PATH}/log").text
    for said in ("asked to be admitted", "declined ada’s request", "admitted bob@lab.example", "withdrew the request"):
        assert said in log


def test_whose_admission_has_ended_is_told_to_ask_again(embedded_site: Site, people: dict[str, httpx.Client]) -> None:
    olga, page = people["olga"], "/challenges/harbour"
    olga.patch(PATH, json={"admission": "request"})
    request = people["bob"].post(REQUESTS, json={}).json()["id"]
    with signed_in(embedded_site, "bob@lab.example") as browser:
        assert "See your request" in browser.get(page).text
        olga.post(f"{REQUESTS}/{request}/admit")
        [admission] = olga.get(f"{PATH}/admissions").json()
        assert olga.delete(f"{PATH}/admissions/{admission['id']}").status_code == 204
        assert "Ask to take part" in browser.get(page).text


def test_two_organisers_decide_on_one_request_at_once(site: Site, racing: dict[str, httpx.Client]) -> None:
    """One of them wins, and the person is told once, whatever the database."""
    racing["olga"].patch(PATH, json={"admission": "request"})
    request = racing["ada"].post(REQUESTS, json={}).json()["id"]
    barrier, answers = threading.Barrier(4), []

    def decide(name: str, path: str, **given: object) -> None:
        barrier.wait()
        answers.append((path, racing[name].post(f"{REQUESTS}/{request}/{path}", **given).status_code))

    calls = [("olga", "admit"), ("oleg", "decline"), ("oleg", "admit"), ("olga", "decline")]
    threads = [
        threading.Thread(target=decide, args=call, kwargs={} if call[1] == "admit" else {"json": {"reason": "No."}})
        for call in calls
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for _, status in answers) == [200, 409, 409, 409]
    won = next(path for path, status in answers if status == 200)
    assert begin_upload(racing["ada"]).status_code == (201 if won == "admit" else 403)
    assert len(told(site, "ada")) == 1


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
@pytest.mark.parametrize(
    ("name", "path", "given"),
    [
        ("ada", "/admission-requests", {"phase": "late"}),
        ("oleg", "/admissions", {"phase": "late", "email": "ada@lab.example"}),
        (
            "oleg",
            "/extra-quotas",
            {"phase": "late", "email": "ada@lab.example", "count": 1, "until": "2199-01-01T00:00:00Z"},
        ),
        (
            "oleg",
            "/leaderboards/comp3/reported?phase=late",
            {"kind": "paper", "method": "A", "reference": "B", "mean": 0.5},
        ),
    ],
)
def test_what_belongs_to_a_phase_that_is_just_removed_is_not_added(
    site: Site, racing: dict[str, httpx.Client], name: str, path: str, given: dict[str, object]
) -> None:
    late = {"key": "late", "title": "Late", "competitions": ["comp3"], "admission": "request"}
    assert racing["olga"].post(f"{PATH}/phases", json=late).status_code == 201
    with ThreadPoolExecutor(1) as pool:
        with site.writing() as session:
            olga = session.scalars(select(User).where(User.name == "olga")).one()
            challenge = get_visible(session, "harbour", olga)
            phase_changes.remove_phase(session, challenge=challenge, user=olga, key="late")
            adding = pool.submit(racing[name].post, f"{PATH}{path}", json=given)
            time.sleep(0.4)
        assert adding.result().status_code == 404


def test_terms_are_accepted_before_an_upload_and_again_when_they_change(
    embedded_site: Site, people: dict[str, httpx.Client], clock: Clock
) -> None:
    olga, ada, bob = people["olga"], people["ada"], people["bob"]
    assert begin_upload(ada).status_code == 201
    assert people["visitor"].get(f"{PATH}/terms").json()["version"] is None
    assert ada.post(f"{PATH}/terms/accept", json={"version": 1}).status_code == 404
    for _ in range(2):  # the same once more is no other version
        assert olga.put(f"{PATH}/terms", json={"text": "# Terms\n\nFor *research* only. "}).json()["version"] == 1
    refused = begin_upload(ada)
    assert (refused.status_code, refused.json()["code"], refused.json()["version"]) == (403, "terms_not_accepted", 1)
    assert f"POST {PATH}/terms/accept" in refused.json()["detail"]
    assert begin_rehearsal(olga).status_code == 201
    for _ in range(2):
        assert ada.post(f"{PATH}/terms/accept", json={"version": 1}).json()["accepted_version"] == 1
    assert begin_upload(ada).status_code == 201
    assert begin_upload(bob).status_code == 403  # each person for themselves
    # The terms change between the form and the upload.
    began = now()
    clock.offset += timedelta(minutes=1)
    assert olga.put(f"{PATH}/terms", json={"text": "For nobody."}).json()["version"] == 2
    assert ada.post(f"{PATH}/terms/accept", json={"version": 1}).status_code == 409
    assert begin_upload(ada).json()["version"] == 2
    with embedded_site.database.reading() as session:
        challenge = get_visible(session, "harbour", None)
        user = session.scalars(select(User).where(User.name == "ada")).one()
        terms.require_accepted(session, challenge, user, at=began)  # an upload that had begun counts
        with pytest.raises(terms.TermsNotAcceptedError):
            terms.require_accepted(session, challenge, user, at=now())
    assert ada.post(f"{PATH}/terms/accept", json={"version": 2}).status_code == 200
    assert bob.post(f"{PATH}/terms/accept", json={"version": 2}).status_code == 200
    assert begin_upload(ada).status_code == begin_upload(bob).status_code == 201
    found = olga.get(f"{PATH}/terms/acceptances").json()["items"]
    assert [(each["version"], each["name"]) for each in found] == [(1, "ada"), (2, "ada"), (2, "bob")]
    assert [each["text"] for each in ada.get(f"{PATH}/terms/versions").json()] == [
        "For nobody.",
        "# Terms\n\nFor *research* only.",
    ]
    with embedded_site.writing() as session:  # a copy for the next year has the terms, but nobody has accepted these
        organiser = session.scalars(select(User).where(User.name == "olga")).one()
        copy = copying.copy(session, challenge=challenge, user=organiser, slug="next")
        [version] = terms.versions(session, copy.id)
        assert (version.number, version.text) == (1, "For nobody.")
        assert not terms.acceptances(session, copy.id)
    assert olga.put(f"{PATH}/terms", json={"text": ""}).json()["version"] is None
    with embedded_site.writing() as session:
        session.execute(delete(TermsAcceptance))
    assert begin_upload(ada).status_code == 201
    assert ada.post(f"{PATH}/terms/accept", json={"version": 3}).status_code == 404


def begin_rehearsal(client: httpx.Client) -> httpx.Response:
    given = {"challenge": "harbour", "rehearsal": "true"}
    return client.post("/api/v1/uploads", params=given, headers={"Upload-Length": "9"})


def test_files_for_admitted_people_need_the_terms(embedded_site: Site, people: dict[str, httpx.Client]) -> None:
    olga, ada = people["olga"], people["ada"]
    given = {"data": {"audience": "admitted"}, "files": {"file": ("kit.txt", b"kit", "text/plain")}}
    file = f"{PATH}/files/{olga.post(f'{PATH}/files', **given).json()['id']}"
    assert ada.get(file).status_code == 200
    olga.put(f"{PATH}/terms", json={"text": "For research only."})
    assert ada.get(file).json()["code"] == "terms_not_accepted"
    assert olga.get(file).status_code == 200
    ada.post(f"{PATH}/terms/accept", json={"version": 1})
    assert ada.get(file).status_code == 200


def test_people_are_told_by_email_that_they_are_admitted(embedded_site: Site, people: dict[str, httpx.Client]) -> None:
    olga = people["olga"]
    given = {"emails": ["ada@lab.example", "new@lab.example"], "tell": True}
    for _ in range(2):  # who is admitted already is not told again
        assert olga.post(f"{PATH}/admissions/batch", json=given).status_code == 201
    with embedded_site.database.reading() as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.contains("admitted"))).all()
        assert sorted(mail.recipient for mail in mails) == given["emails"]
        assert "/challenges/harbour" in mails[0].body
    olga.patch(PATH, json={"visibility": "draft"})
    assert "draft" in olga.post(f"{PATH}/admissions/batch", json=given).json()["fields"]["tell"]
    many = {"emails": [f"p{number}@lab.example" for number in range(201)], "tell": True}
    olga.patch(PATH, json={"visibility": "private"})
    assert "200" in olga.post(f"{PATH}/admissions/batch", json=many).json()["fields"]["emails"]


def test_leaving_while_organisers_decide_leaves_nothing_and_does_not_deadlock(
    site: Site, racing: dict[str, httpx.Client]
) -> None:
    olga, names = racing["olga"], [f"person {number}" for number in range(8)]
    olga.patch(PATH, json={"admission": "request"})
    olga.put(f"{PATH}/terms", json={"text": "For research only."})
    with site.writing() as session:
        users = {name: make_user(session, name=name) for name in names}
        tokens = {name: make_token(session, user) for name, user in users.items()}
    for token in tokens.values():
        with site.client(token) as client:
            assert client.post(REQUESTS, json={}).status_code == 201
            assert client.post(f"{PATH}/terms/accept", json={"version": 1}).status_code == 200
    requests = {each["name"]: each["id"] for each in olga.get(REQUESTS).json()["items"]}
    failures: list[str] = []

    def leave(name: str) -> None:
        with site.writing() as session:
            leaving.delete_account(
                session,
                user=users[name],
                naming=leaving.Naming.KEEP_NAME,
                settings=site.settings,
            )

    def decide(name: str) -> None:
        answer = racing["oleg"].post(f"{REQUESTS}/{requests[name]}/admit")
        if answer.status_code not in {200, 404}:
            failures.append(answer.text)

    for name in names:
        threads = [threading.Thread(target=work, args=(name,)) for work in (leave, decide)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    with site.database.reading() as session:
        ids = [user.id for user in users.values()]
        assert session.scalars(select(AdmissionRequest).where(AdmissionRequest.user_id.in_(ids))).all() == []
        assert session.scalars(select(TermsAcceptance).where(TermsAcceptance.user_id.in_(ids))).all() == []
        kept = session.scalars(select(PhaseAdmission.email)).all()
        assert not {user.email for user in users.values()} & set(kept)
