"""Teams: one quota, one Ladder and shared results, through all changes of members."""

import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.backend import Backend
from tests.support.browsing import send_form, signed_in, token_of
from tests.support.factories import ban, make_challenge, make_organiser, make_token, make_user
from tests.support.phases import complete
from tests.support.scored import make_published, make_scored
from tests.support.services import REAL
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.accounts.own_data import stored_about
from vocboard.app.accounts.registration import NotApprovedError
from vocboard.app.challenges.models import Ban, Challenge
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.queries import lock_challenge
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, LimitedError, NotFoundError
from vocboard.app.evaluations.releases import releases_of_phase
from vocboard.app.leaderboards.freezing import lock_frozen
from vocboard.app.notifications.models import Notification
from vocboard.app.organising import moderation
from vocboard.app.participating import publishing, teams
from vocboard.app.submissions import notices as submissions_notices
from vocboard.app.submissions import queries
from vocboard.app.submissions.forms import previous_answers
from vocboard.app.submissions.models import State, Submission
from vocboard.app.submissions.quota import quotas
from vocboard.app.teams.models import Team, TeamRole
from vocboard.app.teams.queries import members_of, team_of

SITE = "https://vocboard.example"


def found_team(session: Session, challenge: Challenge, *people: User, name: str = "The team") -> Team:
    """Make a team of people; the first owns it."""
    owner, *others = people
    complete_challenge = complete(session, challenge.id)
    team = teams.create(session, challenge=complete_challenge, user=owner, name=name)
    for person in others:
        join(session, team, owner, person)
    return team


def join(session: Session, team: Team, owner: User, person: User, **given: bool) -> None:
    _, token = teams.invite(session, team_id=team.id, user=owner, site=SITE)
    teams.accept(session, token=token, user=person, **given)


def used(session: Session, challenge: Challenge, person: User) -> int:
    found = complete(session, challenge.id)
    return quotas(session, user=person, challenge=found, phase=phases_of(found)[0], now=now())["comp1"].used


@pytest.fixture
def people(database: Database) -> tuple[User, User, User]:
    with database.writing() as session:
        return make_user(session, name="Ada"), make_user(session, name="Bob"), make_user(session, name="Cy")


@pytest.mark.postgres
def test_two_members_who_submit_at_once_have_the_quota_of_one(backend: Backend) -> None:
    challenge = backend.challenge(quota_count=1)
    ada, bob = backend.user(), backend.user()
    with backend.database.writing() as session:
        found_team(session, challenge, ada, bob)

    def submit(number: int) -> bool:
        try:
            backend.submit((ada, bob)[number % 2], challenge, method_name=f"Method {number}")
        except LimitedError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert Counter(pool.map(submit, range(8))) == {True: 1, False: 7}


@pytest.mark.postgres
def test_somebody_who_joins_while_the_team_submits_counts_or_comes_after_it(backend: Backend) -> None:
    """A submission counts for everybody in the team, also if somebody joins or leaves in the same moment."""
    for _ in range(5):
        challenge = backend.challenge(quota_count=2)
        ada, bob = backend.user(), backend.user()
        backend.submit(bob, challenge, method_name="Bob's")
        with backend.database.writing() as session:
            team = found_team(session, challenge, ada)
            _, token = teams.invite(session, team_id=team.id, user=ada, site=SITE)

        def accept(token: str = token, person: User = bob) -> None:
            with backend.database.writing() as session:
                teams.accept(session, token=token, user=person)

        with ThreadPoolExecutor(3) as pool:
            done = [pool.submit(accept)]
            done += [pool.submit(backend.submit, ada, challenge, method_name=f"Ada's {n}") for n in range(1)]
            for each in done:
                each.result()
        with backend.database.reading() as session:
            assert {one.team_id for one in session.query(Submission).filter_by(challenge_id=challenge.id)} == {team.id}
            assert used(session, challenge, ada) == used(session, challenge, bob) == 2
        with pytest.raises(LimitedError):
            backend.submit(bob, challenge, method_name="One more")


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_renaming_waits_for_the_challenge_before_it_locks_frozen_leaderboards(backend: Backend) -> None:
    challenge, ada = backend.challenge(team_size=2), backend.user()
    with backend.database.writing() as session:
        complete(session, challenge.id).main_phase.closes_at = now() - timedelta(days=1)  # so they are frozen
        team = found_team(session, challenge, ada)

    def rename() -> None:
        with backend.database.writing() as session:
            teams.rename(session, team_id=team.id, user=ada, name="Another name")

    with ThreadPoolExecutor(1) as pool:
        with backend.database.writing() as session:
            lock_challenge(session, challenge.id)
            renaming = pool.submit(rename)
            time.sleep(0.4)
            lock_frozen(session, challenge.id)  # as an organiser who changes the phase
        renaming.result()


