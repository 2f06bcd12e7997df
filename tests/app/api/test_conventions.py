"""What all routes have in common: docs/api.md promises it."""

import re
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import insert, select

from tests.support.factories import make_challenge, make_organiser, make_token
from tests.support.life import RULES, upload_results
from tests.support.own_rules import CHANGED_FILE, EDITION_FILE
from tests.support.site import Site
from tests.support.uploading import RESULTS
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Base, now
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.rate_limits import QUESTIONS_BY_PERSON
from vocboard.app.submissions.models import Submission
from vocboard.app.web.preconditions import readers
from vocboard.app.webhooks.models import WebhookDelivery


@pytest.fixture
def challenge(site: Site) -> Challenge:
    with site.writing() as session:
        return make_challenge(
            session, organiser=make_organiser(session), edition="VOC2007", competitions=["comp1"], quota_count=9
        )


def standings(answer: httpx.Response) -> dict[str, tuple[int, int, int, int]]:
    """Read the limits of a response: by name, quota, window, what is left, and until when."""
    policies = re.findall(
        r'"(\w+)";q=(\d+)(?:;qu="content-bytes")?;w=(\d+)', answer.headers.get("RateLimit-Policy", "")
    )
    left = {
        name: (int(r), int(t)) for name, r, t in re.findall(r'"(\w+)";r=(\d+);t=(\d+)', answer.headers["RateLimit"])
    }
    assert left.keys() == {name for name, _, _ in policies}
    return {name: (int(quota), int(window), *left[name]) for name, quota, window in policies}


def test_programs_are_told_what_is_left_of_limits(site: Site, participant: httpx.Client, challenge: Challenge) -> None:
    path = f"/api/v1/challenges/{challenge.slug}/questions"
    assert "RateLimit" not in participant.get("/api/v1/challenges").headers
    assert "RateLimit" not in participant.post(path, json={"text": ""}).headers, "it did not count"
    limit = QUESTIONS_BY_PERSON
    for left in reversed(range(limit.count)):
        quota, window, remaining, seconds = standings(participant.post(path, json={"text": f"When? {left}"}))[
            limit.action
        ]
        assert (quota, window, remaining) == (limit.count, limit.period.total_seconds(), left)
        assert window - 60 < seconds <= window
    refused = participant.post(path, json={"text": "When?"})
    assert refused.status_code == 429
    assert standings(refused)[limit.action][2:] == (0, int(refused.headers["Retry-After"]))

    sent = participant.post(
        f"/api/v1/challenges/{challenge.slug}/submissions",
        data={"method_name": "x" * 999},
        files={"archive": ("results.tar.gz", RESULTS)},
    )
    assert sent.status_code == 422
    found = standings(sent)
    limits = site.settings
    assert found["uploads"][:3] == (limits.uploads_per_hour, 3600, limits.uploads_per_hour - 1), "it counts, too"
    quota, window, remaining, _ = found["upload_bytes"]
    assert (quota, window) == (limits.upload_bytes_per_day, 86_400)
    assert 0 < quota - remaining - len(RESULTS) < 2_000, "the body as it was announced"


def changes(draft: str, submission: str) -> dict[str, tuple[str, str, dict[str, Any] | None]]:
    """Return everything that takes `If-Match`, by operation: method, path and body of a change."""
    return {
        "change_challenge": ("PATCH", draft, {"title": "Another title"}),
        "replace_edition": ("PUT", f"{draft}/edition", {"edition_file": CHANGED_FILE}),
        "set_terms": ("PUT", f"{draft}/terms", {"text": "Only for research."}),
        "change_phase": ("PATCH", f"{draft}/phases/later", {"title": "Later"}),
        "change_submission": ("PATCH", submission, {"note": "The first one"}),
        "choose_emails": ("PATCH", "/api/v1/account/emails", {"scored": False}),
        "remove_phase": ("DELETE", f"{draft}/phases/later", None),
        "delete_challenge": ("DELETE", draft, None),
    }


def test_a_change_can_have_the_condition_that_nothing_has_changed(site: Site) -> None:
    with site.writing() as session:
        organiser = make_organiser(session)
        taking_part = make_challenge(session, edition="VOC2007", competitions=["comp1"]).slug
        token = make_token(session, organiser)
    with site.client(token) as client:
        edition = {"slug": "draft", "edition_file": EDITION_FILE, "competitions": ["comp1"], "visibility": "draft"}
        assert client.post("/api/v1/challenges", json=RULES | edition).status_code == 201
        draft = "/api/v1/challenges/draft"
        later = client.post(
            f"{draft}/phases", json={"key": "later", "title": "Test", "opens_at": "2030-01-01T00:00:00Z"}
        )
        assert later.headers["Location"] == f"{draft}/phases/later", later.text
        submission = upload_results(client, taking_part, RESULTS).headers["Location"]
        found = readers(site.application.routes)
        given = changes(draft, submission)
        assert given.keys() == {change.__name__ for change, read in found.items() if change is not read.endpoint}
        for method, path, body in given.values():
            read = client.get(path).headers["ETag"]
            assert client.get(path).headers["ETag"] == read
            for other in (f"W/{read}", '"0"', "0", ""):
                refused = client.request(method, path, json=body, headers={"If-Match": other})
                assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed"), (path, other)
            assert client.get(path).headers["ETag"] == read, "nothing was changed"
            done = client.request(method, path, json=body, headers={"If-Match": f'"0", {read}'})
            assert done.is_success, (path, done.text)
            after = client.get(path)
            assert after.headers.get("ETag") != read, path
            if after.is_success:
                refused = client.request(method, path, json=body, headers={"If-Match": read})
                assert refused.status_code == 412, path
                assert client.request(method, path, json=body, headers={"If-Match": "*"}).is_success, path


