"""Fill one example challenge of the demo through the REST API, step by step, each on a day of the past.

Every step is skipped if an earlier start of the demo has done it, so that an interrupted start can be continued.
"""

import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.database import Database, now
from vocboard.commands.demo.backdating import days_ago
from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.methods import Method, results_archive
from vocboard.commands.demo.scenes import World
from vocboard.commands.demo.seeding import (
    Api,
    is_final,
    submission_named,
    submit,
    upload_ground_truth,
    wait_for,
)
from vocboard.evaluator.editions import Edition, read_text

EDITIONS = Path(__file__).parent / "editions"


class ExampleChallenge:
    """An example challenge and its edition.

    Args:
        slug: its short name.
        edition_name: of a file in `EDITIONS`.
        organiser: the API as its organiser.
        author_of: gives the API as the author of a method.
    """

    def __init__(
        self, slug: str, edition_name: str, *, database: Database, organiser: Api, author_of: Callable[[Method], Api]
    ) -> None:
        self.slug = slug
        self._path = f"/challenges/{slug}"
        self._text = (EDITIONS / f"{edition_name}.toml").read_text(encoding="utf-8")
        self.edition: Edition = read_text(self._text, f"{edition_name}.toml")
        self._database, self._organiser, self._author_of = database, organiser, author_of

    def create(self, days: float, *, title: str, description: str, **rules: Any) -> None:
        """Create the challenge, so many days ago."""
        if self._organiser.get(self._path) is None:
            given = {"slug": self.slug, "title": title, "description": description, "edition_file": self._text}
            with self._days_ago(days):
                self._organiser.post("/challenges", json={**given, **rules})

    def change(self, days: float, phase: str = MAIN_PHASE, **rules: Any) -> None:
        """Change rules of a phase."""
        with self._days_ago(days):
            self._organiser.patch(f"{self._path}/phases/{phase}", json=rules)

    def add_phase(self, days: float, key: str, **rules: Any) -> None:
        """Add a phase."""
        if key not in {phase["key"] for phase in self._organiser.get(f"{self._path}/phases")}:
            with self._days_ago(days):
                self._organiser.post(f"{self._path}/phases", json={"key": key, **rules})

    def upload_truth(
        self, days: float, world: World, edition: Edition | None = None, *, phase: str = MAIN_PHASE, number: int = 1
    ) -> None:
        """Upload the ground truth of a world as this version, unless it is there, and wait until it is imported."""
        known = {version["number"] for version in self._versions()}
        if number in known:
            return
        with self._days_ago(days), tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
            tree = write_development_kit(world, edition or self.edition, Path(directory))
            is_first = number == 1 or phase != MAIN_PHASE
            upload_ground_truth(self._organiser, self.slug, tree, phase=phase, becomes_current=is_first)

    def upload_broken_truth(self, days: float, world: World) -> None:
        """Upload ground truth with two malformed annotations."""
        if self._versions():
            return
        with self._days_ago(days), tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
            tree = write_development_kit(world, self.edition, Path(directory))
            first, second, *_ = sorted((tree / "Annotations").iterdir())
            first.write_text(first.read_text().replace("<xmin>", "<xmin>left of ", 1))
            second.write_text(second.read_text().removesuffix("</annotation>\n"))
            upload_ground_truth(self._organiser, self.slug, tree, must_be_valid=False)

    def submit(self, days: float, method: Method, world: World, edition: Edition | None = None, **given: Any) -> None:
        """Submit the results of a method in a world, and wait for the scores.

        Args:
            given: `phase`, and whether to `publish` the result, by default.
        """
        edition, publish = edition or self.edition, given.get("publish", True)
        api = self._author_of(method)
        if submission_named(api, self.slug, method.name, phase := given.get("phase", MAIN_PHASE)) is not None:
            return
        archive = partial(results_archive, method, world, edition, edition.competitions)
        with self._days_ago(days):
            found = submit(api, self.slug, method, archive, edition, phase=phase, publish=publish)
            wait_for(f"the scores of {method.name}", partial(api.get, f"/submissions/{found}"), is_final)

    def disqualify(self, days: float, method: Method, reason: str) -> None:
        """Disqualify the submission of a method."""
        submission = submission_named(self._author_of(method), self.slug, method.name, MAIN_PHASE)
        if submission is not None and submission["state"] != "disqualified":
            with self._days_ago(days):
                self._organiser.post(f"/submissions/{submission['id']}/disqualify", json={"reason": reason})

    def rescore(self, days: float, version: int, reason: str) -> None:
        """Score with a version of the ground truth, and apply the new results."""
        if self._organiser.get(f"{self._path}/rescores")["items"]:
            return
        with self._days_ago(days):
            wanted = {"ground_truth_version": version, "reason": reason}
            path = f"/rescores/{self._organiser.post(f'{self._path}/rescores', json=wanted)['id']}"
            read = partial(self._organiser.get, path)
            wait_for("the re-score", read, lambda found: found["state"] != "running")
            self._organiser.post(f"{path}/apply")
            wait_for("the switch to the new scores", read, lambda found: found["state"] == "applied")

    def give_extra_quota(self, days: float, *, email: str, count: int, until_days: int, reason: str) -> None:
        """Give a person extra quota."""
        if not self._organiser.get(f"{self._path}/extra-quotas"):
            until = in_days(until_days)
            with self._days_ago(days):
                given = {"email": email, "count": count, "until": until, "reason": reason}
                self._organiser.post(f"{self._path}/extra-quotas", json=given)

    def invite(self, days: float, email: str) -> None:
        """Invite a co-organiser."""
        if not self._organiser.get(f"{self._path}/invitations")["items"]:
            with self._days_ago(days):
                self._organiser.post(f"{self._path}/invitations", json={"email": email})

    def archive(self, days: float) -> None:
        """Archive the challenge."""
        if self._organiser.get(self._path)["phase"] != "archived":
            with self._days_ago(days):
                self._organiser.post(f"{self._path}/archive")

    def _versions(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._organiser.get(f"{self._path}/ground-truth")["items"]
        return items

    def _days_ago(self, days: float) -> Any:
        return days_ago(self._database, self.slug, days)


def in_days(days: int) -> str:
    """Return noon (UTC) of the day in so many days, or before as many, for the API."""
    noon = now().replace(hour=12, minute=0, second=0, microsecond=0)
    return (noon + timedelta(days=days)).isoformat(timespec="minutes")