def test_a_person_in_two_teams_is_refused(database: Database, people: tuple[User, User, User]) -> None:
    ada, bob, cy = people
    with database.writing() as session:
        challenge = make_challenge(session)
        first = found_team(session, challenge, ada, cy, name="Équipe A")
        second = found_team(session, challenge, bob, name="Another team")
        with pytest.raises(ConflictError, match="Leave it first"):
            join(session, second, bob, cy)
        with pytest.raises(ConflictError, match="already"):
            join(session, first, ada, cy)
        with pytest.raises(ConflictError, match="already"):
            teams.create(session, challenge=complete(session, challenge.id), user=cy, name="A third team")
        with pytest.raises(InvalidInputError):
            teams.rename(session, team_id=second.id, user=bob, name="ÉQUIPE A")
        teams.rename(session, team_id=second.id, user=bob, name="another TEAM ")  # nobody else has it
        assert second.name == "another TEAM"
        assert len(members_of(session, first.id)) == 2


@pytest.mark.parametrize("how", ["leaving", "removed", "merging"])
def test_no_change_of_teams_gives_extra_quota(database: Database, people: tuple[User, User, User], how: str) -> None:
    ada, bob, cy = people
    with database.writing() as session:
        challenge = make_challenge(session, quota_count=2)
        make_scored(session, challenge, bob, "Alone")
        team = found_team(session, challenge, ada, bob)
        make_scored(session, challenge, ada, "Together")
        assert [used(session, challenge, person) for person in people] == [2, 2, 0]
        if how == "merging":
            other = found_team(session, challenge, cy, name="Another team")
            join(session, other, cy, ada, bring_team=True)
            assert session.get(Team, team.id) is None
            assert [used(session, challenge, person) for person in people] == [2, 2, 2]
        else:
            teams.remove(session, team_id=team.id, user=bob if how == "leaving" else ada, user_id=bob.id)
            assert [used(session, challenge, person) for person in people] == [1, 2, 0]
            teams.create(session, challenge=complete(session, challenge.id), user=bob, name="Once more")
            assert used(session, challenge, bob) == 2
            join(session, team, ada, cy)
            assert used(session, challenge, cy) == 1


def test_no_change_of_teams_restarts_the_ladder(database: Database, people: tuple[User, User, User]) -> None:
    """What a team has seen counts for its members in later teams; what was released does not change."""
    ada, bob, cy = people
    with database.writing() as session:
        challenge = make_challenge(session, competitions=["comp1"], ladder_step=0.01, decimals=4)
        phase = challenge.main_phase.id

        def release(person: User, method: str, score: float) -> float | None:
            one = make_published(session, challenge, person, method, score, published=False)
            return releases_of_phase(session, phase, 0.01, 4)[one.id]["comp1"].score

        first = make_published(session, challenge, cy, "Cy's", 0.3, published=False)
        team = found_team(session, challenge, ada, bob)
        assert release(ada, "Together", 0.512) == 0.51
        teams.remove(session, team_id=team.id, user=bob, user_id=bob.id)
        assert release(bob, "Alone again", 0.515) is None  # he has seen 0.51
        assert release(bob, "Better", 0.561) == 0.56
        assert release(ada, "Hers", 0.53) == 0.53  # she has not seen 0.56
        join(session, team, ada, cy)
        shown = releases_of_phase(session, phase, 0.01, 4)
        assert shown[first.id]["comp1"].score == 0.3  # though Ada had seen more
        assert release(cy, "In the team", 0.4) is None
        one = make_published(session, challenge, bob, "His last", 0.9, published=False)
        for only in (bob, ada, cy):  # all that matters is read for each of them
            found = releases_of_phase(session, phase, 0.01, 4, user_ids=[only.id])
            assert {key: found[key] for key in found} == {
                key: value for key, value in releases_of_phase(session, phase, 0.01, 4).items() if key in found
            }
        assert releases_of_phase(session, phase, 0.01, 4, user_ids=[bob.id])[one.id]["comp1"].score == 0.9


