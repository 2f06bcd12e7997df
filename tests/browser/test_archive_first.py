"""The archive comes first: it is uploaded and checked while the form is filled in, and decides what the form asks."""

import errno
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from sqlalchemy import delete

from tests.browser.dropping import drop, drop_files
from tests.browser.exhibition import cookies_of
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.figures import RESULTS, street_challenge
from tests.support.phases import main_phase
from tests.support.services import make_tables
from tests.support.site import Site, serving
from tests.support.wrong_archives import CASES, TRAINING_DATA, challenge, detections, tar, under
from vocboard.app.accounts.models import WebSession
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.settings import Settings
from vocboard.app.storage import local_files

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    settings = Settings(data_directory=tmp_path_factory.mktemp("archive-first"), uploads_per_hour=1_000)
    make_tables(settings)
    with serving(settings) as running:
        yield running


@pytest.fixture
def form(site: Site, page: Page) -> Page:
    """Give the form of a new person and challenge."""
    with site.writing() as session:
        slug, email = challenge(session).slug, make_user(session).email
    page.context.add_cookies(cookies_of(site, email))
    page.goto(f"{site.url}/challenges/{slug}/submit")
    return page


def choose(page: Page, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    page.get_by_label("Result files in one archive").set_input_files(file)


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*", timeout=PATIENCE_MS)


def test_a_wrong_archive_says_first_what_to_do_and_the_corrected_one_passes(form: Page, tmp_path: Path) -> None:
    # tests/app/pages/test_wrong_archives.py looks at the others, without scripts.
    case = next(case for case in CASES if case.name == "flat-folder")
    form.get_by_label("Name", exact=True).fill("Mine")
    choose(form, tmp_path / case.file_name, case.wrong())
    heading = form.locator("#report h2")
    expect(heading).to_have_text(f"{case.counted}. No quota was used. {case.to_do}", timeout=PATIENCE_MS)
    expect(form.locator("#report")).to_be_focused()
    assert heading.bounding_box()["y"] < 100  # type: ignore[index]  # it is visible, and there is nothing above it
    form.get_by_text("All as text").click()
    expect(form.get_by_role("button", name="Copy")).to_be_visible()
    expect(form.locator("#report-text")).to_contain_text(": error:")
    choose(form, tmp_path / case.file_name, case.corrected())
    expect(form.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)
    expect(heading).to_have_count(0)
    expect(form.get_by_label("Name", exact=True)).to_have_value("Mine")
    form.get_by_label("Training data statement").fill(TRAINING_DATA)
    submit(form)


def test_missing_classes_are_named_with_errors_and_asked_about_before_quota_is_used(form: Page, tmp_path: Path) -> None:
    files = {name: content for name, content in detections(comma=True).items() if "_bird" not in name}
    choose(form, tmp_path / "results.tar.gz", tar(files))
    expect(form.locator("#report h2")).to_contain_text("have a decimal comma", timeout=PATIENCE_MS)
    expect(form.locator("[data-also-missing]")).to_contain_text(
        "1 of the 20 classes of comp4 (bird) has no result file."
    )
    files = {name: content for name, content in detections().items() if "_bird" not in name and "_boat" not in name}
    form.get_by_label("Name", exact=True).fill("Mine")
    choose(form, tmp_path / "results.tar.gz", tar(files))
    said = (
        "2 of the 20 classes of comp4 (bird, boat) have no result file. Add the missing files, or submit without them."
    )
    expect(form.locator("[data-incomplete] strong")).to_have_text(said, timeout=PATIENCE_MS)
    form.get_by_label("Training data statement").fill(TRAINING_DATA)
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.locator("#report strong")).to_have_text(said, timeout=PATIENCE_MS)
    form.locator("#report").get_by_label("Submit without the missing classes").check()
    submit(form)


def test_the_form_asks_only_what_the_archive_needs_and_its_errors_do_not_cost_the_upload(
    form: Page, tmp_path: Path
) -> None:
    declarations = form.locator("[data-declarations]")
    expect(declarations).to_be_hidden()
    form.get_by_label("Name", exact=True).fill("Mine")
    choose(form, tmp_path / "results.tar.gz", tar(under("results/VOC2012", detections())))
    expect(form.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)
    expect(declarations.get_by_role("heading")).to_have_text("Declarations for comp4")
    expect(form.get_by_label("Training data statement")).to_be_visible()
    expect(form.get_by_text("Classes entered in segmentation")).to_have_count(0)
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.locator("#report")).to_contain_text("For comp4, describe the training data.", timeout=PATIENCE_MS)
    form.get_by_label("Training data statement").fill(TRAINING_DATA)
    submit(form)


