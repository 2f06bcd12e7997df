"""Correct ten annotations of a real tree, score again, and apply while the leaderboard is read all the time.

Usage: `python -m benchmarks.rescoring TREE RESULTS [--embedded] [--published 200] [--submissions 1000] [--disturb]`,
where TREE is a development kit tree of VOC2007 in an archive, and RESULTS an archive of results for its test set.
Prints what happened as JSON, and fails if a leaderboard mixed old and new results, or a score is not that of a fresh
evaluation.

The results are entered in some variants, whose confidences are moved at random, so that ranks change.
"""

import argparse
import contextlib
import io
import json
import re
import tarfile
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import redis
from sqlalchemy import select, update

from benchmarks.running import Installation, installed, serving
from tests.support.factories import make_organiser, make_token, make_user
from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries as challenges
from vocboard.app.challenges.ground_truth import current_image_sets
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.challenges.phases import phase_named
from vocboard.app.database import Database, now
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Measure
from vocboard.app.intake import submitting
from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.app.storage.archives import columns_limit
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions import queue
from vocboard.app.submissions.forms import SubmissionForm
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.stored_results.stored_results import ResultsWriter

EDITION = load("VOC2007")
VARIANTS, CORRECTED, READERS = 10, 10, 2
NOISE = 0.05  # of confidences
POLLING_SECONDS = 0.2
PATIENCE_SECONDS = 3600
BOARD = "comp4"
SEED = 2007
MIXED = "a leaderboard mixed old and new results"


@dataclass
class Readers:
    """Threads that read a leaderboard all the time, and what they have seen.

    Attributes:
        seen: scores by method, of each distinct answer.
    """

    url: str
    seen: dict[str, int] = field(default_factory=dict)
    answers: int = 0
    slowest: float = 0.0

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read until the block ends."""
        stop = threading.Event()
        threads = [threading.Thread(target=self._read, args=(stop,)) for _ in range(READERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def _read(self, stop: threading.Event) -> None:
        with httpx.Client(trust_env=False, timeout=60) as client:
            while not stop.is_set():
                began = time.monotonic()
                answer = client.get(self.url)
                answer.raise_for_status()
                scores = fingerprint(answer.json())
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.seen[scores] = self.seen.get(scores, 0) + 1
                self.answers += 1


def fingerprint(board: dict[str, Any]) -> str:
    """Return a leaderboard's methods, and the correction that it announces."""
    rows = [[row["submission"], row["rank"], row["mean"], row["per_class"]] for row in board["rows"]]
    return json.dumps([rows, [one["ground_truth_version"] for one in board["corrections"]]])


def corrected(tree: Path, target: Path) -> None:
    """Write the tree with other classes for the first objects of some images."""
    changed = 0
    with tarfile.open(tree) as old, tarfile.open(target, "w:gz", compresslevel=1) as new:
        for member in old:
            content = old.extractfile(member)
            data = content.read() if content else b""
            if changed < CORRECTED and member.name.endswith(".xml") and b"<name>person</name>" in data:
                data = re.sub(rb"<name>person</name>", b"<name>dog</name>", data, count=1)
                member.size, changed = len(data), changed + 1
            new.addfile(member, io.BytesIO(data) if content else None)
    assert changed == CORRECTED


def variants(results: Path, directory: Path) -> list[Path]:
    """Write archives of the same results with confidences that are moved."""
    random, made = np.random.default_rng(SEED), [results]
    for number in range(1, VARIANTS):
        target = directory / f"results-{number}.tar.gz"
        with tarfile.open(results) as old, tarfile.open(target, "w:gz", compresslevel=1) as new:
            for member in old:
                content = old.extractfile(member)
                data = content.read() if content else b""
                if "_det_test_" in member.name:
                    lines = [line.split(maxsplit=2) for line in data.decode().splitlines() if line.strip()]
                    moved = random.normal(0, NOISE, len(lines)).tolist()
                    data = "".join(
                        f"{image} {float(confidence) + noise:.6f} {box}\n"
                        for (image, confidence, box), noise in zip(lines, moved, strict=True)
                    ).encode()
                    member.size = len(data)
                new.addfile(member, io.BytesIO(data) if content else None)
        made.append(target)
    return made