def test_who_leaves_sees_and_changes_nothing_more(database: Database, people: tuple[User, User, User]) -> None:
    ada, bob, _ = people
    with database.writing() as session:
        challenge = make_challenge(session)
        team = found_team(session, challenge, ada, bob)
        made = make_scored(session, challenge, bob, "Method")
        publishing.publish(session, submission_id=made.id, user=ada)
        publishing.unpublish(session, submission_id=made.id, user=ada)
        teams.remove(session, team_id=team.id, user=bob, user_id=bob.id)
        with pytest.raises(NotFoundError):
            publishing.publish(session, submission_id=made.id, user=bob)
        assert not queries.mine(session, user=bob).items
        session.get_one(Submission, made.id).note = "What the team has found out since"
        assert not stored_about(session, bob)["submissions"]
        assert [one.id for one in queries.mine(session, user=ada).items] == [made.id]
        assert team_of(session, challenge.id, bob) is None
        with pytest.raises(ConflictError, match="only member"):
            teams.remove(session, team_id=team.id, user=ada, user_id=ada.id)


def test_leaving_a_team_does_not_get_around_a_disqualification(
    database: Database, people: tuple[User, User, User]
) -> None:
    ada, bob, _ = people
    with database.writing() as session:
        challenge = make_challenge(session)
        team = found_team(session, challenge, ada, bob)
        same = {"archive_sha256": "7" * 64}
        disqualified = {"state": State.DISQUALIFIED, "disqualified_at": now(), "moderation_reason": "Copied labels."}
        make_scored(session, challenge, ada, "Method", **same, **disqualified)
        teams.remove(session, team_id=team.id, user=bob, user_id=bob.id)
        again = make_scored(session, challenge, bob, "Another name", **same)
        with pytest.raises(ConflictError, match="disqualified") as refusal:
            publishing.publish(session, submission_id=again.id, user=bob)
        assert "Copied labels." not in str(refusal.value), "which the team is told"


def test_methods_of_one_name_are_not_mixed_up(database: Database, people: tuple[User, User, User]) -> None:
    ada, bob, _ = people
    with database.writing() as session:
        challenge = make_challenge(session)
        for person in (ada, bob):
            make_published(session, challenge, person, "Method", 0.5)
        team = found_team(session, challenge, ada)
        with pytest.raises(ConflictError, match="“Method”"):
            join(session, team, ada, bob)
        assert team_of(session, challenge.id, bob) != team


