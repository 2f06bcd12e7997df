"""Pages of statistics and of diagnoses."""

import random
import re
from datetime import timedelta
from typing import Any

import numpy as np
from lxml import html
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.support.browsing import browser_of, signed_in
from tests.support.corrections import correct
from tests.support.factories import make_challenge, make_organiser, make_reported, make_user
from tests.support.own_rules import EDITION_FILE
from tests.support.phases import main_phase, show_board
from tests.support.scored import make_published, make_scored
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.evaluations.models import CompetitionResult, Curve
from vocboard.app.evaluations.visible import VisibleDiagnosis
from vocboard.app.leaderboards.differences import Differences
from vocboard.app.leaderboards.models import (
    BoardDifferences,
    BoardStatistics,
    ReportedKind,
    SubmissionSequence,
)
from vocboard.app.leaderboards.sequences import Change, SequenceStatistics, members
from vocboard.app.leaderboards.statistics import Failure, Interval, MethodStatistics, Statistics, decimals_of, digest_of
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.pages.diagnosis import diagnosis_view
from vocboard.app.pages.rendering import environment

BOARD, REASONS = "/challenges/few/leaderboards/comp1", "/organise/few/statistics"
CHALLENGE = "/challenges/few"
NONE = Statistics(3, 0, 0, 0, {})


def make_board(session: Session, organiser: User, content: dict[str, Any]) -> None:
    """Make a leaderboard with one method, and what workers have stored of its statistics."""
    challenge = make_challenge(session, organiser=organiser, slug="few", statistics=True)
    make_published(session, challenge, organiser, "Method", 0.5)
    entries = show_board(session, challenge, "comp1").rows.entries
    digest = digest_of((entry.result_id for entry in entries), decimals_of(challenge.decimals))
    assert digest is not None
    board = {"challenge_id": challenge.id, "phase_id": main_phase(session, challenge.id).id}
    stored = {**board, "competition": "comp1", "methods_sha256": digest, "version": 1}
    session.add(BoardStatistics(**stored, content=content))


def test_only_organisers_of_the_challenge_are_told_why_there_are_no_intervals(embedded_site: Site) -> None:
    why = "fewer than two images"
    with embedded_site.writing() as session:
        organiser, other = make_organiser(session), make_organiser(session)
        make_board(session, organiser, {**NONE.as_json(), "failure": Failure.TOO_FEW_IMAGES})
        readers = {None: False, other.email: False, organiser.email: True}
    for reader, is_told in readers.items():
        with browser_of(embedded_site, reader) as client:
            page = client.get(BOARD).text
            assert "they could not be computed" in page
            assert why not in page
            assert (f'href="{REASONS}">Why' in page) == is_told
            assert (why in client.get(REASONS, follow_redirects=True).text) == is_told
            statistics = client.get(f"/api/v1{BOARD}").json()["statistics"]
            assert (statistics["is_current"], statistics["is_unavailable"]) == (True, True)


