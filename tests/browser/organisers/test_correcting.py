"""A year after: the ground truth corrected, submissions evaluated again, and the challenge moved and archived."""

import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.exhibition import cookies_of
from tests.browser.organisers.clicks import Organising
from tests.browser.organisers.conftest import EDITION, PATIENCE, Year
from tests.support.factories import make_organiser, make_token, make_user
from tests.support.life import eventually, make_ready, submit
from tests.support.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

UPLOAD = re.compile("Development kit tree")
REASON = "One object of the last image is a bicycle."


def scored(year: Year, files: dict[str, Path], slug: str) -> str:
    """Make an open challenge with a published result; return the id of its submission."""
    with year.site.writing() as session:
        entrant = make_token(session, make_user(session, name="Eve Entrant"))
    rules: dict[str, Any] = {"slug": slug, "title": f"Road users, {slug}", "edition_file": files["edition"].read_text()}
    with year.site.client(year.token) as organiser, year.site.client(entrant) as client:
        challenge = make_ready(organiser, files["devkit"].read_bytes(), **rules)
        given = {"method_name": "Road method", "training_data": "The sample images.", "publish": "true"}
        made = submit(client, challenge, files["results"].read_bytes(), **given)
        eventually(lambda: client.get(f"/api/v1/submissions/{made['id']}").json()["published_at"])
        return str(made["id"])


def mean_on(page: Page, url: str) -> str:
    """Return the method's mean on a leaderboard, without its interval, which may be computed a moment later."""
    page.goto(url)
    shown = page.get_by_role("row", name=re.compile("Road method")).locator(".mean").first.inner_text()
    return shown.splitlines()[0]


# test_a_rule_is_changed chooses a file in a window, too.
@pytest.mark.parametrize("chosen", [pytest.param("in a window", marks=pytest.mark.long), "dropped"])
def test_the_ground_truth_is_corrected(
    organising: Organising, year: Year, files: dict[str, Path], visitor: Page, chosen: str
) -> None:
    slug = f"corrected-{len(chosen)}"
    scored(year, files, slug)
    page, board = organising.page, f"/challenges/{slug}/leaderboards/comp1"
    before = mean_on(visitor, board)
    with organising.action(f"correct the ground truth, {chosen}", f"/organise/{slug}"):
        organising.fill("Reason for the correction optional", REASON)
        if chosen == "dropped":
            # What has to be confirmed is not scored with before.
            organising.drop_file(files["misspelt"])
            expect(page.get_by_text("Did you mean 'bicycle'?")).to_be_visible(timeout=PATIENCE)
            organising.button("This is correct: score with this version")
        else:
            organising.choose_file(UPLOAD, files["corrected"])
        expect(page.get_by_role("heading", name="Ready to apply")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("row", name=re.compile("Road method"))).to_contain_text(before)
        assert mean_on(visitor, board) == before
        organising.button("Apply")
        expect(page.get_by_role("heading", name="The new results are current")).to_be_visible(timeout=PATIENCE)
    assert mean_on(visitor, board) != before
    expect(visitor.get_by_text(REASON)).to_be_visible()


# What is focused: its name, and whether one sees that it is, within the window and with nothing over it.
FOCUSED = """() => {
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  const [x, y] = [box.x + Math.min(box.width / 2, 20), box.y + Math.min(box.height / 2, 20)];
  const top = document.elementFromPoint(x, y);
  const outline = element.matches(":focus-visible") ? getComputedStyle(element).outlineStyle : "none";
  return {
    name: (element.ariaLabel || element.labels?.[0]?.textContent || element.textContent).trim(),
    seen: element.contains(top) && outline !== "none",
  };
}"""
MAX_STOPS = 60


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until something whose name begins like this has the focus, and is seen to have it."""
    for _ in range(MAX_STOPS):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        focused = page.evaluate(FOCUSED)
        if focused["name"].startswith(name):
            assert focused["seen"], focused
            return
    pytest.fail(f"Tab does not reach {name}")


def correct_by_keyboard(page: Page, tree: Path) -> None:
    """Upload a corrected tree, from the challenge's page on; its report follows."""
    page.wait_for_url("**/challenges/*")
    tab_to(page, "Organise this challenge")
    page.keyboard.press("Enter")
    page.wait_for_url("**/organise/*")
    tab_to(page, "Reason for the correction")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(REASON)
    tab_to(page, "Development kit tree")
    # Enter opens the browser's own window, in which a person chooses by keyboard.
    page.locator("input[type=file]:focus").set_input_files(tree)
    page.wait_for_url("**/rescores/*", timeout=PATIENCE)


def test_the_ground_truth_is_corrected_by_keyboard_alone(
    organising: Organising, year: Year, files: dict[str, Path]
) -> None:
    scored(year, files, "keyboard")
    page, ready = organising.page, organising.page.get_by_role("heading", name="Ready to apply")
    page.goto(f"{year.url}/challenges/keyboard")
    correct_by_keyboard(page, files["corrected"])
    expect(ready).to_be_visible(timeout=PATIENCE)
    tab_to(page, "Apply")
    page.keyboard.press("Tab")  # after the button that applies is the one that does not
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing has changed")).to_be_visible()
    tab_to(page, "Challenge page")
    page.keyboard.press("Enter")
    correct_by_keyboard(page, files["corrected"])
    expect(ready).to_be_visible(timeout=PATIENCE)
    tab_to(page, "Road method")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("listitem").filter(has_text="bicycle: ")).to_be_visible()
    tab_to(page, "Apply", back=True)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The new results are current")).to_be_visible(timeout=PATIENCE)
    tab_to(page, "Road method")


