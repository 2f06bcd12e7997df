"""The steps of the story, as its organiser does them in the browser; what entrants do goes through the REST API."""

import re
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tools.year.camera import Camera, new_page, settle
from tools.year.material import EDITION_FILE, FINAL, Material, copied, prepare
from vocboard import migrations
from vocboard.app.accounts.models import Role
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.commands.demo.backdating import days_ago
from vocboard.commands.demo.cast import BY_NAME
from vocboard.commands.demo.methods import Method
from vocboard.commands.demo.seeding import Api, submit, wait_for
from vocboard.commands.demo.server import Account, DemoServer, ensure_account

DOMAIN = "harbour.example"
SLUG, TITLE = "harbour-2027", "Harbour 2027"
BOARD = f"/challenges/{SLUG}/leaderboards/comp2"
SET_UP = f"/organise/{SLUG}"
ENTRANTS = tuple(BY_NAME[name] for name in ("Waterline", "Mooring", "Breakwater", "Quayside", "Lighthouse"))
PATIENCE_MS = 120_000  # for what a worker does


def take_pictures(browser: Browser, directory: Path, pictures: Path) -> None:
    """Run a server in a directory, go through the year, and store a picture of each step."""
    settings = Settings(data_directory=directory / "data", public_url="http://127.0.0.1:8000")
    settings.data_directory.mkdir(parents=True)
    migrations.upgrade(settings.database)
    database = Database(settings.database)
    material = prepare(directory)
    organiser = _account(database, "Mara Lindgren", Role.ORGANISER)
    with DemoServer(settings, host="127.0.0.1", port=0) as server:
        page = new_page(browser)
        _sign_in(page, server.url, organiser)
        year = Year(browser, server.url, database, page, material, directory, Camera(pictures))
        for days, step in (
            (300, year.prepare_challenge),
            (220, year.open_challenge),
            (160, year.run_challenge),
            (120, year.correct_ground_truth),
            (80, year.moderate),
            (0, year.close_challenge),
        ):
            with days_ago(database, SLUG, days):  # what is done now is dated when it is done in the story
                step()
    database.close()