@dataclass(frozen=True)
class Trial:
    """A challenge with submissions."""

    installation: Installation
    database: Database
    api: httpx.Client
    slug: str

    def upload_truth(self, tree: Path) -> int:
        """Upload a tree, confirm its warnings, and return the version's number once it is ready."""
        path = f"/challenges/{self.slug}/ground-truth"
        while True:  # until the worker has published its key
            with tree.open("rb") as file:
                answer = self.api.post(path, files={"archive": (tree.name, file)})
            if answer.status_code == httpx.codes.ACCEPTED:
                break
            time.sleep(POLLING_SECONDS)
        number = int(answer.json()["number"])

        def imported() -> bool:
            version = next(one for one in self.api.get(path).json()["items"] if one["number"] == number)
            assert version["state"] != "failed", version["problems"]
            if version["needs_confirmation"]:
                self.api.post(f"{path}/{number}/confirm").raise_for_status()
            return bool(version["state"] == "ready")

        wait(imported)
        return number

    def submit(self, user: User, archives: list[Path], count: int, *, published: int) -> dict[uuid.UUID, int]:
        """Queue submissions as the web process does; return the variant of each once all are scored."""
        store, variant_of = archive_store(self.installation.settings), {}
        with self.database.reading() as session:
            challenge, _ = challenges.challenge_by_slug(session, self.slug, user) or (None, False)
            assert challenge is not None
            image_sets = current_image_sets(session, phase_named(challenge, MAIN_PHASE))
        keys = challenge.main_phase.competition_keys
        read = []
        for archive in archives:
            columns, content = io.BytesIO(), archive.read_bytes()
            writer = ResultsWriter(columns.write, EDITION, image_sets, limit=columns_limit(len(content)))
            found = read_results(
                archive, EDITION, image_sets, competitions=keys, segmentation_sink=writer.add_label_map
            )
            assert found.is_valid, found.problems[:3]
            assert writer.finish(found.results)
            entries = tuple(EnteredCompetition(key, tuple(one.classes)) for key, one in found.results.items())
            read.append((content, columns.getvalue(), entries))
        for number in range(count):
            content, columns_content, entries = read[number % len(read)]
            with (
                store.receive(limit=len(content)) as incoming,
                store.receive(limit=len(columns_content)) as columns_file,
            ):
                incoming.write(content)
                incoming.finish()
                columns_file.write(columns_content)
                columns_file.finish()
                with self.database.writing() as session:
                    submission = submitting.submit(
                        session,
                        user=user,
                        challenge=challenge,
                        form=SubmissionForm(
                            method_name=f"Method {number:04}", declarations={"training_data": "Images of our own."}
                        ),
                        archive=incoming,
                        report=Report((), entries, has_columns=True),
                        columns=columns_file,
                    )
                    variant_of[submission.id] = number % len(read)
        wait(lambda: not self._unfinished())
        with self.database.writing() as session:
            chosen = list(variant_of)[:published]
            assert session.scalar(select(Submission.id).where(Submission.state != State.SCORED).limit(1)) is None
            session.execute(update(Submission).where(Submission.id.in_(chosen)).values(published_at=now()))
        return variant_of

    def _unfinished(self) -> int:
        with self.database.reading() as session:
            return sum(queue.count(session, state) for state in queue.UNFINISHED)

    def start(self, number: int) -> str:
        """Start a re-score; return its path."""
        body = {"ground_truth_version": number, "reason": "Ten annotations corrected"}
        answer = self.api.post(f"/challenges/{self.slug}/rescores", json=body)
        answer.raise_for_status()
        return f"/rescores/{answer.json()['id']}"

    def wait_for(self, path: str, state: str) -> dict[str, Any]:
        """Wait for a re-score's state."""
        wait(lambda: self.api.get(path).json()["state"] == state)
        found: dict[str, Any] = self.api.get(path).json()
        return found

    def current_scores(self) -> dict[tuple[uuid.UUID, str, str, str], float | None]:
        """Every current score, unrounded, by submission, competition, metric and class."""
        with self.database.reading() as session:
            rows = session.execute(
                select(
                    Submission.id,
                    CompetitionResult.competition,
                    Measure.metric,
                    ClassScore.class_name,
                    ClassScore.value,
                )
                .join(CompetitionResult, CompetitionResult.evaluation_id == Submission.current_evaluation_id)
                .join(Measure, Measure.result_id == CompetitionResult.id)
                .join(ClassScore, ClassScore.measure_id == Measure.id)
            )
            return {(row[0], row[1], row[2], row[3]): row[4] for row in rows}


def wait(condition: Any) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(POLLING_SECONDS)


def disturb(installation: Installation) -> int:
    """Kill all processes of the worker, and empty the broker; return how many were killed."""
    if not installation.is_embedded:
        redis.Redis.from_url(installation.settings.broker).flushall()
    command = installation.processes["serve" if installation.is_embedded else "worker"]
    found = [one for one in command.children(recursive=True) if "worker" in one.cmdline()]
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return len(found)


