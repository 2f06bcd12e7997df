"""From registration to the leaderboard in a real browser, with a real server and a real worker."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS
from tests.support import factories, small_world
from tests.support.mail import link_in, read
from tests.support.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

PASSWORD = "a dozen words in a row"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "devkit": small_world.ground_truth_archive(),
        "results": small_world.results_archive(),
        "wrong": small_world.results_archive(comp3_det_test_dog=["000003 0.5 5 5 40 40", "999999 nan 5 5 40"]),
    }
    paths = {}
    for name, content in contents.items():
        paths[name] = tmp_path / f"{name}.tar.gz"
        paths[name].write_bytes(content)
    return paths


@pytest.mark.smoke
def test_from_registration_to_the_leaderboard(
    laboratory: Site, organiser: str, page: Page, files: dict[str, Path]
) -> None:
    page.goto(laboratory.url)
    sign_in(page, organiser)
    set_up_challenge(page, files["devkit"])
    page.get_by_role("button", name="Sign out").click()

    register(page, laboratory)
    submit(page, files)
    follow_to_the_scores(page)

    board = f"{laboratory.url}/challenges/small-world/leaderboards/comp3"
    address = page.url
    page.goto(board)
    expect(page.get_by_text("No results have been published for comp3 yet.")).to_be_visible()
    page.goto(address)
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status").filter(has_text="Published.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()

    page.goto(board)
    row = page.get_by_role("row", name=re.compile("Small detector"))
    expect(row.locator(".mean")).to_have_text(re.compile(f"{100 * small_world.MEAN_AP:.2f}"))
    expect(row).to_contain_text(f"{100 * small_world.CAR_AP:.2f}")
    row.get_by_role("link", name="Small detector").click()
    expect(page.get_by_role("heading", name="Small detector")).to_be_visible()
    expect(page.get_by_role("button", name="Unpublish")).to_have_count(0)


def sign_in(page: Page, email: str) -> None:
    page.get_by_role("link", name="Sign in").first.click()
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Account").wait_for()


def unfold(page: Page, field: str) -> None:
    """Open the part of the set-up with a field."""
    page.locator("details", has=page.locator(f"[name={field}]")).locator("summary").first.click()


def set_up_challenge(page: Page, devkit: Path) -> None:
    page.get_by_role("link", name="Organise").click()
    page.get_by_role("link", name="New challenge").first.click()
    page.get_by_label("Title").fill("A small world")
    page.get_by_label("URL name").fill("small-world")
    page.get_by_label("Edition", exact=True).select_option("VOC2007")
    page.get_by_role("button", name="Create challenge").click()
    expect(page.get_by_role("heading", name="A small world")).to_be_visible()
    page.get_by_role("link", name=re.compile("Edit")).first.click()
    unfold(page, "competitions")
    for competition in ("comp2", "comp4", "comp5", "comp6", "comp7", "comp8"):
        page.locator(f"input[name=competitions][value={competition}]").uncheck()
    page.get_by_role("button", name="Save competitions").click()
    unfold(page, "decimals")
    page.get_by_label("Decimals of scores").fill("4")
    page.get_by_role("button", name="Save rules").click()
    unfold(page, "visibility")
    page.locator("input[name=visibility][value=public]").check()
    page.get_by_role("button", name="Save who can see it").click()
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("Nobody can submit until")).to_be_visible()
    page.get_by_label(re.compile("Development kit tree")).set_input_files(devkit)
    expect(page.get_by_text("Ground truth uploaded and encrypted.")).to_be_visible(timeout=PATIENCE_MS)
    # The page follows the import by itself.
    expect(page.get_by_text("To be confirmed")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="This is correct: confirm").click()  # most classes have no positives
    expect(page.locator(".page-head .state.open")).to_be_visible(timeout=PATIENCE_MS)


def register(page: Page, laboratory: Site) -> None:
    """Register, and follow the link in the email, which signs in."""
    page.get_by_role("link", name="Register").first.click()
    page.get_by_label("Email address").fill("ada@lab.example")
    page.get_by_label("Name", exact=True).fill("Ada Newcomer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page).to_have_url(re.compile("/register/sent$"))
    link = link_in(first_mail(laboratory))
    page.goto(link.replace(laboratory.settings.public_url, laboratory.url))  # the site is at a port of its own
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def first_mail(laboratory: Site) -> str:
    """Wait until the worker has sent an email, which the embedded set-up writes into a file."""
    directory = laboratory.settings.mail_directory
    assert directory is not None
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not (directory.is_dir() and read(directory)):
        assert time.monotonic() < deadline, "no email was sent"
        time.sleep(0.1)
    return str(read(directory)[0].get_content())


def submit(page: Page, files: dict[str, Path]) -> None:
    """First a wrong archive, then, in the same form without typing anything again, the right one."""
    page.get_by_role("link", name="A small world").click()
    page.get_by_role("link", name="Submit results").click()
    page.get_by_label("Name", exact=True).fill("Small detector")
    page.get_by_label("Result files in one archive").set_input_files(files["wrong"])
    report = page.locator("#report")
    expect(report.get_by_role("heading", name="No quota was used")).to_be_visible(timeout=PATIENCE_MS)
    expect(report).to_contain_text("comp3_det_test_dog.txt")
    expect(report.locator('[data-line="2"]')).not_to_have_count(0)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Small detector")

    page.get_by_label("Result files in one archive").set_input_files(files["results"])
    page.get_by_label("Submit without the missing classes").check(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile("/submissions/"), timeout=PATIENCE_MS)


def follow_to_the_scores(page: Page) -> None:
    """The page follows the evaluation without being reloaded by hand."""
    expect(page.get_by_role("heading", name="Small detector")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("comp1"))).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("navigation", name="Competitions").get_by_role("link", name=re.compile("comp3")).click()
    expect(page.locator(".tile.here")).to_contain_text(f"{100 * small_world.MEAN_AP:.2f}")
    expect(page.get_by_role("row", name=re.compile("^car"))).to_contain_text(f"{100 * small_world.CAR_AP:.2f}")
    expect(page.get_by_role("row", name=re.compile("^bird"))).to_contain_text("not entered")
    # A curve in steps of at most 10 % needs more positives than this world has.
    expect(page.get_by_text("too few positives").first).to_be_visible()