def test_a_rule_is_changed(
    organising: Organising, year: Year, files: dict[str, Path], visitor: Page, tmp_path: Path
) -> None:
    scored(year, files, "rules")
    page, board = organising.page, "/challenges/rules/leaderboards/comp1"
    before = mean_on(visitor, board)
    text = files["edition"].read_text()
    changed, wrong = tmp_path / "changed.toml", tmp_path / "wrong.toml"
    stricter = text.replace("threshold = 0.5", "threshold = 0.95")
    changed.write_text(stricter.replace('interpolation = "area"', 'interpolation = "11-point"'))
    wrong.write_text(changed.read_text().replace(f'name = "{EDITION}"', 'name = "Streets"'))
    with organising.action("refuse a change", "/organise/rules", at_most=5):
        organising.choose_file("Changed edition file", wrong)
        organising.fill("Reason", "Eleven points, as in the text.")
        organising.button("Score by these rules")
        expect(page.get_by_text(f"The name changes from {EDITION} to Streets")).to_be_visible()
    with organising.action("discard a change", "/organise/rules", at_most=5):
        organising.choose_file("Changed edition file", changed)
        organising.fill("Reason", "Eleven points, as in the text.")
        organising.button("Score by these rules")
        expect(page.get_by_role("heading", name="Ready to apply")).to_be_visible(timeout=PATIENCE)
        organising.button("Discard")
        expect(page.get_by_role("heading", name="Nothing has changed")).to_be_visible()
    assert mean_on(visitor, board) == before
    with organising.action("change a rule", "/organise/rules", at_most=5):
        organising.choose_file("Changed edition file", changed)
        organising.fill("Reason", "Eleven points, as in the text.")
        organising.button("Score by these rules")
        expect(page.get_by_role("row", name=re.compile("average precision area 11-point"))).not_to_have_count(0)
        expect(page.get_by_role("heading", name="Ready to apply")).to_be_visible(timeout=PATIENCE)
        assert mean_on(visitor, board) == before
        organising.button("Apply")
        expect(page.get_by_role("heading", name="The new results are current")).to_be_visible(timeout=PATIENCE)
    assert mean_on(visitor, board) != before
    expect(visitor.get_by_text("by changed rules")).to_be_visible()


def test_submissions_are_evaluated_again(organising: Organising, year: Year, files: dict[str, Path]) -> None:
    scored(year, files, "again")
    page = organising.page
    with organising.action("evaluate again", "/organise/again"):
        organising.tab("Submissions")
        organising.link("Road method")
        organising.fill("Reason optional", "The entrant asked for it.")
        organising.button("Evaluate again")
        expect(page.get_by_role("heading", name="Ready to apply")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_text("No score and no rank changes.")).to_be_visible()
        organising.button("Apply")
        expect(page.get_by_role("heading", name="The new results are current")).to_be_visible(timeout=PATIENCE)

    with organising.action("mark as failed", "/organise/again"):
        organising.tab("Submissions")
        organising.link("Road method")
        organising.unfold("Mark as failed")
        organising.fill("Reason", "The disk was full.")
        organising.button("Mark as failed")
        expect(page.locator(".note.bad", has_text="The disk was full.")).to_be_visible()
    with organising.action("evaluate a failed one again", "/organise/again"):
        organising.tab("Submissions")
        organising.link("Road method")
        organising.button("Evaluate again")
        expect(page.locator(".tile.here")).to_be_visible(timeout=PATIENCE)


def test_a_challenge_is_exported_imported_elsewhere_and_archived(
    organising: Organising, year: Year, elsewhere: Site, files: dict[str, Path], visitor: Page, tmp_path: Path
) -> None:
    scored(year, files, "moved")
    mean = mean_on(visitor, "/challenges/moved/leaderboards/comp1")
    export = tmp_path / "moved.vocboard.tar"
    with organising.action("export", "/organise/moved"):
        organising.tab("Set-up", "Export and archive")
        with organising.page.expect_download() as download:
            organising.button("Export challenge")
        download.value.save_as(export)
        assert download.value.suggested_filename == export.name
    with tarfile.open(export) as archive:
        assert any(name.endswith(".parquet") for name in archive.getnames())

    with organising.action("archive", "/organise/moved"):
        organising.tab("Set-up", "Export and archive")
        organising.unfold("Archive challenge")
        organising.button("Archive")
        expect(organising.page.get_by_role("status")).to_contain_text("Challenge archived.")
    visitor.goto("/challenges/moved")
    expect(visitor.locator(".page-head .state.archived")).to_be_visible()
    expect(visitor.get_by_role("link", name="Submit results")).to_have_count(0)

    with elsewhere.writing() as session:
        email = make_organiser(session, name="Ines Elsewhere").email
    organising.page.context.add_cookies(cookies_of(elsewhere, email))
    there = Organising(organising.page, elsewhere.url)
    with there.action("import elsewhere", "/organise"):
        there.link("Import challenge")
        there.choose_file("Export of a challenge", export)
        there.button("Import")
        expect(there.page.get_by_role("status")).to_contain_text("change its visibility in Set-up → Edit.")
        named = there.page.get_by_role("group", name="Organisers on the other server")
        expect(named.get_by_role("row", name=year.organiser.email)).to_contain_text("Invite")
    assert mean_on(there.page, f"{elsewhere.url}/challenges/moved/leaderboards/comp1") == mean
