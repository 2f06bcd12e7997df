"""`/metrics` says what happens; alerts and the dashboard ask for nothing that it does not have."""

import json
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site, serving
from vocboard.app.administering import measures
from vocboard.app.database import now
from vocboard.app.jobs.models import Job, Kind, WorkerHeartbeat
from vocboard.app.settings import Settings

TOKEN = "the-token-of-a-monitoring-system-0123"
ASKING = {"Authorization": f"Bearer {TOKEN}", "Host": "vocboard-web-2:8000"}
MONITORING = Path(__file__).parents[3] / "deploy" / "monitoring"
NAME = re.compile(r"\bvocboard_\w+")


@pytest.fixture
def watched(settings: Settings) -> Iterator[Site]:
    with serving(settings.model_copy(update={"metrics_token": SecretStr(TOKEN)})) as site:
        yield site


@pytest.fixture
def embedded(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    settings = Settings(data_directory=tmp_path / "data", database_url=sqlite_url, metrics_token=SecretStr(TOKEN))
    with serving(settings) as site:
        yield site


def measured(text: str) -> dict[str, float]:
    """Return the value of each sample by its name and the values of its labels, in the order of their names."""
    return {
        " ".join([sample.name.removeprefix("vocboard_"), *(value for _, value in sorted(sample.labels.items()))]): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_says_what_waits_what_was_done_and_what_was_refused(watched: Site) -> None:
    instant = now()
    with watched.writing() as session:
        challenge, user = make_challenge(session), make_user(session)
        token = make_token(session, user)
        ago = {name: instant - timedelta(seconds=seconds) for name, seconds in (("long", 600), ("mid", 300), ("s", 60))}
        shared: dict[str, Any] = {"priority": 1, "created_at": ago["long"]}
        lease = challenge.id
        session.add_all(
            [
                Job(kind=Kind.EVALUATION, key=challenge.id, not_before=ago["long"], **shared),
                Job(kind=Kind.EVALUATION, key=user.id, not_before=ago["s"], lease_id=lease, **shared),
                Job(kind=Kind.DIAGNOSIS, key=user.id, claimed_at=ago["mid"], finished_at=ago["s"], **shared),
                Job(kind=Kind.IMPORT, key=user.id, finished_at=ago["s"], failure="unreadable", **shared),
                WorkerHeartbeat(host="a", kind="scoring", started_at=ago["long"], looked_at=ago["mid"]),
                WorkerHeartbeat(host="b", kind="scoring", started_at=ago["long"], looked_at=instant),
            ]
        )
    with watched.client(token) as client, watched.client() as prometheus:
        before = measured(prometheus.get("/metrics", headers=ASKING).text)
        assert upload_results(client, challenge.slug, b"no archive", "a.tar", method_name="M").status_code == 422
        client.get("/nothing")
        after = measured(prometheus.get("/metrics", headers=ASKING).text)
    assert after["jobs evaluation due"] == 2
    assert after["jobs diagnosis due"] == 0
    assert 600 <= after["jobs_oldest_due_seconds evaluation"] < 660
    assert after["jobs_abandoned evaluation"] == 1
    assert after["jobs_lately_seconds diagnosis waiting mean"] == pytest.approx(300, abs=0.1)
    assert after["jobs_lately_seconds diagnosis running max"] == pytest.approx(240, abs=0.1)
    assert after["jobs_failed unreadable import no"] == 1
    assert after["workers scoring"] == 1
    assert after["workers_silent_seconds scoring"] < 60
    assert after["check database"] == 1
    assert after["database_bytes"] > 0
    assert after["storage_free_bytes"] > 0
    assert after["uploads_in_progress"] == 0
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    assert grown["refusals_total not_an_archive"] == 1
    assert grown["uploads_total submission refused"] == 1
    assert grown["upload_bytes_total submission"] > 0
    assert grown["upload_seconds_count reading"] == 1
    assert grown["request_seconds_count read pages 4xx"] == 1
    assert grown["request_seconds_count change api 4xx"] == 1


def test_a_wrong_clock_of_this_machine_abandons_no_job(watched: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched.writing() as session:
        until = now() + timedelta(minutes=1)
        lease = uuid.uuid4()
        session.add(
            Job(kind=Kind.EVALUATION, key=lease, not_before=until, lease_id=lease, priority=1, created_at=now())
        )
    monkeypatch.setattr(measures, "now", lambda: now() + timedelta(minutes=5), raising=False)
    with watched.client() as prometheus:
        assert measured(prometheus.get("/metrics", headers=ASKING).text)["jobs_abandoned evaluation"] == 0


def test_is_closed_to_everybody_else(embedded_site: Site, embedded: Site) -> None:
    with embedded_site.client() as client:
        assert client.get("/metrics", headers=ASKING | {"Host": "localhost"}).status_code == httpx.codes.NOT_FOUND
    with embedded.client() as client:
        for headers in ({}, {"Authorization": TOKEN}, {"Authorization": "Bearer"}, {"Authorization": "Bearer é"}):
            answer = client.get("/metrics", headers={name: value.encode() for name, value in headers.items()})
            assert answer.status_code == httpx.codes.UNAUTHORIZED
            assert "vocboard_build" not in answer.text


def expressions() -> dict[str, str]:
    """Return what alerts and the dashboard ask, by their names."""
    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    return {
        **{rule["alert"]: rule["expr"] for rule in group["rules"]},
        **{
            f"{panel['title']} {target['refId']}": target["expr"]
            for panel in dashboard["panels"]
            for target in panel["targets"]
        },
    }


def test_alerts_and_the_dashboard_ask_for_what_is_there(embedded: Site) -> None:
    with embedded.client() as prometheus:
        text = prometheus.get("/metrics", headers=ASKING).text
    there = set[str]()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        there |= {f"{name}_bucket", f"{name}_count", f"{name}_sum"} if kind == "histogram" else {name}
    asked = {name for expression in expressions().values() for name in NAME.findall(expression)}
    assert asked <= there
    forgotten = {name for name in there - asked if not name.endswith("_sum")}
    assert forgotten == {"vocboard_upload_seconds_count"}


def test_the_dashboard_has_a_place_for_each_panel() -> None:
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(places)) == len(places)
    assert max(x for x, _ in places) < 24


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool: install the package prometheus")
def test_prometheus_reads_metrics_rules_and_what_the_dashboard_asks(embedded: Site, tmp_path: Path) -> None:
    def promtool(*arguments: str, given: str | None = None) -> None:
        done = subprocess.run(["promtool", *arguments], input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    with embedded.client() as prometheus:
        promtool("check", "metrics", given=prometheus.get("/metrics", headers=ASKING).text)
    promtool("check", "rules", str(MONITORING / "alerts.yml"))
    asked = [{"record": f"panel:{place}", "expr": one} for place, one in enumerate(expressions().values())]
    (tmp_path / "asked.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": asked}]}))
    promtool("check", "rules", str(tmp_path / "asked.yml"))
    promtool("test", "rules", str(Path(__file__).with_name("alerts_test.yml")))
