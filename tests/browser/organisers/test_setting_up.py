"""From an edition file to an open challenge, with the mistakes that happen on the way."""

import asyncio
import re
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.exhibition import cookies_of
from tests.browser.organisers.clicks import Organising
from tests.browser.organisers.conftest import EDITION, PATIENCE, Year
from tests.support.factories import make_challenge, make_organiser
from tests.support.site import Site
from vocboard.app.challenges.models import Visibility
from vocboard.app.pages.organise import files

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

UPLOAD = re.compile(f"Development kit tree, {EDITION}")


def test_nothing_is_suggested_where_a_url_name_is_being_typed(page: Page, organising: Organising, year: Year) -> None:
    scripts: list[Route] = []
    page.route("**/js/url-name*", lambda route: scripts.append(route), times=1)  # noqa: PLW0108  # Playwright marks handlers
    with page.expect_request("**/js/url-name*"):
        page.goto(f"{year.url}/organise/new", wait_until="commit")
    organising.fill("Title", "Road users")
    name = page.get_by_label("URL name")
    name.focus()
    scripts.pop().continue_()
    page.wait_for_load_state()  # the script has run
    name.press_sequentially("roads")
    expect(name).to_have_value("roads")


def test_cancelling_does_not_deny_what_the_server_has_taken(
    elsewhere: Site, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_taken, answers, take_file = Event(), Event(), files.take_file

    async def taken(*given: Any, **more: Any) -> None:
        await take_file(*given, **more)
        has_taken.set()
        await asyncio.to_thread(answers.wait, PATIENCE / 1000)

    monkeypatch.setattr(files, "take_file", taken)
    with elsewhere.writing() as session:
        organiser = make_organiser(session)
        slug, email = make_challenge(session, organiser=organiser).slug, organiser.email
    page.context.add_cookies(cookies_of(elsewhere, email))
    page.goto(f"{elsewhere.url}/organise/{slug}/files")
    (tmp_path / "kit.txt").write_text("kit")
    page.get_by_label("File", exact=True).set_input_files(tmp_path / "kit.txt")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-progress-text]")).to_contain_text("Upload complete")
    assert has_taken.wait(PATIENCE / 1000)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#report")).to_contain_text("The server may have taken it")
    answers.set()
    page.reload()
    expect(page.get_by_role("link", name="kit.txt")).to_be_visible()


def test_another_tree_takes_the_place_of_one_that_is_being_uploaded(
    elsewhere: Site, page: Page, tmp_path: Path
) -> None:
    with elsewhere.writing() as session:
        organiser = make_organiser(session)
        slug, email = make_challenge(session, organiser=organiser).slug, organiser.email
    page.context.add_cookies(cookies_of(elsewhere, email))
    page.goto(f"{elsewhere.url}/organise/{slug}")
    page.route("**/ground-truth?*", lambda _: None)  # without an answer
    for name in ("wrong.tar", "right.tar"):
        (tmp_path / name).write_text(name)
        with page.expect_request("**/ground-truth?*"):
            page.get_by_label("Development kit tree").set_input_files(tmp_path / name)
        expect(page.locator("[data-chosen]")).to_contain_text(name)


def test_a_custom_edition_from_draft_to_open(
    organising: Organising, year: Year, files: dict[str, Path], visitor: Page
) -> None:
    page = organising.page
    with organising.action("custom edition", "/organise"):
        scripts: list[Route] = []
        page.route("**/js/url-name*", lambda route: scripts.append(route), times=1)  # noqa: PLW0108  # Playwright marks handlers
        with page.expect_request("**/js/url-name*"):
            organising.link("New challenge")
        organising.fill("Title", "Röad users – 2027!")  # before the script is there
        scripts.pop().continue_()
        expect(page.get_by_label("URL name")).to_have_value("road-users-2027")
        organising.fill("URL name", "roads")
        organising.fill("Title", "Road users")
        expect(page.get_by_label("URL name")).to_have_value("roads")
        organising.choose_file(re.compile("Your own edition file"), files["edition"])
        organising.button("Create challenge")
        expect(page.get_by_role("heading", name="Road users")).to_be_visible()
        expect(page.get_by_text(f"{EDITION}, your own")).to_be_visible()
        expect(page.get_by_text("2 required steps left.")).to_be_visible()

    with organising.action("faulty ground truth", "/organise/roads"):
        organising.choose_file(UPLOAD, files["faulty"])
        expect(page.get_by_text("The ground truth could not be read.")).to_be_visible(timeout=PATIENCE)
        listed = page.locator(".problems .message")
        expect(listed).to_have_count(2)
        expect(listed.nth(0)).to_contain_text("is not well-formed XML")
        expect(listed.nth(1)).to_contain_text("<xmax> is 'a212', expected a number")

    with organising.action("ground truth", "/organise/roads"):
        organising.choose_file(UPLOAD, files["devkit"])
        expect(page.locator(".state.open", has_text="Current")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_text("1 required step left.")).to_be_visible()
        expect(page.locator(".page-head .state")).to_have_text(["Draft"])

    with organising.action("rehearsal", "/challenges/roads"):
        organising.link("Rehearse", within=page.locator(".head-row"))
        organising.choose_file("Result files in one archive", files["results"])
        organising.fill("Name", "Sample method")
        organising.fill("Training data statement optional", "The sample images.")
        organising.button("Submit")
        expect(page.locator(".tile.here")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_text("No leaderboard shows it.")).to_be_visible()

    visitor.goto("/challenges/roads")
    expect(visitor.get_by_role("heading", name="Not found")).to_be_visible()
    with organising.action("open", "/organise/roads"):
        organising.unfold("Open challenge")
        organising.button("Open challenge")
        expect(page.locator(".page-head .state.open")).to_be_visible()
    visitor.goto("/challenges/roads")
    expect(visitor.get_by_role("link", name="Submit results")).to_be_visible()
    visitor.goto("/challenges/roads/leaderboards/comp1")
    expect(visitor.get_by_text("No results have been published for comp1 yet.")).to_be_visible()


def test_a_draft_is_deleted(organising: Organising, year: Year) -> None:
    with year.site.writing() as session:
        draft = make_challenge(
            session,
            organiser=year.organiser,
            title="Second thoughts",
            slug="thoughts",
            visibility=Visibility.DRAFT,
            ready=False,
        )
    with organising.action("delete a draft", f"/organise/{draft.slug}"):
        organising.tab("Set-up", "Export and archive")
        organising.unfold("Delete draft")
        organising.button("Delete permanently")
        expect(organising.page.get_by_role("status")).to_have_text("Draft deleted.")
        expect(organising.page.get_by_text("Second thoughts")).to_have_count(0)