def test_the_organisers_pages_draw_how_the_challenge_has_gone(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="few")
        for weeks, score in enumerate((0.5, 0.51, 0.6)):
            began = now() - timedelta(weeks=60 * weeks)
            times = {"created_at": began, "queued_at": began, "finished_at": began + timedelta(seconds=10**weeks)}
            make_published(session, challenge, organiser, f"Method {weeks}", score, **times)
        paper = {"kind": ReportedKind.PAPER, "reference": "https://doi.org/10.1/2"}
        make_reported(session, challenge, method="DPM", mean=0.337, **paper)
    with signed_in(embedded_site, organiser.email) as client:
        page = html.fromstring(client.get("/organise/few/history").text)
        statistics = html.fromstring(client.get(REASONS).text)
    tiles = [" ".join(tile.text_content().split()) for tile in page.find_class("tile")]
    assert tiles == [
        "3 submissions, 3 published",
        "1 person",
        "10 s median time to a result; 90 % within 100 s",
    ]
    submissions, people = page.xpath("//figure/*[name()='svg']")
    assert submissions.get("aria-label") == "Main phase: 3, at most 1 in 4 weeks. The table below has the numbers."
    assert [len(svg.xpath(".//*[name()='rect']")) for svg in (submissions, people)] == [3, 3]
    assert {"2025", "2026"} <= set(page.xpath("//*[@class='time-axis']/*/text()"))
    numbers = [[cell.text_content() for cell in row.xpath("./td")] for row in page.xpath("//details//tbody/tr")]
    assert [row for row in numbers if any(row)] == [["1", "1", ""], ["1", "", "1"], ["1", "", "1"]]
    [scores] = [
        row for row in statistics.xpath("//tbody/tr") if row.find_class("drawing") and "(comp1)" in row.text_content()
    ]
    assert scores.xpath("./th/a/@href") == [f"{BOARD}?phase=main"]  # without it, of the phase that is current
    assert [cell.text_content() for cell in scores.find_class("number")] == ["3", "51.0", "60.00"]
    assert len(scores.xpath(".//*[name()='rect']")) == 3
    assert "DPM 33.7" in " ".join(scores.text_content().split())  # other leaderboards have neither scores nor this
    counted = [
        row.xpath("string(./th)") + row.xpath("string(./td[2])") for row in page.xpath("//*[@id='durations']/..//tr")
    ]
    assert counted == ["under 10 s1", "10 to 60 s1", "1 to 10 min1"]


def test_a_leaderboard_without_statistics_of_an_earlier_version_shows_none(embedded_site: Site) -> None:
    content = NONE.as_json()
    del content["failure"]
    with embedded_site.writing() as session:
        make_board(session, make_organiser(session), content)
    with embedded_site.client() as client:
        assert "replicates" not in client.get(BOARD).text
        assert client.get(f"/api/v1{BOARD}").json()["statistics"] is None


def test_the_comparison_of_an_entrants_submissions_is_never_of_other_submissions(embedded_site: Site) -> None:
    """It says that it is being computed as soon as there is another one."""
    address = "/organise/few/statistics/comp1"
    with embedded_site.writing() as session:
        organiser, entrant = make_organiser(session), make_user(session)
        challenge = make_challenge(session, organiser=organiser, slug="few", statistics=True)
        for score in (0.5, 0.51, 0.6):
            make_published(session, challenge, entrant, "Method", score, published=False)
        [(sequence_key, sequence)] = members(session, challenge.main_phase.id, competition="comp1").items()
        steps = [Change(-0.01, 0.03, False), Change(-0.02, 0.2, False)]
        results = [one.result_id for one in sequence]
        found = SequenceStatistics(results, steps, Change(0.01, 0.19, True))
        key = {
            "challenge_id": challenge.id,
            "phase_id": challenge.main_phase.id,
            "team_id": sequence_key.team_id,
            "submissions": 3,
            "latest_at": now(),
        }
        content = {"competitions": {sequence_key.stored: found.as_json()}}
        session.add(SubmissionSequence(**key, decimals=4, version=1, is_due=False, content=content))
        challenge_id, email = challenge.id, entrant.email
    with signed_in(embedded_site, organiser.email) as client:
        page = client.get(address, params={"method": str(sequence_key.method_id)}).text
        assert "no single step up does" in page
        assert email in page
        assert "+9.00" in page  # the last step
        [answer] = client.get(f"/api/v1{CHALLENGE}/statistics/comp1").json()["entrants"]
        assert (answer["verdict"], answer["change"]["is_significant"]) == ("gradual", True)
        assert [step["difference"] for step in answer["steps"]] == [None, 0.01, 0.09]
        with embedded_site.writing() as session:
            make_published(session, session.get_one(Challenge, challenge_id), entrant, "Method", 0.7, published=False)
        assert "Being computed" in client.get(address).text
        [answer] = client.get(f"/api/v1{CHALLENGE}/statistics/comp1").json()["entrants"]
        assert (answer["verdict"], answer["change"], len(answer["steps"])) == (None, None, 4)


