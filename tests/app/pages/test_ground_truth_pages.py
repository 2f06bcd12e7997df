"""Organisers' pages about versions of ground truth and re-scores, without a worker."""

import re
import uuid
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import make_challenge, make_organiser, make_token, make_truth
from tests.support.phases import main_phase, main_truth
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState, Visibility
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.pages.slopes import LINE, MAX_NAME, TOP, SlopeChart, slope_chart
from vocboard.app.rescores import service
from vocboard.app.rescores.summaries import SHOWN_CHANGES, SHOWN_RANKS, summarise
from vocboard.evaluator.problems import Problem, Severity
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

WARNING = Problem("unknown_class", Severity.WARNING, "'Plum' is not a class of the edition: 12 objects.").as_json()
REPORT: dict[str, Any] = {
    "ground_truth": {"before": 1, "after": 2},
    "evaluator": {"before": "1.0.0", "after": "1.1.0"},
    "competitions": [{"competition": "comp3", "evaluated": 2, "published": 1, "scores_changed": 1, "ranks_changed": 1}],
    "changes": [
        {
            "submission": "00000000-0000-4000-8000-000000000000",
            "method": "Changed <method>",
            "competition": "comp3",
            "published": True,
            "rank": {"before": 2, "after": 1},
            "mean": {"before": 0.5, "after": 0.5123, "change": 0.0123},
            "classes": {"car": {"before": None, "after": 0.25, "change": None}},
        }
    ],
    "failures": [
        {
            "submission": "00000000-0000-4000-8000-000000000000",
            "method": "Lost method",
            "published": True,
            "reason": "It took too long.",
        }
    ],
}


@dataclass(frozen=True)
class World:
    email: str
    challenge: Challenge
    current: GroundTruthVersion


@pytest.fixture
def world(embedded_site: Site) -> World:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        current = main_truth(session, challenge)
        assert current is not None
        return World(organiser.email, challenge, current)


def send(client: httpx.Client, page: str, action: str, **fields: str) -> httpx.Response:
    data = {"csrf_token": token_of(client.get(page)), **fields}
    return client.post(action, data=data, headers=from_here(client))


def add_rescore(site: Site, world: World, state: RescoreState, **given: Any) -> str:
    with site.writing() as session:
        rescore = Rescore(
            challenge_id=world.challenge.id,
            ground_truth_version_id=world.current.id,
            reason="Ten boxes corrected",
            state=state,
            **given,
        )
        session.add(rescore)
        session.flush()
        return f"/organise/{world.challenge.slug}/rescores/{rescore.id}"


def add_version(site: Site, world: World, **given: Any) -> str:
    """Add a version of the ground truth that is not current; return its number."""
    with site.writing() as session:
        challenge = session.merge(world.challenge)
        session.refresh(challenge, ["phases"])
        version = make_truth(session, challenge, current=False)
        for name, value in given.items():
            setattr(version, name, value)
        return str(version.number)


def charted(*rows: tuple[str, int | None, int | None]) -> SlopeChart | None:
    changes = [
        {"competition": "comp3", "method": name, "rank": {"before": old, "after": new}} for name, old, new in rows
    ]
    return slope_chart(summarise({"changes": changes})["shown"]["comp3"]["ranks"])


def test_a_slope_chart_joins_the_places_of_ranks_before_and_after() -> None:
    chart = charted(("A", 3, 1), ("B", 1, 2), ("C", 1, 4), ("Lost", 2, None), ("New", None, 3))
    assert chart is not None
    places = [(one.name, one.before, one.after, one.left, one.right, one.direction) for one in chart.slopes]
    assert places == [
        ("A", 3, 1, TOP + 2 * LINE, TOP, "up"),
        ("B", 1, 2, TOP, TOP + LINE, "down"),
        ("C", 1, 4, TOP + LINE, TOP + 2 * LINE, "down"),
    ]
    assert charted(("A", 1, 1), ("Lost", 2, None)) is None
    many = charted(*(("y" * 40, n, n) for n in range(2, 90)), ("Z", 90, 1), ("B", 1, 90))
    assert many is not None
    assert len(many.slopes) == SHOWN_RANKS
    assert {"Z", "B"} < {one.name for one in many.slopes}
    assert max(len(one.name) for one in many.slopes) == MAX_NAME


