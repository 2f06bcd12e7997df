"""Fill a new server through its REST API: challenges, ground truth and results, each on a day of the past."""

import contextlib
import ssl
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx

from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.database import Database, now
from vocboard.commands.demo.backdating import days_ago
from vocboard.commands.demo.cast import DECLARATIONS
from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.methods import Method, enters, results_archive
from vocboard.commands.demo.scenes import World
from vocboard.evaluator.editions import Edition, read_text

EDITIONS = Path(__file__).parent / "editions"
POLL_SECONDS = 0.3
WEEK_SECONDS = 7 * 24 * 3600

WAIT_SECONDS = 600  # for one import or one evaluation, on a slow machine
UPLOAD_SECONDS = 600
NEEDED_FOLDERS = ("ImageSets", "Annotations", "SegmentationClass")  # of a tree; images are not needed

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
            base_url=f"{url}/api/v1", headers=headers, timeout=UPLOAD_SECONDS, trust_env=False, verify=_certificates()
        )
        self._uploading = threading.Lock()  # challenges are filled concurrently; a person may upload two files at once

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
    """Read the authorities' certificates once: each of the demo's methods has an author with an API of its own."""
    return httpx.create_ssl_context()


def _content(response: httpx.Response) -> Any:
    if not response.is_success:
        raise SeedingError(f"{response.request.method} {response.request.url.path}: {response.text}")
    return response.json()


@dataclass(frozen=True, slots=True)
class Stage:
    """The server that is filled.

    Attributes:
        organiser: the API as the organiser of all challenges.
        author_of: gives the API as the author of a method.
        participant: email address of the demo's participant.
    """

    database: Database
    organiser: Api
    author_of: Callable[[Method], Api]
    participant: str


class DemoChallenge:
    """A challenge of the demo. Each step takes so many `days` before now: what it stores is moved there.

    Args:
        slug: its short name.
        edition: an edition of this server, or the name of a file in `EDITIONS`.
    """

    def __init__(self, stage: Stage, slug: str, edition: Edition | str) -> None:
        self.slug, self._stage, self._path = slug, stage, f"/challenges/{slug}"
        self._ids: dict[tuple[str, str], str] = {}  # of submissions, by phase and method
        if isinstance(edition, Edition):
            self.edition, self._given = edition, {"edition": edition.name}
        else:
            text = (EDITIONS / f"{edition}.toml").read_text(encoding="utf-8")
            self.edition, self._given = read_text(text, f"{edition}.toml"), {"edition_file": text}

    def create(self, days: float, **rules: Any) -> None:
        """Create the challenge."""
        self._post(days, "/challenges", {"slug": self.slug, **self._given, **rules})

    def change(self, days: float, phase: str = MAIN_PHASE, **rules: Any) -> None:
        """Change rules of a phase."""
        with self._days_ago(days):
            self._stage.organiser.patch(f"{self._path}/phases/{phase}", json=rules)

    def add_phase(self, days: float, key: str, **rules: Any) -> None:
        """Add a phase."""
        self._post(days, f"{self._path}/phases", {"key": key, **rules})

    def upload_truth(
        self,
        days: float,
        world: World,
        edition: Edition | None = None,
        *,
        phase: str = MAIN_PHASE,
        becomes_current: bool = True,
        spoil: Callable[[Path], None] | None = None,
    ) -> None:
        """Upload the ground truth of a world, and wait until it is imported.

        Args:
            becomes_current: wait until it is in use. Once there are submissions, only a re-score does that.
            spoil: changes the tree so that it cannot be imported.
        """
        with self._days_ago(days), tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
            tree = write_development_kit(world, edition or self.edition, Path(directory))
            if spoil is not None:
                spoil(tree)
            upload_ground_truth(
                self._stage.organiser,
                self.slug,
                tree,
                phase=phase,
                becomes_current=becomes_current,
                must_be_valid=spoil is None,
            )

    def submit(
        self,
        days: float,
        methods: Method | Sequence[Method],
        world: World,
        edition: Edition | None = None,
        *,
        phase: str = MAIN_PHASE,
        publish: bool = True,
    ) -> None:
        """Submit the results of methods in a world, and wait for the scores.

        Raises:
            SeedingError: one cannot be scored.
        """
        edition = edition or self.edition
        methods = (methods,) if isinstance(methods, Method) else methods
        offered = next(
            one["competitions"] for one in self._stage.organiser.get(f"{self._path}/phases") if one["key"] == phase
        )
        with self._days_ago(days):
            for method in methods:
                if enters(method, edition, offered):
                    archive = results_archive(method, world, edition, offered)
                    api = self._stage.author_of(method)
                    found = submit(api, self.slug, method, archive, edition, phase=phase, publish=publish)
                    self._ids[phase, method.name] = found
            for method in methods:
                if (phase, method.name) in self._ids:
                    path = f"/submissions/{self._ids[phase, method.name]}"
                    api = self._stage.author_of(method)
                    result = wait_for(f"the scores of {method.name}", partial(api.get, path), is_final)
                    if result["state"] != "scored":
                        raise SeedingError(f"{method.name}: {result['failure']}")

    def withdraw(self, days: float, method: Method) -> None:
        """Withdraw the submission of a method."""
        with self._days_ago(days):
            self._stage.author_of(method).post(f"/submissions/{self._ids[MAIN_PHASE, method.name]}/withdraw")

    def disqualify(self, days: float, method: Method, reason: str) -> None:
        """Disqualify the submission of a method."""
        self._post(days, f"/submissions/{self._ids[MAIN_PHASE, method.name]}/disqualify", {"reason": reason})

    def rescore(self, days: float, version: int, reason: str) -> None:
        """Score with a version of the ground truth, and apply the new results."""
        organiser = self._stage.organiser
        with self._days_ago(days):
            wanted = {"ground_truth_version": version, "reason": reason}
            path = f"/rescores/{organiser.post(f'{self._path}/rescores', json=wanted)['id']}"
            wait_for("the re-score", partial(organiser.get, path), lambda found: found["state"] != "running")
            organiser.post(f"{path}/apply")
            wait_for("the new scores", partial(organiser.get, path), lambda found: found["state"] == "applied")

    def give_extra_quota(self, days: float, *, count: int, until_days: int, reason: str) -> None:
        """Give the demo's participant extra quota."""
        given = {"email": self._stage.participant, "count": count, "until": in_days(until_days), "reason": reason}
        self._post(days, f"{self._path}/extra-quotas", given)

    def invite(self, days: float, email: str) -> None:
        """Invite a co-organiser."""
        self._post(days, f"{self._path}/invitations", {"email": email})

    def archive(self, days: float) -> None:
        """Archive the challenge."""
        self._post(days, f"{self._path}/archive", None)

    def _post(self, days: float, path: str, given: Mapping[str, Any] | None) -> None:
        with self._days_ago(days):
            self._stage.organiser.post(path, json=given)

    def _days_ago(self, days: float) -> Any:
        return days_ago(self._stage.database, self.slug, days)


