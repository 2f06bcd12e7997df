"""From the POST of results of VOC2007's size to the moment at which the API calls them scored; and many in a row."""

import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Measurement, Run
from benchmarks.competing import Competition, competing
from benchmarks.datasets.voc2007 import EDITION, make_voc2007
from benchmarks.running import installed, serving
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs.models import Job
from vocboard.app.jobs.service import SWEEPS
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import GroundTruth

POLLING_SECONDS = 0.01  # each poll takes processor time that the worker wants
PATIENCE_SECONDS = 300
WARMING = 4  # submissions before those that are measured: both workers have had one
SUBMISSIONS = 5  # one after the other; their median counts
PROCESSES = 2


@contextmanager
def running(directory: Path, *, embedded: bool = False, processes: int = PROCESSES) -> Iterator[Competition]:
    """Yield a competition whose workers have nothing to do and whose web process has answered."""
    with (
        tempfile.TemporaryDirectory(dir=directory) as scratch,
        installed(Path(scratch), embedded=embedded, worker_processes=processes) as installation,
        competing(installation, directory / "truth.npz") as competition,
        serving(installation),
        installation.working(),
    ):
        for _ in range(WARMING):
            submit(competition, directory / "results.tar.gz")
        _wait_until_idle(competition)
        yield competition


def submit(competition: Competition, archive: Path) -> Measurement:
    """Submit results and wait for their scores. Parts: up to the answer, to the claim, in the evaluator, afterwards."""
    installation = competition.installation
    processor_before, began = installation.processor_seconds(), time.time()
    status, answer = competition.upload(archive)
    assert status == 201, answer
    answered = time.time()
    for state in competition.states(answer["id"]):
        if state == State.SCORED:
            break
        assert state != State.FAILED, (installation.directory / "worker.log").read_text()
        assert time.time() < began + PATIENCE_SECONDS, state
        time.sleep(POLLING_SECONDS)
    seconds = time.time() - began
    processor_seconds = installation.processor_seconds() - processor_before
    with competition.database.reading() as session:
        query = select(Evaluation.started_at, Evaluation.seconds, Submission.queued_at, Submission.finished_at)
        query = query.join(Submission, Submission.current_evaluation_id == Evaluation.id)
        row = session.execute(query.where(Submission.id == uuid.UUID(answer["id"]))).one()
    finished = row.started_at.timestamp() + row.seconds
    parts = {
        "received and checked": row.queued_at.timestamp() - began,
        "answered": answered - row.queued_at.timestamp(),
        "claimed": row.started_at.timestamp() - row.queued_at.timestamp(),
        "evaluated": row.seconds,
        "stored and seen": began + seconds - finished,
    }
    return Measurement(seconds, processor_seconds, installation.peak_mib("serve"), parts)


def _wait_until_idle(competition: Competition) -> None:
    """Wait until workers have nothing to do but sweeps: they have diagnosed what was submitted before."""
    pending = select(Job.kind).where(Job.finished_at.is_(None), Job.kind.not_in(SWEEPS)).limit(1)
    deadline = time.time() + PATIENCE_SECONDS
    while True:
        with competition.database.reading() as session:
            kind = session.scalar(pending)
        if kind is None:
            return
        assert time.time() < deadline, f"a job waits: {kind}"
        time.sleep(POLLING_SECONDS)


def _ours(embedded: bool) -> Callable[[Path], Run]:
    def run(directory: Path) -> Measurement:
        taken = []
        with running(directory, embedded=embedded) as competition:
            for _ in range(SUBMISSIONS):
                taken.append(submit(competition, directory / "results.tar.gz"))
                _wait_until_idle(competition)
        return sorted(taken, key=lambda each: each.seconds)[SUBMISSIONS // 2]

    return lambda directory: lambda: run(directory)


def _evaluate(directory: Path) -> Run:
    truth, edition = GroundTruth.load(directory / "truth.npz"), load(EDITION)

    def run() -> None:
        evaluation = evaluate(directory / "results.tar.gz", edition, truth)
        assert len(evaluation.scores) == 2, evaluation.problems[:3]

    for _ in range(WARMING):  # ours has had as many
        run()
    return run


ALONE = "evaluation alone"

SCORING = Case(
    name="scoring",
    title="from POST to scored, VOC2007's size",
    make=make_voc2007,
    implementations={"vocboard": Implementation(Kind.OURS, _ours(False)), ALONE: Implementation(Kind.FLOOR, _evaluate)},
    goals=(Goal(2.2, (ALONE,)),),
)
EMBEDDED = Case(
    name="scoring-embedded",
    title="the same on SQLite and a directory of messages",
    make=make_voc2007,
    implementations={"vocboard": Implementation(Kind.OURS, _ours(True)), ALONE: Implementation(Kind.FLOOR, _evaluate)},
    goals=(Goal(2.2, (ALONE,)),),
)
