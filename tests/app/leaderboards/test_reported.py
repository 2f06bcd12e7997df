"""Baselines and results from papers are shown as reported, without a rank, and change nothing else."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from lxml import html
from sqlalchemy import update

from tests.app.test_ladder import BOARD, Reader, World
from tests.support.browsing import send_form, signed_in
from tests.support.factories import make_token
from tests.support.site import Site
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError
from vocboard.app.leaderboards.models import ReportedKind
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.pages.organise.reported import reports_in
from vocboard.app.participating import publishing
from vocboard.app.submissions.models import Submission

API = f"/api/v1{BOARD}"
PAPER = {
    "kind": "paper",
    "method": "DPM \\ {50%} & co.",
    "reference": "doi:10.1109/TPAMI.2009.167",
    "note": "Table 2",
    "mean": 0.5605,  # between the two first methods
    "per_class": {"car": 0.9},
}
BASELINE = {"kind": "baseline", "method": "=Chance", "mean": 0.01}
PAGE = "/organise/ladder/reported"
# Where they are shown (no number is declared here, so that view is the table); in everything else nothing changes.
# Menus, which offer to hide them, and keys of forms, which are new each time.
VARYING = re.compile(r'<ul class="menu-list".*?</ul>|idempotency_key=[0-9a-f-]+', re.DOTALL)
SHOWING = re.compile(rf"{BOARD}(\?sort=.*|\?view=(table|figures)|\.(csv|json|tex))?|{BOARD}/reported")


@pytest.fixture
def world(embedded_site: Site) -> World:
    with embedded_site.writing() as session:
        return World(session, ladder_step=None, statistics=False)


@pytest.fixture
def organiser(embedded_site: Site, world: World) -> Iterator[httpx.Client]:
    with embedded_site.writing() as session:
        token = make_token(session, world.organiser)
    with embedded_site.client(token) as client:
        yield client


def add(organiser: httpx.Client, given: dict[str, Any]) -> dict[str, Any]:
    answer = organiser.post(f"{API}/reported", json=given)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def rows_of(page: str) -> list[tuple[str, str, str]]:
    """Rank, method and mean of each row of a leaderboard's page."""
    rows = html.fromstring(page).xpath('//table[contains(@class, "board")]/tbody/tr')
    found = []
    for row in rows:
        rank = row.find_class("rank")[0].text_content().strip()
        name = row.find_class("name")[0].xpath("./a|./b")[0].text_content()
        found.append((rank.removesuffix("not ranked"), name, row.find_class("mean")[0].text_content()))
    return found


def test_they_change_no_rank_and_nothing_else_that_anyone_can_see(
    embedded_site: Site, world: World, organiser: httpx.Client
) -> None:
    with embedded_site.writing() as session:
        link = publishing.create_anonymous_link(session, submission_id=world.ids["Worse"], user=world.ada)
        token = make_token(session, world.ada)
    world.ids = {name: world.ids[name] for name in ("First", "Bobs")}  # as good as all
    readers = [
        Reader(embedded_site, world, link),
        Reader(embedded_site, world, link, token=token),
        Reader(embedded_site, world, link, email=world.ada.email),
    ]
    before = [reader.views() for reader in readers]
    json_before = organiser.get(API).json()
    add(organiser, PAPER)
    add(organiser, BASELINE)
    seen = 0
    for reader, views in zip(readers, before, strict=True):
        for path, text in reader.views().items():
            if SHOWING.fullmatch(path.removeprefix("/api/v1")):
                seen += text != views[path]
            else:
                assert VARYING.sub("", text) == VARYING.sub("", views[path]), path
    assert seen >= 5
    json_after = organiser.get(API).json()
    assert [one["method"] for one in json_after.pop("reported")] == [PAPER["method"], "=Chance"]
    assert json_before.pop("reported") == []
    assert json_after == json_before


def test_they_are_below_the_ranked_or_among_them_if_a_reader_asks_for_it(
    embedded_site: Site, organiser: httpx.Client
) -> None:
    add(organiser, BASELINE)
    add(organiser, PAPER)
    with embedded_site.client() as visitor:
        page = visitor.get(BOARD).text
        ranked = [("1", "Better", "56.10"), ("2", "Bobs", "56.02"), ("3", "First", "51.20"), ("4", "Worse", "33.00")]
        paper, chance = ("–", PAPER["method"], "56.05"), ("–", "=Chance", "1")
        assert rows_of(page) == [*ranked, chance, paper]
        assert [link.get("href") for link in html.fromstring(page).xpath('//tr[@class="reported"]//a')] == [
            "https://doi.org/10.1109/TPAMI.2009.167"
        ]
        mixed = [ranked[0], paper, *ranked[1:], chance]
        assert rows_of(visitor.get(f"{BOARD}?reported=among").text) == mixed
        assert rows_of(visitor.get(f"{BOARD}?reported=among&sort=mean").text) == mixed
        # In another order there is no place for them among the others.
        assert rows_of(visitor.get(f"{BOARD}?reported=among&sort=method").text)[-2:] == [chance, paper]