def in_days(days: int) -> str:
    """Return noon (UTC) of the day in so many days, or before as many, for the API."""
    noon = now().replace(hour=12, minute=0, second=0, microsecond=0)
    return (noon + timedelta(days=days)).isoformat(timespec="minutes")


def upload_ground_truth(
    organiser: Api,
    slug: str,
    tree: Path,
    *,
    phase: str = MAIN_PHASE,
    becomes_current: bool = True,
    must_be_valid: bool = True,
) -> None:
    """Upload a development kit tree and wait until it is imported.

    Competitions that the tree cannot score are removed from the challenge.

    Args:
        phase: key of the phase that it is for.
        becomes_current: wait until it is in use. Once there are submissions, only a re-score does that.
        must_be_valid: otherwise the demo shows what is wrong with it.

    Raises:
        SeedingError: the tree is invalid; the message lists all problems.
    """
    path = f"/challenges/{slug}/ground-truth"
    with _packed(tree) as archive, archive.open("rb") as file:
        version = organiser.post(path, params={"phase": phase}, files={"archive": (archive.name, file)})

    def state() -> dict[str, Any]:
        found: dict[str, Any] = next(one for one in organiser.get(path)["items"] if one["id"] == version["id"])
        return found

    imported = wait_for("the import of the ground truth", state, lambda found: found["state"] in {"ready", "failed"})
    if imported["state"] == "failed":
        if not must_be_valid:
            return
        listed = "\n".join(
            f"  {problem['file'] or tree}:{problem['line'] or ''} {problem['message']}"
            for problem in imported["problems"]
        )
        raise SeedingError(f"{tree} cannot be used as ground truth:\n{listed}")
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
    return str(api.post(path, params={"phase": phase}, data=fields, files=files)["id"])


def is_final(submission: dict[str, Any]) -> bool:
    """Whether the submission will not be evaluated any more."""
    return submission["state"] in {"scored", "failed", "withdrawn"}


def wait_for(
    what: str, read: Callable[[], dict[str, Any]], is_done: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Ask until something is done, and return the last answer.

    Raises:
        SeedingError: it takes too long.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_done(found := read()):
        if time.monotonic() > deadline:
            raise SeedingError(f"{what[0].upper()}{what[1:]} took longer than {WAIT_SECONDS} seconds.")
        time.sleep(POLL_SECONDS)
    return found


@contextmanager
def _packed(tree: Path) -> Iterator[Path]:
    """Yield the tree as an archive; a directory is packed into a temporary one."""
    if not tree.is_dir():
        yield tree
        return
    with tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
        archive = Path(directory) / f"{tree.resolve().name}.tar"
        with tarfile.open(archive, "w") as packed:
            packed.add(tree, arcname=tree.resolve().name, filter=_only_needed)
        yield archive


def _only_needed(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Skip images and other files that are not needed."""
    is_file_elsewhere = member.isfile() and not any(folder in member.name.split("/") for folder in NEEDED_FOLDERS)
    return None if is_file_elsewhere else member
