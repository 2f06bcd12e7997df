"""Many submissions of VOC2007's size that wait: how fast workers score them, next to the evaluator in a plain loop."""

import multiprocessing
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

from sqlalchemy import select

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Measurement, Run
from benchmarks.cases.scoring import WARMING, running
from benchmarks.datasets.voc2007 import EDITION, make_voc2007
from vocboard.app.jobs.models import Kind as JobKind
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import GroundTruth

SUBMISSIONS = 500
PROCESSES = 2
POLLING_SECONDS = (
    0.5  # seldom: asking takes some of the same processors, and the database says when the last was scored
)


def drain(directory: Path, *, processes: int, submissions: int = SUBMISSIONS) -> Measurement:
    """Let worker processes that have evaluated before score submissions; from the first claim to the last score."""
    with running(directory, processes=processes) as competition:
        installation = competition.installation
        processor_before = installation.processor_seconds()
        competition.queue(directory / "results.tar.gz", submissions)
        notifier = WorkerNotifier(installation.settings)
        for _ in range(processes):
            notifier.wake({JobKind.EVALUATION})
        while competition.unfinished():
            time.sleep(POLLING_SECONDS)
        processor_seconds = installation.processor_seconds() - processor_before
        with competition.database.reading() as session:
            late = Submission.queued_at.desc()
            query = select(Submission.claimed_at, Submission.finished_at, Submission.state).order_by(late)
            rows = session.execute(query.limit(submissions)).all()
    assert {row.state for row in rows} == {State.SCORED}, {row.state for row in rows}
    seconds = (max(row.finished_at for row in rows) - min(row.claimed_at for row in rows)).total_seconds()
    return Measurement(seconds, processor_seconds, 0, {"a second": submissions / seconds})


def measure_workers(directory: Path, processes: int, submissions: int = SUBMISSIONS) -> float:
    """Return how many submissions so many worker processes score in a second; `make_voc2007` has made the directory."""
    return submissions / drain(directory, processes=processes, submissions=submissions).seconds


def _loop(directory: Path, number: int, ready: Barrier, taken: "Queue[float]") -> None:
    truth, edition = GroundTruth.load(directory / "truth.npz"), load(EDITION)
    for _ in range(WARMING):
        evaluate(directory / "results.tar.gz", edition, truth)
    ready.wait()
    before = time.process_time()
    for _ in range(number):
        evaluate(directory / "results.tar.gz", edition, truth)
    taken.put(time.process_time() - before)


def _plain_loop(directory: Path) -> Run:
    context = multiprocessing.get_context("spawn")
    ready, taken = context.Barrier(PROCESSES + 1), context.Queue()
    for _ in range(PROCESSES):
        context.Process(target=_loop, args=(directory, SUBMISSIONS // PROCESSES, ready, taken)).start()
    ready.wait()

    def run() -> Measurement:
        began = time.perf_counter()
        processor_seconds = sum(taken.get() for _ in range(PROCESSES))
        seconds = time.perf_counter() - began
        return Measurement(seconds, processor_seconds, 0, {"a second": SUBMISSIONS / seconds})

    return run


LOOP = "the evaluator in a loop, two processes"

DRAINING = Case(
    name="draining",
    title=f"{SUBMISSIONS} submissions that wait, two worker processes",
    make=make_voc2007,
    implementations={
        "vocboard": Implementation(Kind.OURS, lambda directory: lambda: drain(directory, processes=PROCESSES)),
        LOOP: Implementation(Kind.FLOOR, _plain_loop),
    },
    goals=(Goal(1.3, (LOOP,), "rate"),),
)
