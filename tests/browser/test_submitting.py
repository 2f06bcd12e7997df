"""The form for results in a real browser: what a wrong archive is told, by drag and drop too."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Exhibition, SignIn
from tests.browser.dropping import drop, drop_files
from tests.support import small_world
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.services import make_tables
from tests.support.site import serving
from vocboard.app.settings import Settings

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

PATIENCE_MS = 60_000


def test_report_on_the_page_is_the_list_of_the_api(page: Page, sign_in: SignIn, tmp_path: Path) -> None:
    archive = small_world.results_archive(
        comp3_det_test_car=["000001 0.9 1 1 50 50", "999999 0.8 1 1 5 5", "000002 0.7 2 2 60", "000003 NaN 1 1 9 9"],
        comp1_cls_test_car=["000001 0.5", "000001 0.25"],
    )
    wrong = tmp_path / "wrong.tar.gz"
    wrong.write_bytes(archive)
    settings = Settings(data_directory=tmp_path / "data")
    make_tables(settings)
    with serving(settings) as site:
        with site.writing() as session:
            challenge = make_challenge(session, edition="VOC2007", competitions=["comp1", "comp3"])
            user = make_user(session)
            token = make_token(session, user)
        with site.client(token) as client:
            answer = client.post(
                f"/api/v1/challenges/{challenge.slug}/submissions",
                data={"method_name": "Wrong"},
                files={"archive": ("wrong.tar.gz", archive)},
            )
        expected = [(item["code"], item["file"], item["line"], item["message"]) for item in answer.json()["problems"]]
        assert len(expected) == 4

        page.goto(site.url)
        sign_in(page, user.email)
        page.goto(f"{site.url}/challenges/{challenge.slug}/submit")
        page.get_by_label("Name", exact=True).fill("Wrong")
        page.get_by_label("Description").fill("Kept as it is typed.")
        page.get_by_label("Result files in one archive").set_input_files(wrong)
        items = page.locator("#report [data-code]")
        expect(items).to_have_count(len(expected), timeout=PATIENCE_MS)
        found = page.evaluate(
            """() => [...document.querySelectorAll("#report [data-code]")].map((item) => [
              item.dataset.code,
              item.dataset.file || null,
              item.dataset.line ? Number(item.dataset.line) : null,
              (item.querySelector(".message") ?? item.closest(".cause").querySelector("h2 .to-do, h3")).textContent,
            ])"""
        )
        assert sorted(map(tuple, found), key=str) == sorted(expected, key=str)
        expect(page.get_by_label("Description")).to_have_value("Kept as it is typed.")
        expect(page.locator("#report")).to_be_focused()
        page.get_by_text("All as text").click()
        expect(page.get_by_role("button", name="Copy")).to_be_visible()
        expect(page.locator("#report-text")).to_contain_text("comp3_det_test_car.txt:2: error:")


def test_a_dropped_file_is_uploaded_and_checked_at_once(page: Page, exhibition: Exhibition, sign_in: SignIn) -> None:
    page.goto(exhibition.url)
    sign_in(page, exhibition.gallery.participant)
    page.goto(f"{exhibition.url}/challenges/voc2007/submit")
    page.get_by_label("Name", exact=True).fill("Dropped")
    drop(page, "notes.tgz", b"not an archive")
    expect(page.locator("#report")).to_contain_text("This is not a tar or zip archive", timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name="Choose the corrected archive")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Dropped")


def test_several_files_or_files_beside_the_form_are_not_taken(
    page: Page, exhibition: Exhibition, sign_in: SignIn
) -> None:
    page.goto(exhibition.url)
    sign_in(page, exhibition.gallery.participant)
    page.goto(f"{exhibition.url}/challenges/voc2007/submit")
    assert drop_files(page, "h1", "results.tar.gz"), "the browser would open it in place of the form"
    expect(page.locator("[data-chosen]")).to_be_hidden()
    drop_files(page, "[data-drop]", "comp3_det_test_car.txt", "comp3_det_test_dog.txt")
    expect(page.locator("#report")).to_contain_text("You dropped 2 files. Pack the files into one archive")
    expect(page.locator("[data-chosen]")).to_be_hidden()
