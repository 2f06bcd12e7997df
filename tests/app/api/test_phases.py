"""Phases over the API: which one is current, who may submit, extra quota, and what is hidden until a date."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from lxml import html
from sqlalchemy import select

from tests.support.browsing import from_here, signed_in, token_of
from tests.support.clock import Clock
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.phases import complete
from tests.support.scored import make_published, make_scored
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.challenges import service
from vocboard.app.challenges.models import Admission, Challenge, GroundTruthVersion, Visibility
from vocboard.app.challenges.phases import PhaseState, leaderboard_phase, phase_named
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.errors import ForbiddenError
from vocboard.app.intake.submitting import check_admitted
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.organising import phase_changes
from vocboard.app.submissions.quota import quotas

DAY = timedelta(days=1)
PATH = "/api/v1/challenges/harbour"


class World:
    """A challenge whose main phase closes in a day, an organiser's client and a participant."""

    def __init__(self, site: Site, client: httpx.Client, organiser: User, person: User) -> None:
        self.site, self.client, self.organiser, self.person = site, client, organiser, person

    def add(self, key: str, **given: Any) -> httpx.Response:
        return self.client.post(f"{PATH}/phases", json={"key": key, "title": key, "competitions": ["comp1"], **given})

    def challenge(self) -> Challenge:
        with self.site.database.reading() as session:
            return service.get_visible(session, "harbour", None)


@pytest.fixture
def world(embedded_site: Site) -> Iterator[World]:
    with embedded_site.writing() as session:
        organiser, person = make_organiser(session), make_user(session)
        make_challenge(session, organiser=organiser, slug="harbour", competitions=["comp1"], closes_at=now() + DAY)
        token = make_token(session, organiser)
    with embedded_site.client(token) as client:
        yield World(embedded_site, client, organiser, person)


def later(days: float) -> str:
    return (now() + days * DAY).isoformat()


def test_a_challenge_without_further_phases_has_the_main_one(world: World) -> None:
    found = world.client.get(PATH).json()
    assert found["current_phase"] == "main"
    assert [phase["key"] for phase in found["phases"]] == ["main"]
    assert found["phases"][0]["freezes_at"] == found["closes_at"]


def test_the_current_phase_follows_the_dates(world: World, clock: Clock) -> None:
    assert world.add("test", opens_at=later(3), closes_at=later(6), detail="mean").status_code == 201
    for days, current, state, board in (
        (0, "main", "open", "main"),
        (2, "test", "not_yet_open", "main"),
        (4, "test", "open", "test"),
        (9, "test", "closed", "test"),
    ):
        clock.offset = days * DAY
        world.client.headers["Authorization"] = f"Bearer {fresh_token(world)}"
        found = world.client.get(PATH).json()
        assert (found["current_phase"], found["phase"]) == (current, state), days
        assert world.client.get(f"{PATH}/leaderboards/comp1").json()["phase"] == board, days
    assert found["detail"] == "mean"


def test_a_phase_without_ground_truth_does_not_take_the_place_of_one_that_accepts_submissions(world: World) -> None:
    assert world.add("next", image_set="val").status_code == 201
    found = world.client.get(PATH).json()
    assert found["current_phase"] == "main"
    assert {phase["key"]: phase["state"] for phase in found["phases"]} == {"main": "open", "next": "not_ready"}