def test_an_identical_archive_is_pointed_out_and_a_used_up_quota_is_said_before(
    site: Site, page: Page, tmp_path: Path
) -> None:
    with site.writing() as session:
        slug = make_challenge(session, edition="VOC2012", competitions=["comp4"], quota_count=2).slug
        email = make_user(session).email
    page.context.add_cookies(cookies_of(site, email))
    archive = tar({"comp4_det_test_car.txt": b"000001 0.5 1 1 9 9\n"})
    for number in (1, 2):
        page.goto(f"{site.url}/challenges/{slug}/submit")
        page.get_by_label("Name", exact=True).fill("Mine")
        choose(page, tmp_path / "results.tar.gz", archive)
        page.get_by_label("Submit without the missing classes").check(timeout=PATIENCE_MS)
        page.get_by_label("Training data statement").fill(TRAINING_DATA)
        if number == 2:
            page.get_by_role("button", name="Submit", exact=True).click()
            page.locator("#report").get_by_label("Submit it again anyway").check(timeout=PATIENCE_MS)
            expect(page.get_by_label("Submit it again anyway")).to_have_count(1)
        submit(page)
    page.goto(f"{site.url}/challenges/{slug}/submit")
    expect(page.get_by_role("alert")).to_contain_text("The quota of comp4 is used up")


def test_an_archive_that_was_uploaded_for_a_phase_that_has_closed_is_sent_again(
    site: Site, page: Page, tmp_path: Path
) -> None:
    with site.writing() as session:
        organiser = make_organiser(session)
        target, email = challenge(session, organiser=organiser, opens_at=now()), make_user(session).email
        rules = PhaseRules(competitions=("comp4",), opens_at=now() - timedelta(hours=1))
        add_phase(session, challenge=target, user=organiser, key="next", title="Next", rules=rules)
    page.context.add_cookies(cookies_of(site, email))
    page.goto(f"{site.url}/challenges/{target.slug}/submit")
    file = tmp_path / "results.tar.gz"
    choose(page, file, tar(detections()))
    expect(page.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)
    with site.writing() as session:
        main_phase(session, target.id).closes_at = now() - timedelta(hours=2)
    page.reload()
    page.get_by_label("Result files in one archive").set_input_files(file)
    expect(page.locator("#report")).to_contain_text("closed at", timeout=PATIENCE_MS)
    page.get_by_label("Result files in one archive").set_input_files(file)
    expect(page.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)