def test_a_summary_has_the_first_changes_of_each_competition_and_all_else() -> None:
    [change], count = REPORT["changes"], SHOWN_CHANGES + 20
    changes = [{**change, "method": f"{number}", "competition": "comp4"} for number in range(count)]
    summary = summarise({**REPORT, "changes": [change, *changes]})
    assert summary.keys() == REPORT.keys() - {"changes"} | {"shown"}
    assert summary["shown"]["comp3"] == {
        "changes": [change],
        "more": 0,
        "ranks": [{"method": change["method"], "rank": change["rank"]}],
    }
    assert (summary["shown"]["comp4"]["changes"], summary["shown"]["comp4"]["more"]) == (changes[:SHOWN_CHANGES], 20)


def test_the_report_shows_ranks_scores_and_what_would_be_lost(embedded_site: Site, world: World) -> None:
    page = add_rescore(embedded_site, world, RescoreState.READY, report=REPORT)
    with embedded_site.writing() as session:
        main_phase(session, world.challenge.id).image_set = "val"
    with signed_in(embedded_site, world.email) as client:
        text = client.get(page).text
        assert "2 → 1" in text
        assert re.search(r'class="rank-chart slopes".*Changed &lt;method&gt;.*</svg>', text, re.DOTALL)
        assert "Changed &lt;method&gt;" in text
        assert "Detection on val, " in text
        for written in ("50.00", "51.23", "+1.23", "n/a → 25.00", "Lost method", "It took too long."):
            assert written in text, written
        assert "version 1 → 2" in text
        assert re.search(rf'action="{page}/discard">.*?>Discard</button></form>', text)
        assert "vocboard 1.0.0 → 1.1.0" in text
        discarded = send(client, page, f"{page}/discard")
        assert discarded.headers["location"] == f"{page}?done=discarded"
        assert "Nothing has changed" in client.get(page).text
        assert send(client, page, f"{page}/apply").status_code == 409