def test_owners_alone_invite_and_a_team_always_has_one(database: Database, people: tuple[User, User, User]) -> None:
    ada, bob, cy = people
    with database.writing() as session:
        challenge = make_challenge(session)
        team = found_team(session, challenge, ada, bob)
        for change in (
            lambda: teams.invite(session, team_id=team.id, user=bob, site=SITE),
            lambda: teams.rename(session, team_id=team.id, user=bob, name="Bob's"),
            lambda: teams.remove(session, team_id=team.id, user=bob, user_id=ada.id),
            lambda: teams.set_role(session, team_id=team.id, user=bob, user_id=bob.id, role=TeamRole.OWNER),
        ):
            with pytest.raises(ForbiddenError):
                change()
        with pytest.raises(NotFoundError):
            teams.remove(session, team_id=team.id, user=cy, user_id=bob.id)
        with pytest.raises(ConflictError, match="owner"):
            teams.remove(session, team_id=team.id, user=ada, user_id=ada.id)
        teams.set_role(session, team_id=team.id, user=ada, user_id=bob.id, role=TeamRole.OWNER)
        teams.remove(session, team_id=team.id, user=ada, user_id=ada.id)
        told = session.execute(select(Notification.user_id, Notification.title)).all()
        assert told == [(ada.id, "Bob has joined the team “The team”"), (bob.id, "Ada has left the team “The team”")]
        assert [one.user_id for one in members_of(session, team.id)] == [bob.id]
        join(session, team, bob, cy)
        teams.set_role(session, team_id=team.id, user=bob, user_id=cy.id, role=TeamRole.OWNER)
        _, token = teams.invite(session, team_id=team.id, user=cy, site=SITE)
        teams.remove(session, team_id=team.id, user=bob, user_id=cy.id)
        with pytest.raises(NotFoundError, match="withdrawn"):  # nobody who was removed comes back by an own link
            teams.accept(session, token=token, user=cy)


def test_a_link_works_once_and_never_beyond_the_size_of_teams_or_their_date(
    database: Database, people: tuple[User, User, User]
) -> None:
    ada, bob, cy = people
    with database.writing() as session:
        challenge = make_challenge(session, team_size=2)
        team = found_team(session, challenge, ada)
        invitation, token = teams.invite(session, team_id=team.id, user=ada, site=SITE)
        with pytest.raises(ConflictError, match="at most 2 members"):
            teams.invite(session, team_id=team.id, user=ada, site=SITE)
        teams.withdraw_invitation(session, team_id=team.id, user=ada, invitation_id=invitation.id)
        with pytest.raises(NotFoundError):
            teams.accept(session, token=token, user=bob)
        _, token = teams.invite(session, team_id=team.id, user=ada, site=SITE)
        challenge.teams_until = now() - timedelta(seconds=1)
        session.flush()
        with pytest.raises(ConflictError, match="could change until"):
            teams.accept(session, token=token, user=bob)
        challenge = complete(session, challenge.id)
        challenge.teams_until = None
        session.flush()
        teams.accept(session, token=token, user=bob)
        with pytest.raises(NotFoundError):
            teams.accept(session, token=token, user=cy)


def test_a_team_with_a_banned_member_takes_no_part(backend: Backend) -> None:
    challenge = backend.challenge()
    ada, bob = backend.user(name="Ada"), backend.user(name="Bob")
    with backend.database.writing() as session:
        team = found_team(session, challenge, ada, bob)
        made = make_scored(session, challenge, ada, "Scored")
        session.add(Ban(user_id=bob.id, challenge_id=challenge.id, reason="Two accounts"))
    with pytest.raises(ForbiddenError, match="banned Bob"):
        backend.submit(ada, challenge)
    with backend.database.writing() as session:
        with pytest.raises(ForbiddenError, match="banned Bob"):
            publishing.publish(session, submission_id=made.id, user=ada)
        found = complete(session, challenge.id)
        found.teams_until = now() - timedelta(days=1)
        teams.remove(session, team_id=team.id, user=ada, user_id=bob.id)
        found.teams_until = None
        publishing.publish(session, submission_id=made.id, user=ada)
        _, token = teams.invite(session, team_id=team.id, user=ada, site=SITE)
        with pytest.raises(ForbiddenError, match="banned you"):
            teams.accept(session, token=token, user=bob)


def test_any_member_removes_who_is_banned(backend: Backend) -> None:
    challenge, organiser = backend.challenge(), backend.user()
    ada, bob, cy, dan = (backend.user(name=name) for name in ("Ada", "Bob", "Cy", "Dan"))
    with backend.database.writing() as session:
        team = found_team(session, challenge, ada, bob, cy, dan)
        for banned in (ada, bob):
            ban(session, challenge, banned, organiser)
    with backend.database.writing() as session:
        complete(session, challenge.id).teams_until = now() - timedelta(days=1)
        with pytest.raises(ForbiddenError, match="Only owners"):
            teams.remove(session, team_id=team.id, user=cy, user_id=dan.id)
        teams.remove(session, team_id=team.id, user=cy, user_id=bob.id)
        roles = {one.user_id: one.role for one in members_of(session, team.id)}
        assert roles == {ada.id: TeamRole.OWNER, cy.id: TeamRole.MEMBER, dan.id: TeamRole.MEMBER}
    with backend.database.writing() as session:
        teams.remove(session, team_id=team.id, user=cy, user_id=ada.id)
        roles = {one.user_id: one.role for one in members_of(session, team.id)}
        assert roles == {cy.id: TeamRole.OWNER, dan.id: TeamRole.MEMBER}
    backend.submit(dan, challenge)


