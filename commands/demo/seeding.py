"""Fill a new server through its REST API: challenges, ground truth and results, each on a day of the past."""

import contextlib
import io
import re
import ssl
import tarfile
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, TypeVar

import httpx
from sqlalchemy import func, or_, select

from vocboard.app.accounts.models import Role
from vocboard.app.challenges.files import MAX_SHOWCASE_IMAGES
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.database import Database, now
from vocboard.app.jobs.models import Job
from vocboard.app.submissions.models import State, Submission
from vocboard.client.connection import POOL
from vocboard.commands.demo.backdating import days_ago, move_submission
from vocboard.commands.demo.cast import BY_NAME, DECLARATIONS, links_of
from vocboard.commands.demo.development_kit import development_kit
from vocboard.commands.demo.drawings import photograph, picture
from vocboard.commands.demo.methods import Method, add_file, enters, results_archive
from vocboard.commands.demo.scenes import World
from vocboard.commands.demo.server import DemoFile, ensure_account
from vocboard.evaluator.editions import Edition, read_text

EDITIONS = Path(__file__).parent / "editions"
POLL_SECONDS = 0.2
DOMAIN = "demo.vocboard.example"  # of the accounts' addresses; a reserved domain, so that no mail is ever delivered
PARTICIPANT_NAME = "Demo Participant"
WEEK_SECONDS = 7 * 24 * 3600
SHOWCASE_IMAGES = 4  # of each test set

WAIT_SECONDS = 600  # for one import or one evaluation, on a slow machine
UPLOAD_SECONDS = 600
NEEDED_FOLDERS = ("ImageSets", "Annotations", "SegmentationClass")  # of a tree; images are not needed

Read = TypeVar("Read")
Rules = Mapping[str, Any]  # of a challenge or phase, as the API takes them
# Of test sets that participants can upload to. So that no upload makes more than 5 % of a class's positives certain:
# tests/attack measures it, and docs/detail-levels.md has the figures.
OPEN_RULES: Rules = {"detail": "classes", "decimals": 2, "quota_count": 2, "quota_period_seconds": WEEK_SECONDS}


class SeedingError(Exception):
    """The server did not do what the demo needs."""


class Api:
    """The REST API as one user."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(
            base_url=f"{url}/api/v1",
            headers=headers,
            timeout=UPLOAD_SECONDS,
            limits=POOL,
            trust_env=False,
            verify=_certificates(),
        )
        self._uploading = threading.Semaphore(2)  # a person may upload two files at once

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str) -> Any:
        """Return the JSON at a path; None if it is not found."""
        response = self._client.get(path)
        return None if response.status_code == httpx.codes.NOT_FOUND else _content(response)

    def post(self, path: str, **body: Any) -> Any:
        """Post JSON or a form."""
        with self._uploading if "files" in body else contextlib.nullcontext():
            return _content(self._client.post(path, **body))

    def patch(self, path: str, **body: Any) -> Any:
        """Send a PATCH request."""
        return _content(self._client.patch(path, **body))


@cache
def _certificates() -> ssl.SSLContext:
    """Read the authorities' certificates once: each author has an `Api`."""
    return httpx.create_ssl_context()


def _content(response: httpx.Response) -> Any:
    if not response.is_success:
        raise SeedingError(f"{response.request.method} {response.request.url.path}: {response.text}")
    return response.json()