def test_files_mark_them_and_escape_them(embedded_site: Site, organiser: httpx.Client) -> None:
    add(organiser, PAPER)
    add(organiser, BASELINE)
    lines = list(csv.DictReader(io.StringIO(organiser.get(f"{API}.csv").text)))
    assert [(line["rank"], line["kind"]) for line in lines][-3:] == [
        ("4", "scored"),
        ("n/a", "paper"),
        ("n/a", "baseline"),
    ]
    assert lines[-2]["mean"] == "0.5605"
    assert (lines[-2]["car"], lines[-2]["cat"]) == ("0.9", "")
    assert lines[-2]["reference"] == "https://doi.org/10.1109/TPAMI.2009.167"
    assert lines[-1]["method"] == "'=Chance"
    latex = organiser.get(f"{API}.tex").text
    assert r"DPM \textbackslash{} \{50\%\} \& co.$^\dagger$ & 56.05 &" in latex
    assert r"\textbf{90" not in latex, "the best is the best of what was scored here"
    assert latex.count("\\\\\n") == 1 + 4 + 2


def test_a_board_without_submissions_shows_them(embedded_site: Site, world: World, organiser: httpx.Client) -> None:
    with embedded_site.writing() as session:
        for name in ("First", "Worse", "Better"):
            publishing.unpublish(session, submission_id=world.ids[name], user=world.ada)
        publishing.unpublish(session, submission_id=world.ids["Bobs"], user=world.bob)
    add(organiser, BASELINE)
    with embedded_site.client() as visitor:
        page = visitor.get(BOARD).text
    assert rows_of(page) == [("–", "=Chance", "1")]
    assert "No results have been published" in page


def test_what_cannot_be_shown_is_refused(organiser: httpx.Client) -> None:
    for given, field in (
        (PAPER | {"reference": ""}, "reference"),
        (PAPER | {"reference": "javascript:alert(1)"}, "reference"),
        (PAPER | {"method": " "}, "method"),
        (PAPER | {"method": "a\u202eb"}, "method"),
        (PAPER | {"mean": None, "per_class": {}}, "mean"),
        (PAPER | {"mean": 53.7}, "mean"),
        (PAPER | {"per_class": {"ufo": 0.5}}, "per_class"),
        (PAPER | {"per_class": {"car": -0.1}}, "per_class"),
        (PAPER | {"note": "x" * 201}, "note"),
    ):
        answer = organiser.post(f"{API}/reported", json=given)
        assert (answer.status_code, list(answer.json()["fields"])) == (422, [field]), answer.text
    assert organiser.get(f"{API}/reported").json() == []


def test_a_leaderboard_has_few_and_an_archived_challenge_keeps_its_own(
    embedded_site: Site, organiser: httpx.Client
) -> None:
    kept = [add(organiser, BASELINE) for _ in range(50)]
    assert organiser.post(f"{API}/reported", json=BASELINE).status_code == 409
    with embedded_site.writing() as session:
        session.execute(update(Challenge).values(archived_at=now()))
    one = f"{API}/reported/{kept[0]['id']}"
    assert organiser.put(one, json=BASELINE).status_code == 409
    assert organiser.delete(one).status_code == 409
    assert len(organiser.get(f"{API}/reported").json()) == 50


def test_a_result_is_changed_and_removed_only_where_it_is(embedded_site: Site, organiser: httpx.Client) -> None:
    known = add(organiser, BASELINE)
    elsewhere = f"{API.replace('comp1', 'comp2')}/reported/{known['id']}"
    assert organiser.delete(elsewhere).status_code == 404
    one = f"{API}/reported/{known['id']}"
    changed = organiser.put(one, json=PAPER).json()
    assert changed["per_class"] == {"car": 0.9}
    assert organiser.get(f"{API}/reported").json() == [changed]
    assert [organiser.delete(one).status_code for _ in range(2)] == [204, 204]
    assert organiser.get(f"{API}/reported").json() == []
    events = organiser.get("/api/v1/challenges/ladder/log").json()["items"]
    assert [event["action"] for event in events[:3]] == [
        "challenge.remove_reported",
        "challenge.change_reported",
        "challenge.add_reported",
    ]