@pytest.mark.full
@pytest.mark.parametrize("of_person", [False, True], ids=["challenge", "submission"])
def test_of_changes_at_once_with_the_same_tag_one_is_made(site: Site, *, of_person: bool) -> None:
    with site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, edition="VOC2007", competitions=["comp1"]).slug
        token = make_token(session, organiser)
    with site.client(token) as client:
        path, field = f"/api/v1/challenges/{challenge}", "title"
        if of_person:
            path, field = upload_results(client, challenge, RESULTS).headers["Location"], "note"
        read = client.get(path).headers["ETag"]
        at_once = 8
        together = threading.Barrier(at_once)

        def change(number: int) -> tuple[int, str]:
            with site.client(token) as own:
                own.get(path)  # so that the connection is there
                together.wait()
                answer = own.patch(path, json={field: f"Change {number}"}, headers={"If-Match": read})
                return answer.status_code, f"Change {number}"

        with ThreadPoolExecutor(at_once) as pool:
            answers = list(pool.map(change, range(at_once)))
        assert sorted(status for status, _ in answers) == [200] + [412] * (at_once - 1)
        assert client.get(path).json()[field] == dict(answers)[200]


@pytest.mark.parametrize("query", ["since=2026", "until=20261201", "state=scored&state=failed"])
def test_a_query_that_would_be_taken_for_something_else_is_refused(participant: httpx.Client, query: str) -> None:
    refused = participant.get(f"/api/v1/submissions?{query}")
    assert (refused.status_code, list(refused.json()["fields"])) == (422, [query.partition("=")[0]])


def test_lists_that_grow_while_they_are_read_repeat_and_leave_out_nothing(site: Site) -> None:
    with site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, edition="VOC2007", competitions=["comp1"])
        told = {"kind": NotificationKind.SCORED, "title": "Scored", "text": "", "link": "/"}
        session.add(Notification(user_id=organiser.id, **told))
        token = make_token(session, organiser)
    path = f"/api/v1/challenges/{challenge.slug}"
    with site.client(token) as client:
        assert upload_results(client, challenge.slug, RESULTS).status_code == 201
        hook = {"url": "https://hooks.example/voc", "events": ["submission.scored"]}
        webhook = f"/api/v1/webhooks/{client.post('/api/v1/webhooks', json=hook).json()['id']}"
        assert client.post(f"{webhook}/test").status_code == 202
        lists: dict[str, type[Base]] = {
            "/api/v1/submissions": Submission,
            f"{path}/submissions": Submission,
            "/api/v1/submissions?q=method&state=queued&phase=main&competition=comp1&since=2020-01-01": Submission,
            f"{path}/submissions?q=method&until=2090-01-01": Submission,
            f"{path}/submissions?descending=false": Submission,
            f"{path}/log": AuditEvent,
            "/api/v1/notifications": Notification,
            f"{webhook}/deliveries": WebhookDelivery,
        }
        for address, kind in lists.items():
            url = httpx.URL(address)
            first = client.get(url).json()["items"][-1]["id"]
            moment = now()
            for seconds in (2, 2, 2, 1):  # three at the same moment
                copy_of(site, kind, first, moment - timedelta(seconds=seconds))
            before = [one["id"] for one in client.get(url.copy_merge_params({"per_page": 200})).json()["items"]]
            seen, following, number = [], client.get(url.copy_merge_params({"per_page": 2})), 1
            while following is not None:
                page = following.json()
                assert (page["page"], page["total"]) == (number, len(before) + (number > 1)), address
                seen += [one["id"] for one in page["items"]]
                if number == 1:
                    copy_of(site, kind, first, now())
                number, link = number + 1, following.links.get("next")
                following = client.get(link["url"]) if link else None
            assert seen[: len(before)] == before, address
            assert len(seen) - len(before) == ("false" in address), "what is added comes last, or first"
            by_number = client.get(url.copy_merge_params({"per_page": 2, "page": 2}))
            assert by_number.json()["page"] == 2, "as ever"
        for wrong in ("x", "W10", "bm90aGluZw", "WyIyMDI2IiwgMV0", "é"):
            refused = client.get("/api/v1/submissions", params={"cursor": wrong})
            assert (refused.status_code, list(refused.json()["fields"])) == (422, ["cursor"]), wrong
        cursor = httpx.URL(client.get(f"{path}/submissions?per_page=1").links["next"]["url"]).params["cursor"]
        refused = client.get(f"{path}/submissions", params={"cursor": cursor, "sort": "method"})
        assert list(refused.json()["fields"]) == ["cursor"]


def copy_of(site: Site, kind: type[Base], identifier: str, created_at: datetime) -> None:
    """Add another row like this one."""
    table = kind.__table__
    with site.writing() as session:
        row = session.execute(select(table).where(table.c.id == uuid.UUID(identifier))).mappings().one()
        session.execute(insert(table).values({**row, "id": uuid.uuid4(), "created_at": created_at}))
