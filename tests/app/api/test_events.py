"""What following submissions may cost the server."""

import contextlib
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from tests.support.backend import Backend
from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import make_token, make_user
from tests.support.phases import complete, main_truth
from tests.support.site import Site
from vocboard.app.accounts import administration
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import organisers
from vocboard.app.challenges.models import ChallengeOrganiser
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.participating import teams
from vocboard.app.submissions.models import Submission
from vocboard.app.teams.models import TeamMember, TeamRole
from vocboard.app.web.open_streams import MAX_STREAMS, OpenStreams

SECONDS_TO_NOTICE = 30
FORMS = ("disqualify", "withdraw")  # of an organiser, of a member of the team


def test_one_person_cannot_open_streams_without_end(embedded_site: Site) -> None:
    backend = Backend(embedded_site.settings, embedded_site.database, embedded_site.application.state.services.store)
    user, other = backend.user(), backend.user()
    challenge = backend.challenge()
    addresses = {one.id: f"/api/v1/submissions/{backend.submit(one, challenge)}/events" for one in (user, other)}
    with embedded_site.writing() as session:
        tokens = {one.id: make_token(session, one) for one in (user, other)}
    with embedded_site.client(tokens[user.id]) as client:
        with contextlib.ExitStack() as streams:
            for _ in range(MAX_STREAMS):
                assert streams.enter_context(client.stream("GET", addresses[user.id])).status_code == 200
            refused = client.get(addresses[user.id])
            assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
            with (
                embedded_site.client(tokens[other.id]) as others,
                others.stream("GET", addresses[other.id]) as stream,
            ):
                assert stream.status_code == 200
        deadline = time.monotonic() + SECONDS_TO_NOTICE
        while True:  # until the server has noticed that they are closed
            with client.stream("GET", addresses[user.id]) as stream:
                if stream.status_code == 200:
                    break
            assert time.monotonic() < deadline
            time.sleep(0.2)


@pytest.mark.parametrize(("number", "seconds"), [(1, 1.0), (50, 1.0), (140, 2.8), (10_000, 10.0)])
def test_many_streams_together_query_no_more_often_than_few(number: int, seconds: float) -> None:
    streams = OpenStreams()
    for person in range(number):
        streams.enter(f"visitor {person}")
    assert streams.interval.total_seconds() == pytest.approx(seconds)


@pytest.mark.parametrize("end", ["disable", "revoke"])
def test_a_stream_ends_with_what_it_was_asked_for_with(embedded_site: Site, end: str) -> None:
    backend = Backend(embedded_site.settings, embedded_site.database, embedded_site.application.state.services.store)
    user = backend.user()
    address = f"/api/v1/submissions/{backend.submit(user, backend.challenge())}/events"
    with embedded_site.writing() as session:
        token = make_token(session, user)
    with embedded_site.client(token) as client, client.stream("GET", address, timeout=SECONDS_TO_NOTICE) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        with embedded_site.writing() as session:
            if end == "disable":
                present = administration.get_user(session, user.email)
                administration.disable(session, user=present)
                administration.enable(session, user=present)  # does not bring back what has ended
            else:
                [row] = accounts.tokens_of(session, user)
                accounts.revoke_token(session, user=user, token_id=row.id)
        until_the_end(lines)  # although the submission still waits
    with embedded_site.client(token) as client:
        assert client.get(address).status_code == 401


@pytest.mark.parametrize(
    ("end", "action"),
    [
        ("removed", 404),  # from the organisers
        ("demoted", 404),
        ("disabled", 303),  # to the sign-in page
        ("left", 404),  # the team
    ],
)
def test_a_removed_organisers_open_page_and_event_stream_end(embedded_site: Site, end: str, action: int) -> None:
    backend = Backend(embedded_site.settings, embedded_site.database, embedded_site.application.state.services.store)
    user, challenge = backend.user(), backend.challenge(team_size=2)
    submission_id = backend.submit(user, challenge)
    with embedded_site.writing() as session:
        person = make_user(session, role=Role.PARTICIPANT if end == "left" else Role.CO_ORGANISER)
        owner = session.scalars(select(User).join(ChallengeOrganiser, ChallengeOrganiser.user_id == User.id)).one()
        rescore = Rescore(
            challenge_id=challenge.id,
            ground_truth_version_id=main_truth(session, challenge).id,
            reason="Labels",
            state=RescoreState.RUNNING,
        )
        session.add(rescore)
        if end == "left":
            team_id = session.get_one(Submission, submission_id).team_id
            session.add(TeamMember(challenge_id=challenge.id, user_id=person.id, team_id=team_id, role=TeamRole.MEMBER))
        else:
            session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=person.id))
        session.flush()
        rescore_events = f"/api/v1/rescores/{rescore.id}/events"
    page = f"/submissions/{submission_id}"
    followed = [f"/api/v1{page}/events", *([] if end == "left" else [rescore_events])]
    with signed_in(embedded_site, person.email) as client, contextlib.ExitStack() as streams:
        token = token_of(client.get(page))
        opened = [streams.enter_context(client.stream("GET", one, timeout=SECONDS_TO_NOTICE)) for one in followed]
        all_lines = [one.iter_lines() for one in opened]
        for lines in all_lines:
            assert next(lines).startswith("event: ")
        with embedded_site.writing() as session:
            present = administration.get_user(session, person.email)
            if end == "removed":
                given = {"challenge": complete(session, challenge.id), "user": session.get_one(User, owner.id)}
                organisers.remove(session, **given, user_id=present.id)
            elif end == "demoted":
                administration.set_role(session, user=present, role=Role.PARTICIPANT)
            elif end == "disabled":
                administration.disable(session, user=present)
            else:
                teams.remove(session, team_id=team_id, user=present, user_id=present.id)
        for lines in all_lines:
            until_the_end(lines)
        form = {"csrf_token": token, "reason": "Trained on test images."}
        answers = [client.post(f"{page}/{one}", data=form, headers=from_here(client)) for one in FORMS]
        assert {answer.status_code for answer in answers} == {action}
        if action == 404:
            assert all("This submission does not exist." in answer.text for answer in answers)
        assert client.get(page).status_code == 404
        assert [client.get(one).status_code for one in followed] != [200] * len(followed)
        assert client.get(f"/organise/{challenge.slug}").status_code == (303 if end == "disabled" else 403)


def until_the_end(lines: Iterator[str]) -> None:
    """Read a stream, whose comments keep it alive, until the server ends it."""
    deadline = time.monotonic() + SECONDS_TO_NOTICE
    for line in lines:
        assert time.monotonic() < deadline, f"the stream goes on: {line}"