def test_without_ground_truth_leaderboards_are_those_of_the_current_phase(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(session, ready=False)
        rules = PhaseRules(opens_at=now() - DAY / 2, closes_at=now() - DAY / 4, competitions=("comp1",))
        given = {"key": "short", "title": "Short", "user": make_organiser(session), "rules": rules}
        phase_changes.add_phase(session, challenge=challenge, **given)
        assert leaderboard_phase(complete(session, challenge.id), now()).is_main


def test_leaderboards_stay_at_the_last_phase_with_ground_truth(world: World, clock: Clock) -> None:
    assert world.add("next", image_set="val", opens_at=later(1), leaderboard_from=later(5)).status_code == 201
    clock.offset = 2 * DAY
    with world.site.client() as visitor:
        assert visitor.get(PATH).json()["current_phase"] == "next"
        assert visitor.get(f"{PATH}/leaderboards/comp1").json()["phase"] == "main"


def test_all_that_is_wrong_with_a_phase_is_told(world: World) -> None:
    answer = world.add("Main!", title="", quota_count=0, freeze="date", opens_at=later(2), closes_at=later(1))
    assert answer.status_code == 422
    assert {"key", "title", "quota_count", "freezes_at", "closes_at"} <= set(answer.json()["fields"])
    assert world.add("main").status_code == 422
    assert world.add("test").status_code == 201
    assert world.add("test").status_code == 409


def test_exact_results_of_ground_truth_in_use_are_refused(world: World) -> None:
    assert "detail" in world.add("test", detail="everything").json()["fields"]
    assert world.add("test", detail="everything", has_own_ground_truth=True).status_code == 201


def test_a_competition_of_another_phase_is_found_there(world: World) -> None:
    assert world.add("test", competitions=["comp3"], has_own_ground_truth=True).status_code == 201
    answers = [world.client.get(f"{PATH}/leaderboards/{key}?phase=test") for key in ("comp1", "comp2")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json()["detail"] == "The phase test has no such competition; it is in main."
    assert answers[1].json()["detail"] == "The phase test has no such competition."


def test_a_phase_with_submissions_stays(world: World) -> None:
    world.add("test")
    with world.site.writing() as session:
        make_published(session, world.challenge(), world.person, "Method", 0.5, phase_key="test")
    assert world.client.delete(f"{PATH}/phases/test").status_code == 409
    assert world.client.delete(f"{PATH}/phases/main").status_code == 409
    assert world.client.patch(f"{PATH}/phases/test", json={"competitions": ["comp3"]}).status_code in {409, 422}


def test_a_method_has_one_published_result_in_each_phase(world: World) -> None:
    world.add("test")
    with world.site.writing() as session:
        found = world.challenge()
        first, kept, second = (
            make_scored(session, found, world.person, "Method", phase_id=found.phase_row(phase).id)
            for phase in ("main", "test", "test")
        )
        token = make_token(session, world.person)
    with world.site.client(token) as client:
        for one in (first, kept):
            assert client.post(f"/api/v1/submissions/{one.id}/publish").status_code == 200
        refused = client.post(f"/api/v1/submissions/{second.id}/publish")
        assert refused.status_code == 409
        assert str(kept.id) in refused.text
        boards = [client.get(f"{PATH}/leaderboards/comp1?phase={phase}").json()["rows"] for phase in ("main", "test")]
    assert [[row["method"] for row in rows] for rows in boards] == [["Method"], ["Method"]]


def is_refused(world: World, key: str) -> bool:
    challenge = world.challenge()
    with world.site.database.reading() as session:
        try:
            phase = phase_named(challenge, key)
            check_admitted(session, challenge=challenge, phase=phase, user=world.person)
        except ForbiddenError:
            return True
    return False


def test_people_are_admitted_by_address_or_an_earlier_phase(world: World) -> None:
    world.add("invited", admission="approved", opens_at=later(2))
    world.add("final", admission="earlier_phase", opens_at=later(3))

    assert is_refused(world, "invited")
    assert is_refused(world, "final")
    given = {"email": world.person.email.upper(), "phase": "invited"}
    admission = world.client.post(f"{PATH}/admissions", json=given).json()
    assert not is_refused(world, "invited")
    with world.site.writing() as session:
        make_published(session, world.challenge(), world.person, "Method", 0.5, published=False)
    assert not is_refused(world, "final")
    assert world.client.delete(f"{PATH}/admissions/{admission['id']}").status_code == 204
    assert is_refused(world, "invited")
    assert phase_named(world.challenge(), "final").rules.admission is Admission.EARLIER_PHASE


def test_many_people_are_admitted_at_once_or_none_of_them(world: World) -> None:
    world.add("invited", admission="approved", opens_at=later(2))
    path = f"{PATH}/admissions/batch"
    emails = [f"person{number}@class.example" for number in range(200)]
    given = {"emails": [*emails, emails[0].upper()], "phase": "invited"}
    admitted = world.client.post(path, json=given)
    assert [one["email"] for one in admitted.json()] == emails
    assert world.client.post(path, json=given).json() == admitted.json()
    wrong = world.client.post(path, json={**given, "emails": ["new@class.example", "nobody", "@", "a@b"]})
    assert wrong.status_code == 422
    assert wrong.json()["fields"]["emails"].startswith("These are not email addresses: nobody, @")
    assert len(world.client.get(f"{PATH}/admissions").json()) == len(emails)
    with signed_in(world.site, world.organiser.email) as browser:
        page = browser.get("/organise/harbour/phases")
        typed = "Ada <ada@class.example>,\nbob@class.example; cleo@class.example"
        form = {"csrf_token": token_of(page), "phase": "invited", "email": typed}
        assert browser.post("/organise/harbour/admissions", data=form, headers=from_here(browser)).status_code == 303
    assert len(world.client.get(f"{PATH}/admissions").json()) == len(emails) + 3


def test_new_accounts_wait_for_their_age_unless_they_are_admitted(world: World, clock: Clock) -> None:
    assert world.client.patch(PATH, json={"min_account_days": 400}).status_code == 422
    assert world.client.patch(PATH, json={"min_account_days": 14}).status_code == 200
    assert world.client.get(PATH).json()["phases"][0]["min_account_days"] == 14
    assert is_refused(world, "main")
    admission = world.client.post(f"{PATH}/admissions", json={"email": world.person.email, "phase": "main"}).json()
    assert not is_refused(world, "main")
    assert world.client.delete(f"{PATH}/admissions/{admission['id']}").status_code == 204
    assert is_refused(world, "main")
    clock.advance(14 * DAY)
    assert not is_refused(world, "main")


def test_extra_quota_ends_on_its_date(world: World, clock: Clock) -> None:
    given = {"email": world.person.email, "count": 3, "until": later(5)}
    assert world.client.post(f"{PATH}/extra-quotas", json=given).status_code == 201

    def allowed() -> int:
        challenge, at = world.challenge(), now()
        with world.site.database.reading() as session:
            phase = phase_named(challenge, "main")
            return quotas(session, user=world.person, challenge=challenge, phase=phase, now=at)["comp1"].allowed

    assert allowed() == 5
    past = world.client.post(f"{PATH}/extra-quotas", json={**given, "until": later(-1)})
    assert past.status_code == 422
    assert "until" in past.text
    clock.advance(6 * DAY)
    assert allowed() == 2


def test_extra_quota_is_changed_in_what_is_given(world: World) -> None:
    given = {"email": world.person.email, "count": 3, "until": "2100-01-01T00:00:00Z", "reason": "A disk was full."}
    made = world.client.post(f"{PATH}/extra-quotas", json=given).json()
    address = f"{PATH}/extra-quotas/{made['id']}"
    changed = world.client.patch(address, json={"count": 5})
    assert (changed.status_code, changed.json()) == (200, {**made, "count": 5})
    assert world.client.get(f"{PATH}/extra-quotas").json() == [changed.json()]
    wrong = world.client.patch(address, json={"count": 0, "until": later(-1)})
    assert wrong.status_code == 422
    assert wrong.json()["fields"].keys() == {"count", "until"}
    log = world.client.get(f"{PATH}/log?since=2020-01-01T00:00:00").json()["items"]
    for name, instant in (("since", "0001-01-01T00:00:00%2B14:00"), ("until", "9999-12-31T23:59:59-14:00")):
        for path in ("log", "log.csv"):
            answer = world.client.get(f"{PATH}/{path}?{name}={instant}")
            assert (answer.status_code, list(answer.json()["fields"])) == (422, [name])
    assert [event["action"] for event in log[:2]] == ["quota.change_grant", "quota.grant"]
    assert f"changed the extra quota of {world.person.email} in the main phase to 5 submissions" in log[0]["text"]
    assert world.client.delete(address).status_code == 204
    assert world.client.patch(address, json={"count": 5}).status_code == 404


def test_a_rehearsal_uses_no_quota_and_cannot_be_published(world: World) -> None:
    with world.site.writing() as session:
        one = make_published(
            session, world.challenge(), world.organiser, "Rehearsal", 0.9, published=False, is_rehearsal=True
        )
        challenge = service.get_visible(session, "harbour", None)
        phase = phase_named(challenge, "main")
        assert quotas(session, user=world.organiser, challenge=challenge, phase=phase, now=now())["comp1"].used == 0
    answer = world.client.post(f"/api/v1/submissions/{one.id}/publish")
    assert answer.status_code == 409
    assert "rehearsal" in answer.json()["detail"]


def test_the_page_of_a_rehearsal_does_not_offer_to_publish_it(world: World) -> None:
    with world.site.writing() as session:
        one = make_published(
            session, world.challenge(), world.organiser, "Rehearsal", 0.9, published=False, is_rehearsal=True
        )
    with signed_in(world.site, world.organiser.email) as browser:
        page = browser.get(f"/submissions/{one.id}").text
        listed = browser.get("/organise/harbour/submissions").text
    assert f"/submissions/{one.id}/publish" not in page
    assert "A rehearsal: only you and the other organisers see the result." in page
    assert ">rehearsal<" in listed


def test_a_draft_is_rehearsed_in_a_phase_that_is_chosen(world: World) -> None:
    for key in ("spring", "autumn"):
        world.add(key, opens_at=later(2))
    with world.site.writing() as session:
        service.get_visible(session, "harbour", None).visibility = Visibility.DRAFT
    with signed_in(world.site, world.organiser.email) as browser:
        address = "/challenges/harbour/submit?rehearsal=true"
        pages = {key: browser.get(f"{address}&phase={key}").text for key in ("main", "spring", "autumn")}
    for here, page in pages.items():
        document = html.fromstring(page)
        (action,) = document.xpath("//form[@enctype='multipart/form-data']/@action")
        assert ("rehearsal=true" in action, f"phase={here}" in action) == (True, True)
        offered = {link for link in document.xpath("//a/@href") if "/submit?" in link}
        assert offered == {f"/challenges/harbour/submit?phase={key}&rehearsal=true" for key in pages if key != here}


def test_the_page_of_a_hidden_leaderboard_leads_to_those_that_are_visible(world: World) -> None:
    world.client.patch(PATH, json={"leaderboard_from": later(2)})
    for key, days in (("trial", -1), ("hidden", -1), ("final", 2)):
        world.add(key, opens_at=later(days), leaderboard_from=later(2) if key == "hidden" else None)
    with world.site.client() as visitor:
        for path in ("", "/comp1"):
            page = visitor.get(f"/challenges/harbour/leaderboards{path}?phase=main")
            assert page.status_code == 403
            [link] = html.fromstring(page.text).xpath('//main//a[contains(@href, "phase=")]/@href')
            assert link == "/challenges/harbour/leaderboards?phase=trial"
        assert visitor.get(link).status_code == 200


def test_all_phases_are_those_that_are_visible_also_if_the_current_one_is_not(world: World) -> None:
    with world.site.writing() as session:
        make_published(session, complete(session, world.challenge().id), world.person, "Winner", 0.5)
    world.add("final", opens_at=later(-0.1), leaderboard_from=later(2))
    with world.site.client() as visitor:
        page = visitor.get("/challenges/harbour/leaderboards?phases=all")
        assert (page.status_code, "Winner" in page.text) == (200, True)
        assert visitor.get(f"{PATH}/overall?phases=all").status_code == 200
        assert visitor.get(f"{PATH}/overall").status_code == 403
        world.client.patch(PATH, json={"leaderboard_from": later(2)})
        assert visitor.get(f"{PATH}/overall?phases=all").status_code == 403


def test_all_phases_have_the_decimals_of_their_own_leaderboards(world: World, clock: Clock) -> None:
    world.add("final", opens_at=later(1))
    with world.site.writing() as session:
        challenge = complete(session, world.challenge().id)
        for key in ("main", "final"):
            make_published(session, challenge, world.person, key.title(), 0.4321, phase_key=key)
    clock.advance(2 * DAY)
    world.client.headers["Authorization"] = f"Bearer {fresh_token(world)}"
    assert world.client.patch(PATH, json={"decimals": 2}).status_code == 200  # after the main phase was frozen
    page = html.fromstring(world.client.get("/challenges/harbour/leaderboards?phases=all").text)
    assert page.xpath("//table[contains(@class, 'matrix')]//td/a/text()") == ["43.21", "43"]


def test_a_hidden_leaderboard_and_its_results_appear_on_their_date(world: World, clock: Clock) -> None:
    world.client.patch(PATH, json={"leaderboard_from": later(2)})
    with world.site.writing() as session:
        one = make_published(session, world.challenge(), world.person, "Method", 0.5)
    board, result = f"{PATH}/leaderboards/comp1", f"/api/v1/submissions/{one.id}"
    with world.site.client() as visitor:
        assert visitor.get(board).json()["code"] == "leaderboard_hidden"
        assert visitor.get(board.replace("/api/v1", "")).status_code == 403
        assert visitor.get(result).status_code == 404
        assert world.client.get(board).status_code == 200
        clock.advance(3 * DAY)
        assert visitor.get(board).json()["rows"][0]["method"] == "Method"
        assert visitor.get(result).status_code == 200


@pytest.mark.parametrize(
    ("given", "utc"),
    [
        # Clocks in Berlin go back at 01:00 UTC on 25 October 2026: 02:30 is there twice.
        ("2026-10-25T02:30:00+02:00", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        ("2026-10-25T02:30:00+01:00", datetime(2026, 10, 25, 1, 30, tzinfo=UTC)),
        # They go forward at 01:00 UTC on 29 March 2026.
        ("2026-03-29T01:59:59+01:00", datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC)),
        ("2026-03-29T03:00:00+02:00", datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
    ],
)
def test_deadlines_around_a_daylight_saving_change_are_met_to_the_second(
    world: World, clock: Clock, given: str, utc: datetime
) -> None:
    clock.set(datetime(2026, 1, 1, tzinfo=UTC))
    world.client.headers["Authorization"] = f"Bearer {fresh_token(world)}"
    answer = world.client.patch(PATH, json={"opens_at": None, "closes_at": given})
    assert answer.status_code == 200, answer.text
    phase = phase_named(world.challenge(), "main")
    assert phase.rules.closes_at == utc
    assert phase.state(utc - timedelta(seconds=1)) is PhaseState.OPEN
    assert phase.state(utc) is PhaseState.CLOSED
    assert utc.strftime("%Y-%m-%dT%H:%M:%SZ") in world.client.get("/challenges/harbour").text


def fresh_token(world: World) -> str:
    with world.site.writing() as session:
        return make_token(session, world.organiser)


def test_what_follows_a_deadline_moves_with_it(world: World) -> None:
    def phase(key: str) -> Any:
        return next(one for one in world.client.get(PATH).json()["phases"] if one["key"] == key)

    deadline, freeze, opening = later(1), later(3), later(4)
    given = {"closes_at": deadline, "freeze": "date", "freezes_at": freeze, "leaderboard_from": later(-1)}
    assert world.client.patch(PATH, json=given | {"anonymous_until": deadline}).status_code == 200
    world.add("final", opens_at=opening, closes_at=later(30))
    assert world.client.patch(PATH, json={"closes_at": later(3)}).status_code == 200
    assert instant(phase("main")["freezes_at"]) - instant(freeze) == pytest.approx(2 * DAY, abs=timedelta(minutes=1))
    assert phase("main")["anonymous_until"] == phase("main")["closes_at"]  # nobody is named before the new deadline
    assert instant(phase("main")["leaderboard_from"]) < instant(deadline)  # it is shown already
    assert instant(phase("final")["opens_at"]) == instant(opening)  # still after the deadline
    assert world.client.patch(PATH, json={"closes_at": later(8)}).status_code == 200
    assert instant(phase("final")["opens_at"]) - instant(opening) == pytest.approx(5 * DAY, abs=timedelta(minutes=1))
    explicit = {"closes_at": later(8.5), "freezes_at": later(20)}
    assert world.client.patch(PATH, json=explicit).status_code == 200
    assert instant(phase("main")["freezes_at"]) == instant(explicit["freezes_at"])
    refused = world.client.patch(PATH, json={"closes_at": later(40)})
    assert refused.status_code == 422
    assert "“final” opens before that" in refused.text


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_results_stay_on_overviews_until_the_next_phase_has_some(world: World, clock: Clock) -> None:
    with world.site.writing() as session:
        make_published(session, world.challenge(), world.person, "Winner", 0.5)
    world.add("final", opens_at=later(2))
    with world.site.client() as visitor:
        for days in (0, 1.5, 1.5):  # open, closed and frozen, the next phase open
            clock.advance(days * DAY)
            assert "Winner" in visitor.get("/").text
            assert "Winner" in visitor.get("/challenges/harbour").text
        assert "/challenges/harbour/leaderboards/comp1?phase=main" in visitor.get("/").text
        with world.site.writing() as session:
            make_published(session, world.challenge(), world.person, "Finalist", 0.4, phase_key="final")
        assert "Finalist" in visitor.get("/").text
        assert "Winner" not in visitor.get("/").text


def test_a_leaderboard_announces_the_re_scores_of_its_own_results(world: World) -> None:
    world.add("blind", anonymous_until=later(2))
    world.add("other", has_own_ground_truth=True)
    with world.site.writing() as session:
        challenge = complete(session, world.challenge().id)
        hidden = make_published(session, challenge, world.person, "Blind method", 0.5, phase_key="blind")
        make_published(session, challenge, world.person, "Method", 0.5)
        version = session.scalars(select(GroundTruthVersion.id)).one()
        given = {"challenge_id": challenge.id, "ground_truth_version_id": version, "evaluator_version": "1.0.0"}
        applied = {**given, "state": RescoreState.APPLIED, "finished_at": now()}
        session.add(Rescore(**applied, reason="One result", submission_id=hidden.id))
        session.add(Rescore(**applied, reason="All results"))
    announced = {}
    for phase in ("main", "blind", "other"):
        found = world.client.get(f"{PATH}/leaderboards/comp1?phase={phase}").json()["corrections"]
        announced[phase] = sorted((one["reason"], one["method"]) for one in found)
    all_results = ("All results", None)
    assert announced == {"main": [all_results], "blind": [all_results, ("One result", "hidden")], "other": []}


def test_leaderboards_of_two_phases_are_cited_by_two_names(world: World) -> None:
    world.add("final")
    with world.site.client() as visitor:
        cited = [
            visitor.get(f"/challenges/harbour/citation.bib?competition=comp1&phase={key}") for key in ("main", "final")
        ]
    assert [one.text.partition(",")[0] for one in cited] == ["@misc{harbour-comp1", "@misc{harbour-final-comp1"]


def test_a_new_detail_level_after_the_freeze_is_noted(world: World) -> None:
    assert world.client.patch(f"{PATH}/phases/main", json={"detail": "classes"}).json()["note"] is None
    frozen = {"freeze": "date", "freezes_at": later(-0.5)}
    assert world.client.patch(f"{PATH}/phases/main", json=frozen).status_code == 200
    for path in (f"{PATH}/phases/main", PATH):
        level = "mean" if path == PATH else "curves"
        note = world.client.patch(path, json={"detail": level}).json()["note"]
        assert note.startswith("Frozen leaderboards keep the detail level")
        assert world.client.patch(path, json={"freeze": "closing"}).status_code == 200  # without the date
        assert world.client.patch(path, json=frozen).status_code == 200
    assert "note" not in world.client.get(PATH).json()


def test_dates_that_move_with_a_deadline_are_noted(world: World) -> None:
    last = "2200-01-01T00:00:00Z"  # of all dates
    given = {"closes_at": later(10), "freeze": "date", "freezes_at": later(12), "leaderboard_from": last}
    assert world.client.patch(f"{PATH}/phases/main", json=given).json()["note"] is None
    for path, days in ((f"{PATH}/phases/main", 20), (PATH, 30)):
        note = world.client.patch(path, json={"closes_at": later(days)}).json()["note"]
        assert note.startswith("With the deadline, the dates after it")