def check_fresh(trial: Trial, variant_of: dict[uuid.UUID, int], archives: list[Path], tree: Path) -> int:
    """Compare every current score with a fresh evaluation; return how many there are."""
    truth = read_ground_truth(tree, EDITION)
    fresh = [evaluate(archive, EDITION, truth).scores for archive in archives]
    current = trial.current_scores()
    for (submission, key, metric, name), value in current.items():
        scores = fresh[variant_of[submission]][key]
        measure = next(one for one in (scores.primary, *scores.secondary) if one.metric.value == metric)
        expected = measure.per_class[name]
        assert (value is None and np.isnan(expected)) or value == expected, (key, metric, name, value, expected)
    return len(current)


def run(arguments: argparse.Namespace, directory: Path, installation: Installation) -> dict[str, Any]:
    """Do it, and return what it was like."""
    archives, target = variants(arguments.results, directory), directory / "corrected.tar.gz"
    corrected(arguments.tree, target)
    database = Database(installation.settings.database)
    with database.writing() as session:
        organiser, participant = make_organiser(session), make_user(session)
        token = make_token(session, organiser)
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{installation.url}/api/v1", headers=headers, timeout=600, trust_env=False) as api:
        challenge = {"slug": "voc2007", "title": "VOC2007", "edition": "VOC2007", "visibility": "public"}
        competitions = ["comp2", BOARD, "comp6", "comp8"]
        body = {**challenge, "competitions": competitions, "quota_count": 10_000}
        api.post("/challenges", json=body).raise_for_status()
        trial = Trial(installation, database, api, "voc2007")
        trial.upload_truth(arguments.tree)
        wait(lambda: api.get("/challenges/voc2007").json()["phase"] == "open")
        variant_of = trial.submit(participant, archives, arguments.submissions, published=arguments.published)
        number = trial.upload_truth(target)
        board = f"{installation.url}/api/v1/challenges/voc2007/leaderboards/{BOARD}"
        before = fingerprint(httpx.get(board, trust_env=False).json())
        readers = Readers(board)
        killed = 0
        expected = None
        if arguments.disturb:
            undisturbed = trial.start(number)
            expected = trial.wait_for(undisturbed, "ready")["changes"]
            api.post(f"{undisturbed}/discard").raise_for_status()
        processor_before, began = installation.processor_seconds(), time.monotonic()
        with readers.reading():
            path = trial.start(number)
            while arguments.disturb and (found := api.get(path).json())["state"] == "running":
                if killed < arguments.kills and found["done"] > killed * arguments.submissions // (arguments.kills + 1):
                    disturb(installation)
                    killed += 1
                time.sleep(POLLING_SECONDS)
            ready = trial.wait_for(path, "ready")
            scored = time.monotonic() - began
            processor = installation.processor_seconds() - processor_before
            began = time.monotonic()
            api.post(f"{path}/apply").raise_for_status()
            trial.wait_for(path, "applied")
            switched = time.monotonic() - began
            time.sleep(1)  # of reading what is new
        after = fingerprint(httpx.get(board, trust_env=False).json())
        assert set(readers.seen) <= {before, after}, MIXED
        assert before != after
        assert expected is None or ready["changes"] == expected, "another report than undisturbed"
        checked = check_fresh(trial, variant_of, archives, target)
    database.close()
    return {
        "submissions": arguments.submissions,
        "published": arguments.published,
        "seconds until ready": round(scored, 1),
        "processor seconds": round(processor, 1),
        "seconds to apply": round(switched, 2),
        "changes": len(ready["changes"]),
        "ranks that change": sum(one["ranks_changed"] for one in ready["competitions"]),
        "workers killed": killed,
        "leaderboards read": readers.answers,
        "slowest of them, seconds": round(readers.slowest, 2),
        "scores equal to a fresh evaluation": checked,
    }


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("tree", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--embedded", action="store_true", help="on SQLite and a directory of messages")
    parser.add_argument("--published", type=int, default=200)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--disturb", action="store_true", help="kill workers and empty the broker; expect one report")
    parser.add_argument("--kills", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vocboard-") as name:
        directory = Path(name)
        given = {"lease": "PT5S"} if arguments.disturb else {}
        with (
            installed(directory, embedded=arguments.embedded, **given) as installation,
            serving(installation),
            installation.working(),
        ):
            print(json.dumps(run(arguments, directory, installation), indent=2))


if __name__ == "__main__":
    main()