def test_a_score_that_was_corrected_after_the_freeze_has_no_interval_of_the_one_before(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        given = {"statistics": True, "competitions": ["comp1"], "closes_at": now() - timedelta(hours=1)}
        challenge = make_challenge(session, organiser=organiser, slug="few", **given)
        published = {"published_at": now() - timedelta(hours=2)}
        made = make_published(session, challenge, organiser, "Method", 0.5, **published)
        [entry] = show_board(session, challenge, "comp1").rows.entries
        assert entry.result_id is not None
        of_board = {"challenge_id": challenge.id, "phase_id": made.phase_id, "competition": "comp1"}
        known = {entry.result_id: MethodStatistics(Interval(0.412, 0.623), {}, None, False)}
        content = Statistics(3, 100, 1_000, 0, known).as_json()
        of_results = {"methods_sha256": digest_of(known, 3), "frozen_at": challenge.main_phase.closes_at}
        session.add(BoardStatistics(**of_board, **of_results, version=1, content=content))
    pages = (f"/methods/{made.method_id}", f"/submissions/{made.id}")
    with embedded_site.client() as client:
        assert [text.count("41.2–62.3") for text in (client.get(page).text for page in (BOARD, *pages))] == [1, 1, 1]
        with embedded_site.writing() as session:
            correct(session, challenge, organiser, chance=random.Random(0))
        assert [text.count("41.2–62.3") for text in (client.get(page).text for page in (BOARD, *pages))] == [1, 0, 0]


def test_methods_of_a_frozen_leaderboard_are_not_compared_by_curves_of_other_scores(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        given = {"competitions": ["comp1"], "closes_at": now() - timedelta(hours=1)}
        challenge = make_challenge(session, organiser=organiser, slug="few", **given)
        published = {"positives": 400, "published_at": now() - timedelta(hours=2)}
        made = make_scored(session, challenge, organiser, "Method", score=0.5, **published)

    def drawn() -> int:
        with embedded_site.client() as client:
            page = client.get(f"{BOARD}/compare", params={"method": str(made.id), "class": "car"})
        return len(html.fromstring(page.text).xpath("//svg[@class='curves']"))

    assert drawn() == 1
    with embedded_site.writing() as session:
        correct(session, challenge, organiser, chance=random.Random(0))
        [before] = session.scalars(select(Curve)).all()
        [later] = session.scalars(select(CompetitionResult.id).where(CompetitionResult.id != before.result_id)).all()
        copied = {"class_name": "car", "position": 0, "kind": before.kind, "values": before.values}
        session.add(Curve(result_id=later, **copied))
        session.execute(update(CompetitionResult).values(details={"car": {"positives": 400}}))
    assert drawn() == 0


def test_the_command_for_hard_images_runs_for_own_editions_and_other_image_sets(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        make_challenge(session, organiser=organiser, slug="own", edition="", edition_file=EDITION_FILE)
        kit = make_challenge(session, organiser=organiser, slug="kit")
        add_phase(
            session,
            challenge=kit,
            user=organiser,
            key="practice",
            title="Practice",
            rules=PhaseRules(competitions=("comp1",)),
            image_set="val",
        )
    command = "vocboard compare {} first.tar.gz second.tar.gz --ground-truth TREE --competition comp1 {}--across"
    with signed_in(embedded_site, organiser.email) as client:
        own_page = client.get("/organise/own/statistics/comp1").text
        page = client.get("/organise/kit/statistics/comp1?phase=practice").text
    assert command.format("Harbour.toml", "") in own_page
    assert command.format("VOC2012", "--image-set val ") in page


def test_intervals_are_drawn_on_one_scale_with_round_ends(embedded_site: Site) -> None:
    intervals = {0.5: Interval(0.4, 0.6), 0.7: Interval(0.65, 0.8)}
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="few", statistics=True)
        for score in intervals:
            make_published(session, challenge, organiser, f"Method {score}", score)
        entries = show_board(session, challenge, "comp1").rows.entries
        decimals = decimals_of(challenge.decimals)
        methods = {
            entry.result_id: MethodStatistics(intervals[entry.mean], {}, None, False)
            for entry in entries
            if entry.result_id is not None and entry.mean is not None
        }
        board = {"challenge_id": challenge.id, "phase_id": main_phase(session, challenge.id).id}
        stored = {**board, "competition": "comp1", "version": 1}
        digest = digest_of(methods, decimals)
        content = Statistics(decimals, 100, 1_000, 0, methods).as_json()
        session.add(BoardStatistics(**stored, methods_sha256=digest, content=content))
        submissions = [str(entry.submission_id) for entry in entries]
    with embedded_site.client() as client:
        page = client.get(BOARD).text
        compared = html.fromstring(client.get(f"{BOARD}/compare", params={"method": submissions}).text)
        with embedded_site.writing() as session:
            statistics_id = session.scalars(select(BoardStatistics.id)).one()
            is_shown = np.ones((2, 2), dtype=bool)
            low, high = np.full((2, 2), 0.05), np.full((2, 2), 0.35)
            content = Differences.rounded(list(methods), low, high, is_shown, decimals, is_shown=is_shown).packed()
            session.add(BoardDifferences(statistics_id=statistics_id, class_name="car", content=content))
        forest = html.fromstring(client.get(f"{BOARD}/compare", params={"method": submissions}).text)
    # No difference is known: every row stays, and says why.
    reasons = compared.xpath("//table[contains(@class, 'paired')]/tbody/tr/td/small/text()")
    assert len(reasons) == 1 + len(compared.xpath("//table[@class='compare']/tbody/tr")[1:])
    assert "fewer than ten test images determine the difference" in reasons[0]
    assert all(reasons)
    drawn = [
        [float(number) for number in numbers]
        for numbers in re.findall(r'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]*><circle cx="([\d.]+)%"', page)
    ]
    assert re.findall(r'<text x="([\d.]+)%"[^>]*>(\d+)<', page) == [
        ("0.0", "40"),
        ("25.0", "50"),
        ("50.0", "60"),
        ("75.0", "70"),
        ("100.0", "80"),
    ]
    assert drawn == [[62.5, 100.0, 75.0], [0.0, 50.0, 25.0]], "the best method first"
    assert "65–80" in page
    # The second minus the first, on a scale from -40 to 0 with margins; the other rows stay, and say why.
    rows = forest.xpath("//table[contains(@class, 'paired')]/tbody/tr")
    assert len(rows) == len(reasons)
    [car] = [row for row in rows if row.findtext("th") == "car"]
    assert "".join(car.xpath("td[2]//text()")) == "−20.0 −35 to −5"
    drawing = [
        car.xpath(f"td[1]/svg/{path}")[0] for path in ("line[@class='interval']/@x1", "line[2]/@x2", "circle/@cx")
    ]
    assert drawing == ["14.75%", "85.25%", "50.00%"]


def section(macro: str, found: Any) -> str:
    """Return what a macro of the template says, in one line."""
    text: str = getattr(environment().get_template("diagnosis.html").module, macro)(found)
    return " ".join(text.split())


def test_images_that_show_the_class_count_for_no_other_class() -> None:
    """Of the cat's first four images, two show a cat, whatever else they show; the others show a dog."""
    cat = {"images": 4, "precision": 0.5, "mistaken_for": {"dog": 2}, "none": 0}
    view = diagnosis_view(VisibleDiagnosis({}, {"first_images": {"cat": cat}}), ("cat", "dog"))
    text = section("mistaken", view.mistaken)
    assert re.findall('title="(.*?)"', text) == [
        "cat: 2 of 4 show cat",
        "cat: 2 of 4 show dog instead",
        "cat: 0 of 4 show no class instead",
    ]
    assert "What the top-ranked images of each class really show (row %)." in text


def test_coarse_shares_are_written_in_per_cent() -> None:
    shares = {"objects": {"right": 0.7, "nearly": 0.05, "missed": 0.25}}
    [bars] = diagnosis_view(VisibleDiagnosis(shares, None), ()).shares
    assert [text for _, text in bars.kinds] == ["found 70 %", "nearly found 5 %", "missed 25 %"]


def test_void_is_no_part_of_the_share_of_right_pixels() -> None:
    view = diagnosis_view(VisibleDiagnosis({}, {"pixel_accuracy": 0.75, "confusions": []}), ())
    assert "Without void, 75.0 % of the pixels are right." in section("pixels", view.pixels)