def test_the_page_lets_a_member_remove_the_only_owner_who_is_banned(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        ada, bob, organiser = make_user(session), make_user(session), make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="open")
        found_team(session, challenge, ada, bob)
        session.flush()
        for one in (ada, bob, organiser, challenge):
            session.refresh(one)  # founding the team has expired them
    page = "/challenges/open/team"
    removal = f'action="{page}/members/{ada.id}/remove"'
    with signed_in(embedded_site, bob.email) as browser:
        assert removal not in browser.get(page).text
        with embedded_site.writing() as session:
            ban(session, challenge, ada, organiser)
            complete(session, challenge.id).team_size = 1  # from then on
        upload = {"X-CSRF-Token": token_of(browser.get(page)), "Upload-Length": "1"}
        assert browser.post("/api/v1/uploads?challenge=open", headers=upload).status_code == 403
        form = browser.get("/challenges/open/submit").text
        assert "who is in your team, from this challenge" in form
        assert 'name="archive"' not in form
        assert removal in browser.get(page).text
        assert send_form(browser, page, f"{page}/members/{ada.id}/remove").status_code == 303
        assert removal not in browser.get(page).text


def test_who_waits_for_approval_sends_no_invitations(database: Database) -> None:
    with database.writing() as session:
        ada = make_user(session, approved=False)
        team = found_team(session, make_challenge(session), ada)
        with pytest.raises(NotApprovedError):
            teams.invite(session, team_id=team.id, user=ada, email="bob@lab.example", site=SITE)