@dataclass(frozen=True)
class Year:
    """The year of one challenge.

    Attributes:
        page: where its organiser is signed in.
        directory: for archives.
    """

    browser: Browser
    url: str
    database: Database
    page: Page
    material: Material
    directory: Path
    camera: Camera

    def prepare_challenge(self) -> None:
        """Create the draft, upload the ground truth until it is right, and rehearse."""
        page = self.page
        page.get_by_role("link", name="Organise").click()
        page.get_by_role("link", name="New challenge").first.click()
        page.get_by_label("Title").fill(TITLE)
        page.get_by_label("URL name").fill(SLUG)
        page.get_by_label("Description").fill("Find barges, buoys, dinghies and ferries, at night and in fog.")
        page.get_by_label("Your own edition file").set_input_files(EDITION_FILE)
        page.get_by_role("button", name="Create challenge").click()
        expect(page.get_by_text("Before you open")).to_be_visible()
        settings = page.locator("aside section").filter(has=page.get_by_role("heading", name="Settings"))
        self.camera.take("draft", page, last=settings)
        self._upload_truth(self.material.trees.malformed)
        expect(page.get_by_text("The ground truth could not be read.")).to_be_visible(timeout=PATIENCE_MS)
        truth, failed = page.locator("section[aria-labelledby=truth]"), page.locator("details.panel")
        self.camera.take("malformed", page, first=failed, last=failed, column=truth)
        self._upload_truth(self.material.trees.misspelt)
        confirm = page.get_by_role("button", name="This is correct: confirm")
        expect(confirm).to_be_visible(timeout=PATIENCE_MS)
        version = page.locator("article.panel").filter(has=confirm)
        self.camera.take("misspelt", page, first=version, last=version, column=truth)
        self._upload_truth(self.material.trees.first)
        expect(page.get_by_text(re.compile("Submissions are scored with version 3"))).to_be_visible(timeout=PATIENCE_MS)
        page.get_by_role("link", name="Rehearse", exact=False).first.click()
        results = self.material.results(replace(BY_NAME["Waterline"], name="Baseline", skill=0.3), self.directory)
        page.get_by_label("Result files in one archive").set_input_files(results)
        expect(page.get_by_text("The archive is valid")).to_be_visible(timeout=PATIENCE_MS)
        page.get_by_label("Name", exact=True).fill("Baseline")
        page.get_by_label("Training data statement").fill("Photographs of another harbour.")
        page.get_by_role("button", name="Submit", exact=True).click()
        expect(page.get_by_role("table").first).to_be_visible(timeout=PATIENCE_MS)
        self.camera.take("rehearsal", page)

    def open_challenge(self) -> None:
        """Make it public with a deadline, and add a second phase."""
        page = self.page
        self._go(f"{SET_UP}/edit")
        self._save("Closes", 60, "Save dates")
        self._save("Anonymous until", 60, "Save leaderboards")
        self._go(SET_UP)
        page.locator("summary", has_text="Open challenge").click()
        page.get_by_role("button", name="Open challenge").click()
        expect(page.get_by_text("The challenge is no longer a draft")).to_be_visible()
        expect(page.get_by_text("Before you open")).to_have_count(0)
        self._go(f"{SET_UP}/phases")
        page.get_by_role("link", name="Add phase").click()
        page.get_by_label("Name", exact=True).fill("Final")
        page.get_by_label("URL name").fill("final")
        page.get_by_label("Image set").fill(FINAL)
        _date_field(page, "Closes").fill(_form_date(90))
        for folded in ("Rules", "Leaderboards"):
            page.locator("summary", has_text=folded).click()
        page.get_by_label("Submissions per person and competition").fill("1")
        page.get_by_label("Every … days").fill("30")
        page.get_by_role("radio", name=re.compile("^Mean")).check()
        _date_field(page, "Visible from").fill(_form_date(95))
        page.get_by_role("radio", name=re.compile("earlier phase")).check()
        page.get_by_role("button", name="Add phase").click()
        expect(page.get_by_text("Phase added.")).to_be_visible()
        self._go(f"{SET_UP}?truth=final")
        self._upload_truth(self.material.trees.final)
        expect(page.get_by_text(re.compile("to Final are scored with version 4"))).to_be_visible(timeout=PATIENCE_MS)
        self._go(f"{SET_UP}/phases")
        self.camera.take("phases", page, last=page.locator("ol.cards"))

    def _save(self, label: str, days: float | None, button: str, *, said: str = "Changes saved.") -> None:
        """Set a date, or empty it, and save its part of the set-up."""
        part = self.page.locator("form").filter(has=self.page.get_by_role("button", name=button, include_hidden=True))
        part.locator("summary").click()
        _date_field(self.page, label).fill("" if days is None else _form_date(days))
        self.page.get_by_role("button", name=button).click()
        expect(self.page.get_by_text(said)).to_be_visible()

    def run_challenge(self) -> None:
        """Let people submit; extend the deadlines, with which other dates move, and give one of them extra quota."""
        for number, method in enumerate(ENTRANTS):
            with days_ago(self.database, SLUG, 200 - 7 * number):
                self._submit(method, method)
        with days_ago(self.database, SLUG, 165):
            self._submit(copied(BY_NAME["Quayside"]), BY_NAME["Quayside"])
        page = self.page
        self._go(f"{SET_UP}/edit")
        self._save("Closes", 67, "Save dates", said="Changes saved. With the deadline")
        self._go(f"{SET_UP}/phases")
        page.get_by_role("link", name="Edit Final").click()
        _date_field(page, "Closes").fill(_form_date(97))
        page.get_by_role("button", name="Save changes").click()
        expect(page.get_by_text("Changes saved. With the deadline")).to_be_visible()
        extra = page.locator("form").filter(has=page.get_by_role("heading", name="Give a person extra quota"))
        extra.get_by_label("Email address").fill(f"f.brandt@{DOMAIN}")
        extra.get_by_label("Extra submissions per competition").fill("1")
        extra.get_by_label("Until").fill(_form_date(30))
        extra.get_by_label("Reason").fill("Power cut on campus")
        page.get_by_role("button", name="Give extra quota").click()
        expect(page.get_by_text("Extra quota granted.")).to_be_visible()
        visitor = new_page(self.browser)
        visitor.goto(self.url + BOARD)
        expect(visitor.get_by_text("This leaderboard is anonymous until")).to_be_visible()
        self.camera.take("anonymous", visitor, last=visitor.get_by_role("table").first)
        visitor.context.close()

    def correct_ground_truth(self) -> None:
        """Upload the corrected tree, read the report, and apply it."""
        page = self.page
        self._go(SET_UP)
        settle(page)
        page.get_by_label("Reason for the correction").fill("Dinghies in 12 images had been labelled as barges")
        self._choose_truth(self.material.trees.corrected)
        apply = page.get_by_role("button", name="Apply")
        expect(apply).to_be_visible(timeout=PATIENCE_MS)
        page.locator("tr details summary").first.click()
        self.camera.take("report", page, first=page.locator("section[aria-labelledby=report-title]"))
        apply.click()
        expect(page.get_by_role("heading", name="What changed")).to_be_visible(timeout=PATIENCE_MS)
        self._go(BOARD)
        expect(page.get_by_text(re.compile("All results scored again"))).to_be_visible()

    def moderate(self) -> None:
        """Compare two equal archives, disqualify one, and invite a co-organiser."""
        page = self.page
        self._go(f"{SET_UP}/submissions")
        self.camera.take("submissions", page, last=page.locator("fieldset.bulk"))
        page.get_by_role("link", name="Harbour master").click()
        page.locator("summary", has_text="Disqualify").click()
        page.get_by_label("Reason", exact=True).filter(visible=True).fill("The results are those of Quayside.")
        page.get_by_role("button", name="Disqualify").click()
        expect(page.get_by_text("Submission disqualified.")).to_be_visible()
        self._go(f"{SET_UP}/people")
        page.get_by_label("Email address").fill(f"jonas.weber@{DOMAIN}")
        page.get_by_role("button", name="Invite").click()
        expect(page.get_by_text("Invited.")).to_be_visible()

    def close_challenge(self) -> None:
        """Close it, which reveals the names; look at the log, export and archive."""
        page = self.page
        self._go(f"{SET_UP}/edit")
        self._save("Opens", -1, "Save dates")
        self._save("Closes", 0, "Save dates")
        self._save("Anonymous until", None, "Save leaderboards")
        self._go(f"{BOARD}?phase=main")
        self.camera.take("final", page, last=page.get_by_role("table").first)
        self._go(f"{SET_UP}/log")
        self.camera.take("log", page)
        self._go(f"{SET_UP}/archive")
        with page.expect_download():
            page.get_by_role("button", name="Export challenge").click()
        page.locator("summary", has_text="Archive challenge").click()
        page.get_by_role("button", name="Archive", exact=True).click()
        expect(page.get_by_text("Challenge archived.")).to_be_visible()
        self.camera.take("archive", page)

    def _go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def _upload_truth(self, archive: Path) -> None:
        settle(self.page)
        self._choose_truth(archive)
        expect(self.page.get_by_text("Ground truth uploaded and encrypted.")).to_be_visible(timeout=PATIENCE_MS)

    def _choose_truth(self, archive: Path) -> None:
        """Choose a tree, whose upload then starts."""
        self.page.get_by_label(re.compile("Development kit tree")).set_input_files(archive)

    def _submit(self, entered: Method, method: Method) -> None:
        """Submit the results of a method under the name of another, and wait until they are published."""
        author = entered.contributors.partition(",")[0] if entered is method else "V. Quick"
        account = _account(self.database, author, Role.PARTICIPANT, entered.affiliation)
        archive = self.material.results(method, self.directory).read_bytes()
        with closing(Api(self.url, account.token)) as api:
            found = submit(api, SLUG, entered, archive, self.material.edition, publish=True)
            wait_for("scoring", partial(api.get, f"/submissions/{found}"), lambda now: now["state"] == "scored")


def _sign_in(page: Page, url: str, account: Account) -> None:
    page.goto(f"{url}/sign-in")
    page.get_by_label("Email address").fill(account.email)
    page.get_by_label("Password").fill(account.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Account").wait_for()


def _account(database: Database, name: str, role: Role, affiliation: str = "Harbour Institute") -> Account:
    email = f"{re.sub('[^a-z]+', '.', name.lower()).strip('.')}@{DOMAIN}"
    return ensure_account(database, email=email, name=name, affiliation=affiliation, role=role)


def _date_field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=re.compile(f"^{label}"))


def _form_date(days: float) -> str:
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%dT%H:%M}"
