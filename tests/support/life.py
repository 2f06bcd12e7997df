"""Steps in the life of a challenge and a submission, over the REST API of a running server with a worker."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

from tests.support import small_world
from tests.support.site import UNVERIFIED

PATIENCE_SECONDS = 120
POLL_SECONDS = 0.05


def eventually(ask: Callable[[], Any]) -> Any:
    """Ask until the answer is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (answer := ask()):
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(POLL_SECONDS)
    return answer


def is_served(address: str) -> bool:
    """Whether a GET of this address succeeds."""
    with suppress(httpx.TransportError):
        return httpx.get(address, timeout=5, trust_env=False, verify=UNVERIFIED).is_success
    return False


RULES = {"title": "A challenge", "visibility": "public", "decimals": 4}


def make_ready(organiser: httpx.Client, truth: bytes, **rules: Any) -> str:
    """Make a public challenge and upload its ground truth; return its path once it is open."""
    response = organiser.post("/api/v1/challenges", json={**RULES, **rules})
    assert response.status_code == 201, response.text
    path = response.headers["location"]
    upload = {"archive": ("devkit.tar.gz", truth)}
    # The worker publishes the key to seal with when it starts.
    eventually(lambda: organiser.post(f"{path}/ground-truth", files=upload).status_code == 202)

    def imported() -> bool:
        [version] = organiser.get(f"{path}/ground-truth").json()["items"]
        assert version["state"] != "failed", version["problems"]
        return bool(version["state"] == "ready")

    eventually(imported)
    confirm_warnings(organiser, path)
    eventually(lambda: organiser.get(path).json()["phase"] == "open")
    assert organiser.get(path).json()["phase"] == "open"
    return str(path)


def make_small_world(organiser: httpx.Client, **rules: Any) -> str:
    """Make the challenge of `small_world`, ready; return its path."""
    of_world = {"slug": "small-world", "edition": small_world.EDITION, "competitions": small_world.COMPETITIONS}
    return make_ready(organiser, small_world.ground_truth_archive(), **of_world, **rules)


def confirm_warnings(organiser: httpx.Client, challenge: str) -> None:
    """Confirm what the imports have warned of: small trees have classes without positives."""
    for version in organiser.get(f"{challenge}/ground-truth").json()["items"]:
        if version["needs_confirmation"]:
            assert organiser.post(f"{challenge}/ground-truth/{version['number']}/confirm").status_code == 200


def upload_results(
    client: httpx.Client, slug: str, archive: bytes, name: str = "results.tar.gz", **fields: str
) -> httpx.Response:
    """Upload results to a challenge in one request; unless the fields say so, of the method `Method`."""
    return client.post(
        f"/api/v1/challenges/{slug}/submissions",
        data={"method_name": "Method", **fields},
        files={"archive": (name, archive)},
    )


def submit(client: httpx.Client, challenge: str, archive: bytes, **fields: str) -> dict[str, Any]:
    response = upload_results(client, challenge.rpartition("/")[2], archive, **fields)
    assert response.status_code == 201, response.text
    submission: dict[str, Any] = response.json()
    assert response.headers["location"] == f"/api/v1/submissions/{submission['id']}"
    return submission


def follow(client: httpx.Client, submission: str) -> list[dict[str, Any]]:
    """Return the events of a submission up to the end of their stream."""
    with client.stream("GET", f"{submission}/events", timeout=PATIENCE_SECONDS) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