def test_members_see_and_can_leave_their_team_after_organisers_have_ended_teams(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        ada, bob = make_user(session), make_user(session)
        challenge = make_challenge(session, slug="alone")
        found_team(session, challenge, ada, bob)
        complete(session, challenge.id).team_size = 1
        session.refresh(bob)  # founding the team has expired it
        email, bob_id = bob.email, bob.id
    page = "/challenges/alone/team"
    with signed_in(embedded_site, email) as browser:
        assert "everybody takes part alone" not in browser.get(page).text
        assert send_form(browser, page, f"{page}/members/{bob_id}/remove").status_code == 303
        assert "everybody takes part alone" in browser.get(page).text


def test_a_team_in_the_browser_and_by_the_api(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        ada, bob = make_user(session, name="Ada"), make_user(session, name="Bob")
        make_challenge(session, slug="open")
        token = make_token(session, bob)
    page = "/challenges/open/team"
    with signed_in(embedded_site, ada.email) as browser, embedded_site.client(token) as api:
        assert "Found the team" in browser.get(page).text

        def post(path: str, **form: str) -> str:
            answer = browser.post(path, data={"csrf_token": token_of(browser.get(page)), **form})
            assert answer.status_code == 303, answer.text
            return browser.get(page).text

        post(page, name="Ada & friends")
        shown = post(f"{page}/invitations")
        link = shown.partition('id="new-link">')[2].partition("<")[0]
        assert link not in browser.get(page).text  # shown once
        assert "csrf_token" in browser.get(link.removeprefix(embedded_site.settings.public_url)).text
        mine = "/api/v1/challenges/open/teams/mine"
        assert api.get(mine).status_code == 404
        joined = api.post(f"/api/v1/team-invitations/{link.rpartition('/')[2]}/accept")
        assert joined.status_code == 200, joined.text
        assert [one["name"] for one in joined.json()["members"]] == ["Ada", "Bob"]
        assert api.get(mine).json() == joined.json()
        with embedded_site.writing() as session:
            challenge = session.get_one(Challenge, session.get_one(Team, uuid.UUID(joined.json()["id"])).challenge_id)
            make_published(session, challenge, bob, "Method", 0.5)
        board = browser.get("/challenges/open/leaderboards/comp1").text
        assert "Ada &amp; friends" in board
        [row] = api.get("/api/v1/challenges/open/leaderboards/comp1").json()["rows"]
        assert row["team"] == "Ada & friends"
        assert api.get(f"/api/v1/submissions/{row['submission']}").json()["team"]["name"] == "Ada & friends"
        assert "Method" in browser.get("/submissions").text
        renamed = api.patch(f"/api/v1/teams/{joined.json()['id']}", json={"name": "Bob's"})
        assert renamed.status_code == 403
        post(f"{page}/members/{bob.id}/role", role="owner")
        assert api.patch(f"/api/v1/teams/{joined.json()['id']}", json={"name": "Bob's"}).status_code == 200
        assert "Bob&#39;s" in browser.get("/challenges/open/leaderboards/comp1").text
        assert "Found the team" in post(f"{page}/members/{ada.id}/remove")


def test_a_team_that_goes_into_another_while_a_member_joins_a_third_one(
    database: Database, people: tuple[User, User, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.is_sqlite:
        pytest.skip("has one writer")
    ada, bob, cy = people
    with database.writing() as session:
        challenge, dan = make_challenge(session), make_user(session, name="Dan")
        found_team(session, challenge, ada, bob)
        team, third = (found_team(session, challenge, one, name=f"Team of {one.name}") for one in (cy, dan))
        _, token = teams.invite(session, team_id=team.id, user=cy, site=SITE)
        _, tempting = teams.invite(session, team_id=third.id, user=dan, site=SITE)

    def merging(session: Session, team_id: uuid.UUID) -> None:
        monkeypatch.undo()
        with database.writing() as another:
            teams.accept(another, token=token, user=ada, bring_team=True)
        teams.lock_team(session, team_id)

    monkeypatch.setattr(teams, "lock_team", merging)
    with pytest.raises(ConflictError, match="has just changed"), database.writing() as session:
        teams.accept(session, token=tempting, user=bob)


def test_of_the_team_only_who_has_made_a_rehearsal_sees_it(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser, bob = make_organiser(session), make_user(session)
        challenge = make_challenge(session, organiser=organiser)
        found_team(session, challenge, organiser, bob)
        made = make_scored(session, challenge, organiser, "Method", is_rehearsal=True, description="Of somebody else")
        submissions_notices.scored(session, made.id)
        reason = {"reason": "A copy.", "site": SITE}
        moderation.disqualify(session, submission_id=made.id, user=organiser, **reason)
        moderation.reinstate(session, submission_id=made.id, user=organiser, **reason)
        told = session.scalars(select(Notification.user_id).where(Notification.link == f"/submissions/{made.id}")).all()
        assert told == [organiser.id] * 3
        assert "method_description" not in previous_answers(session, user=bob, challenge=challenge).fields
        own = make_scored(session, challenge, bob, "Of the team")
        assert previous_answers(session, user=bob, challenge=challenge).methods == [own.method.name]
        for person, ids in ((bob, {own.id}), (organiser, {made.id, own.id})):
            stored = stored_about(session, person)
            assert {row["submission_id"] for row in stored["submission_people"]} == ids
            assert len(stored["methods"]) == len(ids)
        secrets = [make_token(session, person) for person in (organiser, bob)]
    seen = []
    for secret in secrets:
        with embedded_site.client(secret) as client:
            paths = (f"/submissions/{made.id}", f"/submissions/{made.id}/archive")
            seen.append([client.get(f"/api/v1{path}").status_code for path in paths])
            seen[-1].append(len(client.get("/api/v1/submissions").json()["items"]))
    assert seen == [[200, 410, 2], [404, 404, 1]]
    with signed_in(embedded_site, bob.email) as browser:
        assert browser.get(f"/methods/{made.method_id}").status_code == 404