class Stage:
    """The server that is filled.

    Attributes:
        organiser: the API as the organiser of all challenges.
        pool: draws results and uploads them.
    """

    def __init__(self, database: Database, demo: DemoFile, pool: Executor) -> None:
        self.database, self.pool = database, pool
        self.organiser = Api(demo.url, demo.organiser.token)
        self._url = demo.url
        self._authors = {PARTICIPANT_NAME: Api(demo.url, demo.participant.token)}
        self._creating = threading.Lock()  # challenges are filled concurrently

    def author_of(self, method: Method) -> Api:
        """Return the API as the first contributor of a method, whose account is created if needed."""
        name = method.contributors.partition(",")[0]
        with self._creating:
            if name not in self._authors:
                email = f"{re.sub('[^a-z]+', '.', name.lower()).strip('.')}@{DOMAIN}"
                account = ensure_account(
                    self.database, email=email, name=name, affiliation=method.affiliation, role=Role.PARTICIPANT
                )
                self._authors[name] = Api(self._url, account.token)
            return self._authors[name]

    def unfinished_jobs(self) -> int:
        """Return how many jobs of workers are due or running."""
        unfinished = select(func.count()).where(
            Job.finished_at.is_(None), or_(Job.not_before <= now(), Job.lease_id.is_not(None))
        )
        with self.database.reading_autocommit() as session:
            return session.scalars(unfinished).one()


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission of the demo.

    Attributes:
        days: how long ago.
        method: name of the method, in `cast.toml`.
        publish: whether the result is published as soon as it is scored.
    """

    days: float
    method: str
    phase: str = MAIN_PHASE
    publish: bool = True


class DemoChallenge:
    """A challenge of the demo. Each step takes so many `days` before now: what it stores is moved there.

    Args:
        slug: its short name.
        edition: an edition of this server, or the name of a file in `EDITIONS`.

    Attributes:
        test_sets: scenes of each phase, and the edition that they are drawn on.
        archives: results that have been drawn before, by phase and method.
    """

    def __init__(self, stage: Stage, slug: str, edition: Edition | str) -> None:
        self.slug, self._stage, self._path = slug, stage, f"/challenges/{slug}"
        self._ids: dict[tuple[str, str], uuid.UUID] = {}  # of submissions, by phase and method
        self.test_sets: dict[str, tuple[World, Edition]] = {}
        self.archives: dict[tuple[str, str], bytes] = {}
        if isinstance(edition, Edition):
            self.edition, self._given = edition, {"edition": edition.name}
        else:
            text = (EDITIONS / f"{edition}.toml").read_text(encoding="utf-8")
            self.edition, self._given = read_text(text, f"{edition}.toml"), {"edition_file": text}

    def create(self, days: float, **rules: Any) -> None:
        """Create the challenge.

        It has no statistics until `show_statistics`: each result would have all of them computed again.
        """
        given = {"slug": self.slug, **self._given, **_dated(rules), "statistics": False}
        with self._days_ago(days):
            self._stage.organiser.post("/challenges", json=given)

    def post(self, days: float, path: str, **given: Any) -> None:
        """Post something to a path below the challenge's."""
        with self._days_ago(days):
            self._stage.organiser.post(f"{self._path}{path}", json=_dated(given))

    def add_files(self, days: float) -> None:
        """Upload a cover, a logo, and the edition file as a starting kit."""
        kit = self._given["edition_file"].encode()
        files = (
            ("cover", "", "cover.png", picture(1, 1600, 480)),
            ("logo", "Coastal Perception Group", "logo.png", picture(2, 240, 120)),
            ("data", "Starting kit", "starting-kit.txt", kit),
        )
        with self._days_ago(days):
            for kind, title, name, content in files:
                given = {"data": {"kind": kind, "title": title}, "files": {"file": (name, content)}}
                self._stage.organiser.post(f"{self._path}/files", **given)

    def add_showcase(self, days: float) -> None:
        """Upload pictures of some test images of each test set, on which results are drawn."""
        phases = [phase["key"] for phase in self._stage.organiser.get(f"{self._path}/phases")]
        worlds = [self.test_sets[key][0] for key in phases]
        groups = {scenes[0].image: scenes for world in worlds for scenes in world.sets.values()}.values()
        number = min(SHOWCASE_IMAGES, MAX_SHOWCASE_IMAGES // len(groups))
        with self._days_ago(days):
            for scene in (scene for scenes in groups for scene in scenes[:number]):
                given = {"data": {"kind": "showcase"}, "files": {"file": (f"{scene.image}.png", photograph(scene))}}
                self._stage.organiser.post(f"{self._path}/files", **given)

    def change(self, days: float, phase: str = MAIN_PHASE, **rules: Any) -> None:
        """Change rules of a phase."""
        with self._days_ago(days):
            self._stage.organiser.patch(f"{self._path}/phases/{phase}", json=_dated(rules))

    def show_statistics(self, days: float) -> None:
        """Show statistics of all leaderboards; those that are frozen stay without."""
        with self._days_ago(days):
            self._stage.organiser.patch(self._path, json={"statistics": True})

    def upload_truth(
        self,
        days: float,
        phase: str = MAIN_PHASE,
        *,
        change: Callable[[World], World] = lambda world: world,
        becomes_current: bool = True,
        spoil: Callable[[dict[str, bytes]], None] | None = None,
    ) -> None:
        """Upload the ground truth of a phase, and wait until it is imported.

        Args:
            change: returns other scenes, for ground truth with mistakes.
            becomes_current: wait until it is in use. Once there are submissions, only a re-score does that.
            spoil: changes the files of the tree so that it cannot be imported.
        """
        world, edition = self.test_sets[phase]
        files = development_kit(change(world), edition)
        if spoil is not None:
            spoil(files)
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as packed:
            for name, content in files.items():
                add_file(packed, name, content)
        with self._days_ago(days):
            import_ground_truth(
                self._stage.organiser,
                self.slug,
                f"{edition.name}.tar",
                archive.getvalue(),
                phase=phase,
                becomes_current=becomes_current,
                must_be_valid=spoil is None,
            )

    def submit(self, entries: Iterable[Entry]) -> None:
        """Submit the results of methods concurrently, and wait for the scores.

        A method that enters none of a phase's competitions is left out.

        Raises:
            SeedingError: one cannot be scored.
        """
        began = now()
        phases = self._stage.organiser.get(f"{self._path}/phases")
        offered = {phase["key"]: phase["competitions"] for phase in phases}

        def upload(entry: Entry) -> tuple[Entry, uuid.UUID] | None:
            method, (world, edition) = BY_NAME[entry.method], self.test_sets[entry.phase]
            if not enters(method, edition, offered[entry.phase]):
                return None
            archive = self.archives.get((entry.phase, entry.method))
            archive = archive or results_archive(method, world, edition, offered[entry.phase])
            api = self._stage.author_of(method)
            found = submit(api, self.slug, method, archive, edition, phase=entry.phase, publish=entry.publish)
            return entry, uuid.UUID(found)

        submitted = [one for one in self._stage.pool.map(upload, entries) if one is not None]
        self._ids |= {(entry.phase, entry.method): identifier for entry, identifier in submitted}
        states_now = select(Submission.state).where(Submission.id.in_([identifier for _, identifier in submitted]))

        def states() -> set[State]:
            with self._stage.database.reading_autocommit() as session:
                return set(session.scalars(states_now))

        if wait_for("scoring", states, lambda found: not found & {State.QUEUED, State.EVALUATING}) - {State.SCORED}:
            raise SeedingError(f"Not all results for {self.slug} could be scored; see the server's log.")
        with self._stage.database.writing() as session:
            for entry, identifier in submitted:
                move_submission(session, began, entry.days, identifier)

    def withdraw(self, days: float, method: str) -> None:
        """Withdraw the submission of a method, if it has entered."""
        if identifier := self._ids.get((MAIN_PHASE, method)):
            with self._days_ago(days):
                self._stage.author_of(BY_NAME[method]).post(f"/submissions/{identifier}/withdraw")

    def disqualify(self, days: float, method: str, reason: str) -> None:
        """Disqualify the submission of a method."""
        with self._days_ago(days):
            path = f"/submissions/{self._ids[MAIN_PHASE, method]}/disqualify"
            self._stage.organiser.post(path, json={"reason": reason})

    def rescore(self, days: float, version: int, reason: str) -> None:
        """Score with a version of the ground truth, and apply the new results."""
        organiser = self._stage.organiser
        with self._days_ago(days):
            wanted = {"ground_truth_version": version, "reason": reason}
            path = f"/rescores/{organiser.post(f'{self._path}/rescores', json=wanted)['id']}"
            wait_for("the re-score", partial(organiser.get, path), lambda found: found["state"] != "running")
            organiser.post(f"{path}/apply")
            wait_for("the new scores", partial(organiser.get, path), lambda found: found["state"] == "applied")

    def _days_ago(self, days: float) -> AbstractContextManager[None]:
        return days_ago(self._stage.database, self.slug, days)


def in_days(days: int) -> str:
    """Return noon (UTC) of the day in so many days, or before as many, for the API."""
    noon = now().replace(hour=12, minute=0, second=0, microsecond=0)
    return (noon + timedelta(days=days)).isoformat(timespec="minutes")


def _dated(rules: Rules) -> Rules:
    """Return rules with dates instead of days from now."""
    dates = ("opens_at", "closes_at", "freezes_at", "anonymous_until", "until")
    return {key: in_days(value) if key in dates else value for key, value in rules.items()}


def upload_ground_truth(organiser: Api, slug: str, tree: Path) -> None:
    """Upload a development kit tree (directory or archive) and wait until it is imported; see `import_ground_truth`.

    Images and other files that are not needed are left out.
    """
    if not tree.is_dir():
        with tree.open("rb") as file:
            return import_ground_truth(organiser, slug, tree.name, file)
    name = tree.resolve().name
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as packed:
            packed.add(tree, arcname=".", filter=_only_needed)
        file.seek(0)
        import_ground_truth(organiser, slug, f"{name}.tar", file)


def _only_needed(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    is_file_elsewhere = member.isfile() and not any(folder in member.name.split("/") for folder in NEEDED_FOLDERS)
    return None if is_file_elsewhere else member


def import_ground_truth(
    organiser: Api,
    slug: str,
    name: str,
    archive: IO[bytes] | bytes,
    *,
    phase: str = MAIN_PHASE,
    becomes_current: bool = True,
    must_be_valid: bool = True,
) -> None:
    """Upload an archive of ground truth and wait until it is imported.

    Competitions that it cannot score are removed from the challenge.

    Args:
        name: of the archive.
        phase: key of the phase that it is for.
        becomes_current: wait until it is in use. Once there are submissions, only a re-score does that.
        must_be_valid: otherwise the demo shows what is wrong with it.

    Raises:
        SeedingError: the tree is invalid; the message lists all problems.
    """
    path = f"/challenges/{slug}/ground-truth"
    version = organiser.post(path, params={"phase": phase}, files={"archive": (name, archive)})

    def state() -> dict[str, Any]:
        found: dict[str, Any] = next(one for one in organiser.get(path)["items"] if one["id"] == version["id"])
        return found

    imported = wait_for("the import of the ground truth", state, lambda found: found["state"] in {"ready", "failed"})
    if imported["state"] == "failed":
        if not must_be_valid:
            return
        listed = "\n".join(
            f"  {problem['file'] or name}:{problem['line'] or ''} {problem['message']}"
            for problem in imported["problems"]
        )
        raise SeedingError(f"{name} cannot be used as ground truth:\n{listed}")
    if imported["needs_confirmation"]:  # made up, or the operator's own
        organiser.post(f"{path}/{imported['number']}/confirm")
    if not becomes_current:
        return
    offered = [competition["key"] for competition in organiser.get(f"/challenges/{slug}")["competitions"]]
    if set(offered) - set(imported["competitions"]):
        scored = [key for key in offered if key in imported["competitions"]]
        organiser.patch(f"/challenges/{slug}", json={"competitions": scored})
    wait_for("the first scoring", state, lambda found: found["is_current"])


def submit(
    api: Api,
    slug: str,
    method: Method,
    archive: bytes,
    edition: Edition,
    *,
    phase: str = MAIN_PHASE,
    publish: bool = False,
) -> str:
    """Upload a method's results; return the submission's id.

    Args:
        publish: publish the result as soon as it is scored.
    """
    fields = {
        "method_name": method.name,
        "method_description": method.description,
        "contributors": method.contributors,
        "affiliation": method.affiliation,
        "publish": str(publish).lower(),
        **DECLARATIONS[method.training],
        **{name: str(number) for name, number in method.figures.items()},
        "segmentation_classes": [name for name in edition.classes if name in method.only_classes],
    }
    name = f"{method.name.lower().replace(' ', '-')}.tar.gz"
    path, files = f"/challenges/{slug}/submissions", {"archive": (name, archive)}
    found = str(api.post(path, params={"phase": phase}, data=fields, files=files)["id"])
    if links := links_of(method):
        api.patch(f"/submissions/{found}", json=links)
    return found


def wait_for(what: str, read: Callable[[], Read], is_done: Callable[[Read], object]) -> Read:
    """Read until something is done, and return what was read last.

    Raises:
        SeedingError: it takes too long.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_done(found := read()):
        if time.monotonic() > deadline:
            raise SeedingError(f"{what[0].upper()}{what[1:]} took longer than {WAIT_SECONDS} seconds.")
        time.sleep(POLL_SECONDS)
    return found
