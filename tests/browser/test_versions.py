"""A second version of a method in a real browser: what changed, where it would be, replacing the first, and citing."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.exhibition import cookies_of
from tests.support import small_world
from tests.support.factories import make_organiser, make_token, make_user
from tests.support.life import eventually, make_small_world, submit
from tests.support.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

BETTER = small_world.results_archive(comp1_cls_test_car=["000001 0.9", "000002 0.8", "000003 0.1", "000004 0.1"])


def test_a_better_version_takes_the_place_of_the_first(laboratory: Site, page: Page, tmp_path: Path) -> None:
    with laboratory.writing() as session:
        organiser = make_token(session, make_organiser(session))
        owner, rival = make_user(session), make_user(session)
        email, tokens = owner.email, [make_token(session, owner), make_token(session, rival)]
    with laboratory.client(organiser) as client:
        challenge = make_small_world(client)
    for token, name in zip(tokens, ("Own", "Rival"), strict=True):
        with laboratory.client(token) as client:
            made = submit(client, challenge, small_world.results_archive(), method_name=name)
            path = f"/api/v1/submissions/{made['id']}"
            eventually(lambda client=client, path=path: client.get(path).json()["state"] == "scored")
            client.post(f"{path}/publish")
    second = tmp_path / "second.tar.gz"
    second.write_bytes(BETTER)

    page.context.add_cookies(cookies_of(laboratory, email))
    page.goto(f"{laboratory.url}/challenges/small-world/submit")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Own")
    page.get_by_label("Result files in one archive").set_input_files(second)
    page.get_by_label("Submit without the missing classes").check(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile("/submissions/"), timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name=re.compile("comp1"))).to_be_visible(timeout=PATIENCE_MS)
    tile = page.locator(".tile.here")
    expect(tile).to_contain_text("Would be 1st of 2")
    change = f"+{100 * (1 - small_world.CAR_AP):.2f}"
    expect(page.get_by_role("list", name="Compared")).to_contain_text(f"{change} since the previous version")
    expect(page.get_by_role("row", name=re.compile("^car"))).to_contain_text(change)

    page.locator("summary", has_text="Replace published result").click()
    expect(page.get_by_text("which is unpublished in the same step")).to_be_visible()
    page.get_by_label(re.compile("comp3")).uncheck()
    page.get_by_role("button", name="Replace published result").click()
    expect(page.get_by_role("status").filter(has_text="taken the place")).to_be_visible()
    expect(tile).to_contain_text("1st of 2")
    with page.expect_download() as download:
        page.get_by_role("group", name="Scores by class").locator("xpath=..").get_by_role("link", name="CSV").click()
    assert "mean,no,1.0000" in download.value.path().read_text()

    page.get_by_role("link", name="Edit description and links").click()
    page.get_by_label("Contributors").fill("Ada Lovelace, Charles Babbage")
    page.get_by_label("Paper").fill("https://papers.example/1")
    page.get_by_label("Private note").fill("with a larger network")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="All versions, and how to cite").click()
    results = page.get_by_role("region", name="Results", exact=True).get_by_role("row")
    expect(results.filter(has_text="comp1")).to_contain_text("100.00")
    expect(results.filter(has_text="comp3")).to_contain_text(f"{100 * small_world.MEAN_AP:.2f}")
    expect(page.locator("#bibtex")).to_contain_text("author = {Ada Lovelace and Charles Babbage}")
    expect(page.get_by_role("link", name="Paper")).to_have_attribute("rel", re.compile("nofollow"))
    expect(page.get_by_text("with a larger network")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    page.go_back()
    page.reload()
    page.get_by_text("Cite", exact=True).click()
    expect(page.locator("#bibtex")).to_be_visible()
    expect(page.get_by_text("with a larger network")).to_have_count(0)
