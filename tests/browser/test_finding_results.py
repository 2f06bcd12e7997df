"""The ways from the list of challenges to a leaderboard and to files of results, and from an error to its help."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Exhibition
from tests.browser.visits import Visit, open_page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]


def test_the_list_of_challenges_and_a_challenge_lead_to_a_leaderboard(page: Page, exhibition: Exhibition) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(exhibition.url)
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Visual object classes 2012"))
    expect(card.get_by_text(re.compile(r"(29|30) days left"))).to_be_visible()
    expect(card).to_contain_text("120 methods")
    leader = card.locator(".leader a").inner_text()
    card.get_by_role("link", name="Detection, trainval").click()
    expect(page.locator(".board tbody tr").first).to_contain_text(leader)

    page.get_by_role("link", name="Visual object classes 2012").click()
    page.get_by_role("link", name="Get the data").click()
    page.get_by_role("link", name="Guide to the program").click()
    expect(page.get_by_role("heading", name="Validate offline")).to_be_in_viewport()
    page.go_back()
    page.get_by_role("link", name="Overview").click()
    cell = page.get_by_role("link", name=re.compile(f"comp3.*{re.escape(leader)}", re.DOTALL))
    box = cell.bounding_box()
    assert box["x"] + box["width"] <= 1024
    cell.click()
    expect(page).to_have_url(re.compile("/leaderboards/comp3$"))


def test_a_result_is_downloaded_in_every_format(page: Page, exhibition: Exhibition) -> None:
    open_page(page, exhibition, Visit("participant", "/submissions/{scored}?competition=comp3"))
    for link in page.locator(".exports a").all():
        with page.expect_download() as download:
            link.click()
        content = download.value.path().read_text()
        start = {"CSV": re.compile(r"\w+,"), "JSON": re.compile(r"[{\[]"), "SVG": re.compile("<svg")}
        assert start[link.inner_text()].match(content), content[:100]
    assert page.locator(".exports a", has_text="SVG").count() == 2  # of scores and of curves


def test_a_leaderboard_is_downloaded_as_csv_in_fractions_and_latex_in_per_cent(
    page: Page, exhibition: Exhibition
) -> None:
    page.goto(f"{exhibition.url}/challenges/voc2012/leaderboards/comp5")
    first, last = (page.locator(".board tbody tr").nth(place) for place in (0, -1))
    mean = first.locator(".mean").inner_text()
    expect(last.locator(".mean")).to_contain_text("*")  # not all classes
    content = {}
    page.locator("summary", has_text="Download").click()
    for name in ("CSV", "LaTeX"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        content[name] = download.value.path().read_text()
    lines = content["CSV"].splitlines()
    assert f"{float(mean) / 100:.4f}" in lines[1]
    assert "no" in lines[-1].split(",")
    assert mean in content["LaTeX"]
    assert "*" in content["LaTeX"]


def test_the_code_of_an_error_leads_to_its_explanation(page: Page, exhibition: Exhibition) -> None:
    open_page(page, exhibition, Visit("participant", "/challenges/voc2007/submit", "Result files in one archive"))
    page.get_by_role("link", name="not_an_archive").click()
    expect(page).to_have_url(re.compile("/docs/problems#not_an_archive$"))
    expect(page.get_by_role("heading", name="not_an_archive")).to_be_in_viewport()