def test_what_cannot_be_sent_is_explained_and_a_check_whose_connection_is_lost_is_repeated(
    form: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, report = tmp_path / "results.tar.gz", form.locator("#report")
    choose(form, file, b"")
    expect(report).to_contain_text("results.tar.gz is empty")

    form.route("**/api/v1/uploads?*", lambda route: (file.write_bytes(b"shorter"), route.continue_()), times=1)
    choose(form, file, tar(detections()))
    expect(report).to_contain_text("The archive was changed, moved or deleted", timeout=PATIENCE_MS)

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(local_files, "os", SimpleNamespace(**{**vars(os), "write": full}))
        choose(form, file, tar(detections()))
        expect(report).to_contain_text("no disk space left")

    form.route("**/submit/check?*", lambda route: route.abort(), times=1)
    choose(form, file, tar(detections()))
    expect(form.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)
    expect(report).to_be_empty()


def test_without_scripts_everything_is_on_one_page(site: Site, browser: Browser, tmp_path: Path) -> None:
    with site.writing() as session:
        slug, email = challenge(session).slug, make_user(session).email
    file = tmp_path / "results.tar.gz"
    file.write_bytes(tar(detections()))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    context.add_cookies(cookies_of(site, email))
    page.goto(f"{site.url}/challenges/{slug}/submit")
    page.get_by_label("Result files in one archive").set_input_files(file)
    page.get_by_label("Name", exact=True).fill("Mine")
    page.get_by_label("Training data statement").fill(TRAINING_DATA)
    page.get_by_role("button", name="Upload and submit").click()
    page.wait_for_url("**/submissions/*", timeout=PATIENCE_MS)
    context.close()


def test_one_file_that_is_dropped_on_the_form_is_uploaded_and_checked_at_once(form: Page) -> None:
    form.get_by_label("Name", exact=True).fill("Dropped")
    assert drop_files(form, "h1", "results.tar.gz"), "the browser would open it in place of the form"
    expect(form.locator("[data-chosen]")).to_be_hidden()
    drop_files(form, "[data-drop]", "comp3_det_test_car.txt", "comp3_det_test_dog.txt")
    expect(form.locator("#report")).to_contain_text("You dropped 2 files. Pack the files into one archive")
    expect(form.locator("[data-chosen]")).to_be_hidden()
    drop(form, "notes.tgz", b"not an archive")
    expect(form.locator("#report")).to_contain_text("This is not a tar or zip archive", timeout=PATIENCE_MS)
    expect(form.get_by_role("heading", name="Choose the corrected archive")).to_be_visible()
    expect(form.get_by_label("Name", exact=True)).to_have_value("Dropped")


def test_declared_numbers_that_are_typed_stay_when_another_archive_is_checked(
    site: Site, page: Page, tmp_path: Path
) -> None:
    with site.writing() as session:
        slug, email = street_challenge(session).slug, make_user(session).email
    page.context.add_cookies(cookies_of(site, email))
    page.goto(f"{site.url}/challenges/{slug}/submit")
    choose(page, tmp_path / "results.tar.gz", RESULTS)
    page.get_by_label("Parameters, million").fill("25.6", timeout=PATIENCE_MS)
    page.get_by_label("Apache 2.0").check()
    choose(page, tmp_path / "again.tar.gz", RESULTS)
    expect(page.get_by_text("again.tar.gz")).to_be_visible()
    page.get_by_label("Parameters, million").wait_for(timeout=PATIENCE_MS)
    expect(page.get_by_label("Parameters, million")).to_have_value("25.6")
    expect(page.get_by_label("Apache 2.0")).to_be_checked()
    page.get_by_label("Name", exact=True).fill("Mine")
    page.get_by_label("Training data statement").fill("COCO")
    submit(page)
    expect(page.get_by_text("25.6 million")).to_be_visible()


def test_files_that_are_chosen_stay_when_another_archive_is_checked_and_what_is_asked_about_it_is_not_answered(
    site: Site, page: Page, tmp_path: Path
) -> None:
    with site.writing() as session:
        slug = make_challenge(session, edition="VOC2007", competitions=["comp4"]).slug
        email = make_user(session).email
    page.context.add_cookies(cookies_of(site, email))
    page.goto(f"{site.url}/challenges/{slug}/submit")
    confirmation = page.get_by_label("Submit without the missing classes")
    choose(page, tmp_path / "cars.tar.gz", tar({"comp4_det_test_car.txt": b"000001 0.5 1 1 9 9\n"}))
    confirmation.check(timeout=PATIENCE_MS)
    hashes = {"name": "hashes.txt", "mimeType": "text/plain", "buffer": b"0" * 64}
    page.get_by_label("List of image hashes").set_input_files(hashes)  # type: ignore[arg-type]
    choose(page, tmp_path / "planes.tar.gz", tar({"comp4_det_test_aeroplane.txt": b"000001 0.5 1 1 9 9\n"}))
    expect(page.locator("[data-question]")).to_contain_text("(bicycle", timeout=PATIENCE_MS)
    expect(confirmation).not_to_be_checked()
    expect(page.get_by_label("List of image hashes")).to_have_value(re.compile("hashes.txt"))


@pytest.mark.parametrize("step", ["check", "submit"])
def test_who_is_signed_out_meanwhile_keeps_the_upload_and_what_was_typed(
    site: Site, form: Page, tmp_path: Path, step: str
) -> None:
    def sign_out() -> None:
        with site.writing() as session:
            session.execute(delete(WebSession))

    def at_check(route: Route) -> None:
        sign_out()
        route.continue_()

    form.get_by_label("Name", exact=True).fill("Mine")
    if step == "check":
        form.route("**/submit/check?*", at_check)
    choose(form, tmp_path / "results.tar.gz", tar(detections()))
    if step == "submit":
        form.get_by_label("Training data statement").fill(TRAINING_DATA, timeout=PATIENCE_MS)
        sign_out()
        form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.locator("#report")).to_contain_text("you have been signed out", timeout=PATIENCE_MS)
    expect(form.get_by_label("Name", exact=True)).to_have_value("Mine")
    assert form.evaluate("Object.keys(localStorage).length"), "the browser knows where the upload can be continued"
