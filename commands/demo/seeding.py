"""Fill a new server through its REST API: a challenge, its ground truth, methods and their results."""

import ssl
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx

from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.commands.demo.cast import DECLARATIONS, PRIVATE, PUBLISHED, WITHDRAWN
from vocboard.commands.demo.methods import Method, enters, results_archive
from vocboard.commands.demo.scenes import World
from vocboard.evaluator.editions import Edition

POLL_SECONDS = 0.2
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

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str) -> Any:
        """Return the JSON at a path; None if it is not found."""
        response = self._client.get(path)
        return None if response.status_code == httpx.codes.NOT_FOUND else _content(response)

    def post(self, path: str, **body: Any) -> Any:
        """Post JSON or a form."""
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


def slug_of(edition: Edition) -> str:
    """Return the short name of the demo's challenge."""
    return edition.name.lower()


def ensure_challenge(organiser: Api, edition: Edition, *, title: str, description: str, rules: Rules) -> str:
    """Create the demo's challenge if it does not exist; return its slug."""
    slug = slug_of(edition)
    if organiser.get(f"/challenges/{slug}") is None:
        given = {"slug": slug, "title": title, "description": description, "edition": edition.name}
        organiser.post("/challenges", json={**given, "visibility": "public", **rules})
    return slug


def ensure_phase(organiser: Api, slug: str, key: str, *, title: str, rules: Rules) -> None:
    """Add a phase to the demo's challenge if it does not exist."""
    path = f"/challenges/{slug}/phases"
    if key not in {phase["key"] for phase in organiser.get(path)}:
        organiser.post(path, json={"key": key, "title": title, **rules})


def has_ground_truth(organiser: Api, slug: str, phase: str = MAIN_PHASE) -> bool:
    """Whether a phase of the challenge has ground truth, from an earlier start."""
    versions = organiser.get(f"/challenges/{slug}/ground-truth")["items"]
    return any(version["is_current"] and version["phase"] == phase for version in versions)


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


def submit_cast(
    slug: str, edition: Edition, world: World, api_of: Callable[[Method], Api], own: Api, *, phase: str = MAIN_PHASE
) -> None:
    """Submit every method of the demo, wait for the scores, and publish all but the participant's own.

    Args:
        phase: where; the participant's own are only in the main one.
    """
    phases = {each["key"]: each for each in own.get(f"/challenges/{slug}/phases")}
    offered = phases[phase]["competitions"]
    cast = [(api_of(method), method) for method in PUBLISHED]
    if phase == MAIN_PHASE:
        cast += [(own, PRIVATE), (own, WITHDRAWN)]
    submitted = [(api, method) for api, method in cast if enters(method, edition, offered)]
    ids = {
        method.name: submit(
            api, slug, method, partial(results_archive, method, world, edition, offered), edition, phase=phase
        )
        for api, method in submitted
    }
    if WITHDRAWN.name in ids:
        own.post(f"/submissions/{ids[WITHDRAWN.name]}/withdraw")
    for api, method in submitted:
        if method is WITHDRAWN:
            continue
        path = f"/submissions/{ids[method.name]}"
        result = wait_for(f"the scores of {method.name}", partial(api.get, path), is_final)
        if result["state"] != "scored":
            raise SeedingError(f"{method.name}: {result['failure']}")
        if method is not PRIVATE and result["published_at"] is None:
            api.post(f"{path}/publish")


def submission_named(api: Api, slug: str, method: str, phase: str = MAIN_PHASE) -> dict[str, Any] | None:
    """Return a user's submission of a method, if an earlier start has made it."""
    for submission in api.get("/submissions?per_page=100")["items"]:
        if (submission["method_name"], submission["challenge"], submission["phase"]) == (method, slug, phase):
            found: dict[str, Any] = submission
            return found
    return None


def submit(
    api: Api,
    slug: str,
    method: Method,
    archive: Callable[[], bytes],
    edition: Edition,
    *,
    phase: str = MAIN_PHASE,
    publish: bool = False,
) -> str:
    """Upload a method's results if an earlier start has not; return the submission's id.

    Args:
        publish: publish the result as soon as it is scored.
    """
    if (known := submission_named(api, slug, method.name, phase)) is not None:
        return str(known["id"])
    fields = {
        "method_name": method.name,
        "method_description": method.description,
        "contributors": method.contributors,
        "affiliation": method.affiliation,
        "publish": str(publish).lower(),
        **DECLARATIONS[method.training],
        "segmentation_classes": [name for name in edition.classes if name in method.only_classes],
    }
    name = f"{method.name.lower().replace(' ', '-')}.tar.gz"
    path, files = f"/challenges/{slug}/submissions", {"archive": (name, archive())}
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