def test_the_reason_can_be_changed_when_a_rescore_is_applied(
    embedded_site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_WAIT", timedelta(0))  # there is no worker
    page = add_rescore(embedded_site, world, RescoreState.READY, report=REPORT)
    with signed_in(embedded_site, world.email) as client:
        assert re.search(r'<input id="reason"[^>]* value="Ten boxes corrected">', client.get(page).text)
        assert "also while they are anonymous: name nobody." in client.get(page).text
        refused = send(client, page, f"{page}/apply", reason="x" * 2001)
        assert refused.status_code == 422
        assert "Reason: Use at most 2000 characters" in refused.text
        assert f'value="{"x" * 2001}"' in refused.text
        assert send(client, page, f"{page}/apply", reason="Eleven boxes <corrected>").status_code == 303
        assert "<p>Eleven boxes &lt;corrected&gt;</p>" in client.get(page).text
        log = client.get(f"/organise/{world.challenge.slug}/log").text
    assert "asked for a re-score to be applied: “Eleven boxes &lt;corrected&gt;”" in log


def test_what_needs_attention_is_applied_only_with_the_name_of_the_challenge(
    embedded_site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over REST as on the page, whose form keeps the reason that was typed."""
    monkeypatch.setattr(service, "MAX_WAIT", timedelta(0))
    with embedded_site.writing() as session:
        token = make_token(session, session.query(User).filter_by(email=world.email).one())
    pages = [
        add_rescore(embedded_site, world, RescoreState.READY, report={**REPORT, "lost_published": 1}) for _ in range(2)
    ]
    with signed_in(embedded_site, world.email) as client:
        assert "Needs attention" in client.get(pages[0]).text
        assert client.get(f"/organise/{world.challenge.slug}").text.count("Needs attention") == len(pages)
        for wrong in ({}, {"confirm": "another-challenge"}):
            refused = send(client, pages[0], f"{pages[0]}/apply", reason="Typed", **wrong)
            assert refused.status_code == 409
            assert "1 published submission would lose results" in refused.text
            assert '<input id="reason" name="reason"' in refused.text
            assert 'value="Typed"' in refused.text
        applied = send(client, pages[0], f"{pages[0]}/apply", reason="Typed", confirm=f" {world.challenge.slug} ")
        assert applied.status_code == 303
    address = pages[1].rpartition("/")[2]
    with embedded_site.client(token) as client:
        found = client.get(f"/api/v1/rescores/{address}").json()
        assert found["attention"] == ["1 published submission would lose results, and leave the leaderboards."]
        for body in (None, {}, {"confirm": "another-challenge"}):
            refused = client.post(f"/api/v1/rescores/{address}/apply", json=body)
            assert (refused.status_code, refused.json()["code"]) == (409, "confirmation_required")
        confirmed = client.post(f"/api/v1/rescores/{address}/apply", json={"confirm": world.challenge.slug})
    assert (confirmed.status_code, confirmed.json()["apply_requested"]) == (200, True), confirmed.text


@pytest.mark.parametrize("state", list(RescoreState))
def test_every_page_of_a_rescore_says_which_version_is_current(
    embedded_site: Site, world: World, state: RescoreState
) -> None:
    given = {} if state is RescoreState.RUNNING else {"report": REPORT, "failure": "No.", "finished_at": now()}
    page = add_rescore(embedded_site, world, state, **given)
    with signed_in(embedded_site, world.email) as client:
        assert f"Version {world.current.number} is current" in client.get(page).text
        listed = client.get(f"/organise/{world.challenge.slug}").text
        assert f"are scored with <strong>version {world.current.number}</strong>" in listed


def test_a_running_one_is_followed_with_and_without_a_script(embedded_site: Site, world: World) -> None:
    page = add_rescore(embedded_site, world, RescoreState.RUNNING)
    with signed_in(embedded_site, world.email) as client:
        text = client.get(page).text
        assert '<noscript><meta http-equiv="refresh"' in text
        assert re.search(r'data-rescore="/api/v1/rescores/[^"]+/events"', text)
        assert "Cancel" in text
        assert client.get(page.replace(world.challenge.slug, "another")).status_code == 404


def test_a_rescore_needs_a_reason_and_is_started_once(embedded_site: Site, world: World) -> None:
    page = f"/organise/{world.challenge.slug}"
    number = str(world.current.number)
    with signed_in(embedded_site, world.email) as client:
        refused = send(client, page, f"{page}/rescores", ground_truth_version=number, reason=" ")
        assert refused.status_code == 422
        assert "Reason: Required." in refused.text
        started = send(client, page, f"{page}/rescores", ground_truth_version=number, reason="New evaluator")
        assert re.fullmatch(f"{page}/rescores/[0-9a-f-]+", started.headers["location"])
        again = send(client, page, f"{page}/rescores", ground_truth_version=number, reason="New evaluator")
        assert again.status_code == 409
        assert "A re-score is running" in client.get(page).text


def test_warnings_are_shown_and_confirmed(embedded_site: Site, world: World) -> None:
    page = f"/organise/{world.challenge.slug}"
    number = add_version(embedded_site, world, warnings=[WARNING])
    with signed_in(embedded_site, world.email) as client:
        text = client.get(page).text
        assert "&#39;Plum&#39; is not a class of the edition" in text
        assert f"scored with <strong>version {world.current.number}</strong>" in text
        assert "To be confirmed" in text
        assert "/docs/problems" not in text  # which explains the problems of uploads only
        both = {"ground_truth_version": number, "confirm_warnings": "true"}
        refused = send(client, page, f"{page}/rescores", **both, reason=" ")
        assert (refused.status_code, "1 confirmed warning" in client.get(page).text) == (422, False)
        confirmed = send(client, page, f"{page}/ground-truth/{number}/confirm")
        assert confirmed.headers["location"] == f"{page}?done=truth-confirmed"
        assert "1 confirmed warning" in client.get(page).text


def test_nobody_is_asked_about_a_version_that_a_newer_one_has_replaced(embedded_site: Site, world: World) -> None:
    page = f"/organise/{world.challenge.slug}"
    add_version(embedded_site, world, warnings=[WARNING])
    with signed_in(embedded_site, world.email) as client:
        assert "Please check: 1 warning" in client.get(page).text
        with embedded_site.writing() as session:
            make_truth(session, session.merge(world.challenge))
        text = client.get(page).text
        assert "Please check" not in text
        assert "1 warning, not confirmed" in text
        with embedded_site.writing() as session:
            session.get_one(Challenge, world.challenge.id).archived_at = now()
        assert "This is correct" not in client.get(page).text


def test_warnings_are_confirmed_and_scored_with_in_one_step(embedded_site: Site, world: World) -> None:
    page = f"/organise/{world.challenge.slug}"
    number = add_version(embedded_site, world, warnings=[WARNING])
    with signed_in(embedded_site, world.email) as client:
        both = {"ground_truth_version": number, "confirm_warnings": "true"}
        started = send(client, page, f"{page}/rescores", **both, reason="Ten boxes corrected")
        assert started.headers["location"].startswith(f"{page}/rescores/")
        assert "1 confirmed warning" in client.get(page).text


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (TruthState.READY, ": until then, the results of the other server count."),
        (TruthState.ELSEWHERE, "Nobody can submit without it."),
    ],
)
def test_ground_truth_of_an_imported_challenge_has_to_be_scored_with(
    embedded_site: Site, world: World, state: TruthState, said: str
) -> None:
    page = f"/organise/{world.challenge.slug}"
    with embedded_site.writing() as session:
        challenge = session.merge(world.challenge)
        make_published(session, challenge, session.scalars(select(User)).one(), "Imported", 0.5)
        session.merge(world.current).state = state
        challenge.imported_at, challenge.main_phase.current_scoring_id, challenge.visibility = (
            now(),
            None,
            Visibility.DRAFT,
        )
    with signed_in(embedded_site, world.email) as client:
        text = client.get(page).text
    assert "A worker makes" not in text
    assert "data-unfinished" not in text  # what would make the page load again and again
    assert said in text


def test_a_failed_version_is_collapsed_and_can_be_removed(embedded_site: Site, world: World) -> None:
    page = f"/organise/{world.challenge.slug}"
    problem = Problem("bad_annotation", Severity.ERROR, "is not well-formed XML").as_json()
    failed = {"state": TruthState.FAILED, "file_name": "broken.tar.gz", "problems": [problem, WARNING]}
    number = add_version(embedded_site, world, **failed)
    with signed_in(embedded_site, world.email) as client:
        text = client.get(page).text
        assert re.search(r"<details[^>]*>\s*<summary>[^<]*broken\.tar\.gz", text)
        kinds = re.findall(r'data-kind="(\w+)".*?class="message">(.*?)</span>', text, re.DOTALL)
        assert [kind for kind, _ in kinds] == ["error", "warning"]
        assert "Plum" in kinds[1][1]
        removed = send(client, page, f"{page}/ground-truth/{number}/remove")
        assert removed.headers["location"] == f"{page}?done=truth-removed"
        assert "broken.tar.gz" not in client.get(page).text
        assert send(client, page, f"{page}/ground-truth/{world.current.number}/remove").status_code == 409


def test_competitions_without_ground_truth_are_named_and_removed(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        version = make_truth(session, challenge, current=False)
        version.competitions = ["comp1"]
        version.summary = {"detection/test": {"images": 3, "missing": "its images have no Annotations"}}
        page, number, email = f"/organise/{challenge.slug}", version.number, organiser.email
    with signed_in(embedded_site, email) as client:
        text = client.get(page).text
        assert "comp3: its images have no Annotations" in text
        assert "so nobody can submit yet" in text
        assert "Incomplete" in text
        assert f"Version {number} cannot score all competitions." in text
        removed = send(client, page, f"{page}/ground-truth/{number}/remove-competitions")
        assert removed.headers["location"] == f"{page}?done=competitions-removed"
        assert "comp3: its images" not in client.get(page).text


INSTANCES = Path(__file__).parents[3] / "docs" / "editions" / "examples" / "instances.toml"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"competitions": ["comp3"]}, ["VOC2012/ImageSets", "Annotations"]),
        ({"competitions": ["comp3", "comp5"]}, ["VOC2012/ImageSets", "Annotations", "SegmentationClass"]),
        (
            {"competitions": ["comp1"], "edition": "", "edition_file": INSTANCES.read_text()},
            ["Instances/ImageSets", "SegmentationClass", "SegmentationObject"],
        ),
    ],
    ids=["detection", "detection and segmentation", "instance segmentation"],
)
def test_the_upload_form_names_the_folders_that_the_challenge_needs(
    embedded_site: Site, given: dict[str, Any], expected: list[str]
) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False, **given)
        email, page = organiser.email, f"/organise/{challenge.slug}"
    with signed_in(embedded_site, email) as client:
        hint = re.search(r"An archive with (.*?);", client.get(page).text)
    assert hint
    assert re.findall(r"<code>(.*?)</code>", hint[1]) == expected


def test_competitions_of_a_phase_are_removed_on_the_same_page(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        add_phase(
            session,
            challenge=challenge,
            user=organiser,
            key="final",
            title="Final",
            rules=PhaseRules(competitions=("comp1", "comp3")),
            has_own_truth=True,
        )
        version = make_truth(session, challenge, current=False)
        version.phase_id, version.competitions = challenge.phase_row("final").id, ["comp1"]
        page, number, email = f"/organise/{challenge.slug}", version.number, organiser.email
    with signed_in(embedded_site, email) as client:
        text = client.get(page).text
        assert "cannot score 1 competition of Final, so nobody can submit yet" in text
        assert "Remove comp3 from Final" in text
        assert ("Still to do" in text, "Before you open" in text) == (True, False), "it is public"
        send(client, page, f"{page}/ground-truth/{number}/remove-competitions")
        assert "Remove comp3" not in client.get(page).text


@pytest.mark.parametrize("rehearses", [False, True])
def test_phases_that_share_ground_truth_follow_the_same_version(
    embedded_site: Site, world: World, rehearses: bool
) -> None:
    with embedded_site.writing() as session:
        challenge = session.merge(world.challenge)
        organiser = session.scalars(select(User).where(User.email == world.email)).one()
        rules = PhaseRules(competitions=("comp1",))
        add_phase(session, challenge=challenge, user=organiser, key="final", title="Final", rules=rules)
        if rehearses:
            make_published(session, challenge, organiser, "Baseline", 0.5, published=False, is_rehearsal=True)
    with signed_in(embedded_site, world.email) as client:
        text = client.get(f"/organise/{world.challenge.slug}").text
    told = re.findall(r"<p>((?:Nobody has submitted yet\. )?Submissions.*?)</p>", text)
    assert len(told) == 1
    assert "Submissions to Main phase and Final are scored with" in told[0]
    assert ("becomes current by itself" in told[0], "until you score with it" in told[0]) == (not rehearses, rehearses)


def test_images_and_objects_are_shown_by_class_with_the_sets_side_by_side(embedded_site: Site, world: World) -> None:
    def numbers(images: int) -> dict[str, Any]:
        counts = {"images": images, "objects": 2 * images, "difficult": 1, "truncated": 0}
        return {"images": images, "classes": {"car": counts, "Total": counts}}

    with embedded_site.writing() as session:
        version = session.get_one(GroundTruthVersion, world.current.id)
        version.summary = {
            "detection/test": numbers(4952),
            "segmentation/test": {"images": 210, "missing": "there are no maps"},
            "detection/train": numbers(2501),
            "detection/val": numbers(2510),
        }
    with signed_in(embedded_site, world.email) as client:
        text = client.get(f"/organise/{world.challenge.slug}").text
    assert "segmentation" in text.lower()
    assert "Cannot be scored: there are no maps" in text
    sets = re.findall(r'<th scope="colgroup" colspan="4">(\w+)</th>', text)
    assert sets == ["train", "val", "test"]
    row = re.search(r'<tr><th scope="row">car</th>(.*?)</tr>', text)
    assert re.findall("<td>(.*?)</td>", row[1].replace("\u2009", ",")) == [
        *("2,501", "5,002", "1", "0"),
        *("2,510", "5,020", "1", "0"),
        *("4,952", "9,904", "1", "0"),
    ]


def test_an_upload_with_a_reason_leads_to_its_rescore(embedded_site: Site, world: World, tmp_path: Path) -> None:
    GroundTruthDirectory(embedded_site.settings).private_key()  # a worker has started
    page = f"/organise/{world.challenge.slug}"

    def upload(client: httpx.Client, **fields: str) -> httpx.Response:
        token = token_of(client.get(page))
        return client.post(
            f"{page}/ground-truth?phase=main",
            data={"csrf_token": token, **fields},
            files={"archive": ("tree.tar", b"tree")},
            headers=from_here(client),
        )

    with signed_in(embedded_site, world.email) as client:
        assert "Reason for the correction" not in client.get(page).text
        assert upload(client, reason="Nobody has submitted").headers["location"] == f"{page}?done=truth"
        with embedded_site.writing() as session:
            make_published(session, session.merge(world.challenge), make_organiser(session), "Method", 0.5)
        assert "leaderboards show the reason, also while they are anonymous: name nobody." in client.get(page).text
        refused = upload(client, reason="x" * 2001)
        assert (refused.status_code, "Use at most 2000 characters; this has 2001" in refused.text) == (422, True)
        assert "The edition was not changed" not in refused.text
        rescore_page = upload(client, reason="Ten boxes").headers["location"]
        assert rescore_page.startswith(f"{page}/rescores/")
        assert "of the ground truth first" in client.get(rescore_page).text
        assert "Reason for the correction" not in client.get(page).text
        assert upload(client, reason="Ten more").status_code == 409
        with embedded_site.writing() as session:
            assert session.scalar(select(func.count()).select_from(GroundTruthVersion)) == 3  # those refused left none

        rescore_id = uuid.UUID(rescore_page.rsplit("/", 1)[1])
        with embedded_site.writing() as session:
            rescore = session.get_one(Rescore, rescore_id)
            rescore.state, rescore.failure = RescoreState.FAILED, "Version 3 has warnings."
            version = session.get_one(GroundTruthVersion, rescore.ground_truth_version_id)
            version.state, version.warnings = TruthState.READY, [WARNING]
            version.competitions = list(world.current.competitions or ())
        text = client.get(rescore_page).text
        assert "Check the warnings first" in text
        assert "&#39;Plum&#39; is not a class of the edition" in text
        assert 'name="reason" value="Ten boxes"' in text
        of_list = client.get(page).text.split('id="rescores"')[1]
        assert "To be confirmed" in of_list
        assert "Failed" not in of_list.split("</table>")[0]
        with embedded_site.writing() as session:
            version = session.get_one(GroundTruthVersion, version.id)
            version.state, version.problems = TruthState.FAILED, [{**WARNING, "severity": "error"}]
        assert "The ground truth could not be read" in client.get(rescore_page).text