def test_organisers_paste_a_table_and_change_a_line(embedded_site: Site, world: World) -> None:
    form = {"board": "main/comp1", "kind": "paper", "reference": "10.1000/1", "note": "Table 2"}
    with signed_in(embedded_site, world.organiser.email) as client:
        wrong = send_form(client, PAGE, **form, table="method,mean,car\nA,50.5\n")
        assert wrong.status_code == 422
        assert "Line 2: it has 2 columns, and the first line has 3." in html.fromstring(wrong.text).text_content()
        assert "A,50.5" in wrong.text, "what was typed is kept"
        added = send_form(client, PAGE, **form, table="method\tmean\tcar\r\nA\t50.5\t-\r\nB, second\t\t7\r\n")
        assert added.headers["location"] == f"{PAGE}?done=reported"
        page = html.fromstring(client.get(PAGE).text)
        [_, second] = page.xpath('//a[starts-with(., "Change")]/@href')
        shown = html.fromstring(client.get(second).text).xpath('//textarea[@name="table"]/text()')
        assert shown == ['method,mean,car\n"B, second",,7\n']
        changed = send_form(client, second, kind="baseline", table='method,mean\n"B, third",7.25')
        assert changed.headers["location"] == f"{PAGE}?done=saved"
        with embedded_site.client() as visitor:
            found = visitor.get(f"{API}/reported").json()
        assert [(one["method"], one["mean"], one["per_class"], one["kind"]) for one in found] == [
            ("A", 0.505, {}, "paper"),
            ("B, third", 0.0725, {}, "baseline"),
        ]
        assert send_form(client, PAGE, f"{second}/remove").headers["location"] == f"{PAGE}?done=reported-removed"


@pytest.mark.parametrize(
    ("rules", "table"),
    [
        ({"detail": Detail.CLASSES}, "method,mean,car\nFirst,51.2,51.2"),
        ({"detail": Detail.MEAN}, "method,mean\nFirst,51.2"),
        ({"detail": Detail.CLASSES, "ladder_step": 0.01}, "method,mean\nFirst,51.2"),
    ],
)
def test_a_rehearsal_of_organisers_becomes_a_baseline_with_what_leaderboards_show(
    embedded_site: Site, rules: dict[str, Any], table: str
) -> None:
    with embedded_site.writing() as session:
        world = World(session, **{"ladder_step": None, "statistics": False, **rules})
        val = PhaseRules(competitions=("comp1",))
        add_phase(
            session, challenge=world.challenge, user=world.organiser, key="val", title="Val", rules=val, image_set="val"
        )
        own = Submission.id == world.ids["First"]
        session.execute(update(Submission).where(own).values(is_rehearsal=True, published_at=None))
    with signed_in(embedded_site, world.organiser.email) as client:
        page = html.fromstring(client.get(PAGE).text)
        [link] = page.xpath('//a[starts-with(., "Add First")]/@href')
        [of_board] = page.xpath('//a[starts-with(., "Add First")]/following-sibling::span/text()')
        assert (" on val" in of_board, "Main phase" in of_board) == (False, True), "the image set of the other phase"
        form = html.fromstring(client.get(link).text)
        [lines] = form.xpath('//textarea[@name="table"]/text()')
        assert lines.strip() == table
        [kind, board] = [
            form.xpath(f'//select[@name="{name}"]/option[@selected]/@value')[0] for name in ("kind", "board")
        ]
        added = send_form(client, PAGE, board=board, kind=kind, table=lines)
        assert added.headers["location"] == f"{PAGE}?done=reported"
        other = link.replace(str(world.ids["First"]), str(world.ids["Better"]))
        assert client.get(other).status_code == 404, "of a participant"
    with embedded_site.client() as visitor:
        [found] = visitor.get(f"{API}/reported").json()
    assert (found["method"], found["mean"], found["kind"]) == ("First", 0.512, "baseline")


@pytest.mark.parametrize(
    "table",
    [
        "",
        "method,mean",
        "mean\n1",
        "method,mean,mean\nA,1,2",
        "method,ufo\nA,1",
        "method,mean\nA,101",
        "method,mean\nA,1e1",
        "method,mean\nA,٣",
        'method,mean\n"A,1',
        "method,mean\nA,50,5",
        "method,mean\nA," + "1" * 200_000,
    ],
)
def test_other_tables_are_refused(table: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        reports_in(table, {"car"}, kind=ReportedKind.BASELINE, reference="", note="")
    assert list(refused.value.fields) == ["table"]


def test_all_wrong_lines_of_a_table_are_named() -> None:
    table = "method,mean,ufo\nA,101,2007\nB,50,1\nC,1\nD,x,3"
    with pytest.raises(InvalidInputError) as refused:
        reports_in(table, {"car"}, kind=ReportedKind.BASELINE, reference="", note="")
    assert refused.value.fields["table"] == (
        "Line 1: the leaderboard has no class “ufo”. Line 2: “101” is not a number from 0 to 100, in per cent. "
        "Line 4: it has 2 columns, and the first line has 3. Line 5: “x” is not a number from 0 to 100, in per cent."
    )
    with pytest.raises(InvalidInputError, match=r"And 10 more\.$"):
        reports_in("method,mean\n" + "A\n" * 20, {"car"}, kind=ReportedKind.BASELINE, reference="", note="")
    with pytest.raises(InvalidInputError) as refused:  # one error of each line
        reports_in("method,mean,car\nA,1e1,x\nB,,y", {"car"}, kind=ReportedKind.BASELINE, reference="", note="")
    assert refused.value.fields["table"].count("is not a number") == 2
