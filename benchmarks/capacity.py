"""How much an installation takes, and which part of it is full first: a simulation with measured costs.

    python -m benchmarks.capacity measure            # the costs on this machine, into benchmarks/costs.json
    python -m benchmarks.capacity check              # predicted beside measured: one and two processes of a worker
    python -m benchmarks.capacity [--submissions 20000] [--pages 20] [--load 0.8]

The last one simulates three set-ups, docs/scale.md has its output. Uploads and pages come at random, at so many times
the rate at which the first part would be full. An upload takes a core of its web machine, then of the database, the
disk of the database, and the store; an evaluation holds a process of a worker while it does the same from there. Exit
status of `check`: 1 if a prediction is more than a fifth beside what was measured.
"""

import argparse
import heapq
import http.client
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean

import psutil
from sqlalchemy import select, text

from benchmarks.benchmark import ROOT
from benchmarks.cases.scoring import running
from benchmarks.competing import Competition
from benchmarks.datasets.voc2007 import make_voc2007
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.submissions.models import Submission

COSTS = ROOT / "benchmarks" / "costs.json"
DIRECTORY, NETWORK = 1e9, 100e6  # bytes a second: files that are cached or on a fast disk, a gigabit a second
MEASURED, WAITING, REQUESTS, COMMITS = 40, 200, 1000, 200
ALLOWED = 0.2
SEED = 2012


@dataclass(frozen=True, slots=True)
class Cost:
    """What one of something takes.

    Attributes:
        processor: seconds of a core where it is done, in the web process or the worker.
        database: seconds of a core of the database's machine.
        commits: that wait for the disk.
        stored: bytes that go to the store or come from it.
    """

    processor: float
    database: float
    commits: int = 0
    stored: int = 0


@dataclass(frozen=True, slots=True)
class Costs:
    """Of everything, with the seconds of a commit on the disk."""

    upload: Cost
    evaluation: Cost
    page: Cost
    commit: float

    @classmethod
    def load(cls) -> "Costs":
        """Read what was measured last."""
        found = json.loads(COSTS.read_text())
        upload, evaluation, page = (Cost(**found[name]) for name in ("upload", "evaluation", "page"))
        return cls(upload, evaluation, page, found["commit"])


@dataclass(frozen=True, slots=True)
class SetUp:
    """Machines. `web`, `workers` and `database` are cores of each; without `database` all of it is on one machine."""

    web_machines: int
    web: int
    worker_machines: int
    workers: int
    processes: int  # of each worker
    database: int
    store: float  # bytes a second


SET_UPS = {
    "one machine of 4 cores": SetUp(1, 4, 1, 4, 2, 0, DIRECTORY),
    "2 web, 4 workers, database of 4 cores": SetUp(2, 2, 4, 2, 2, 4, NETWORK),
    "4 web, 100 workers, database of 16 cores": SetUp(4, 4, 100, 2, 2, 16, NETWORK),
}


@dataclass(slots=True)
class Part:
    """Something that so many can use at a time; the others wait in turn."""

    servers: int
    busy: int = 0
    used: float = 0.0  # seconds, of all servers
    waited: float = 0.0  # seconds, of all who came
    came: int = 0
    queue: deque[tuple[float, Callable[[], None]]] = field(default_factory=deque)


Step = tuple[Part, float | None]  # use a part for so long; None: until the end of the process
Process = Iterator[Step]


class Simulation:
    """Discrete events: processes use one part after another."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0

    def at(self, instant: float, event: Callable[[], None]) -> None:
        """Do something at an instant."""
        self._number += 1
        heapq.heappush(self._events, (instant, self._number, event))

    def run(self) -> None:
        """Do everything."""
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()

    def start(self, process: Process, held: tuple[tuple[Part, float], ...] = ()) -> None:
        """Do the next step of a process, and then the others."""
        step = next(process, None)
        if step is None:
            for part, since in held:
                self._leave(part, since)
            return
        part, seconds = step
        part.came += 1

        def entered() -> None:
            since = self.now
            if seconds is None:
                self.start(process, (*held, (part, since)))
                return

            def left() -> None:
                self._leave(part, since)
                self.start(process, held)

            self.at(self.now + seconds, left)

        if part.busy < part.servers:
            part.busy += 1
            entered()
        else:
            part.queue.append((self.now, entered))

    def _leave(self, part: Part, since: float) -> None:
        part.used += self.now - since
        if part.queue:
            came, entered = part.queue.popleft()
            part.waited += self.now - came
            entered()
        else:
            part.busy -= 1


class Model:
    """A set-up in a simulation."""

    def __init__(self, costs: Costs, set_up: SetUp) -> None:
        self.simulation, self._random = Simulation(), random.Random(SEED)
        self._costs, self._set_up = costs, set_up
        self._web = [Part(set_up.web) for _ in range(set_up.web_machines)]
        self._workers = [Part(set_up.workers) for _ in range(set_up.worker_machines)] if set_up.database else self._web
        self._database = Part(set_up.database) if set_up.database else self._web[0]
        self._processes = Part(set_up.worker_machines * set_up.processes)
        self._disk, self._store = Part(1), Part(1)
        self.scored_at: list[float] = []

    def submission(self) -> Process:
        """Upload something, and let a worker evaluate it."""
        yield from self._do(self._costs.upload, self._random.choice(self._web))
        self.simulation.start(self.evaluation())

    def evaluation(self) -> Process:
        """Evaluate a submission that waits."""
        yield self._processes, None
        yield from self._do(self._costs.evaluation, min(self._workers, key=lambda part: part.busy + len(part.queue)))
        self.scored_at.append(self.simulation.now)

    def page(self) -> Process:
        """Answer a request for a page."""
        yield from self._do(self._costs.page, self._random.choice(self._web))

    def _do(self, cost: Cost, machine: Part) -> Process:
        yield machine, cost.processor
        yield self._database, cost.database
        for _ in range(cost.commits):
            yield self._disk, self._costs.commit
        if cost.stored:
            yield self._store, cost.stored / self._set_up.store

    def come(self, number: int, rate: float, pages: int) -> None:
        """Let so many submissions come at random, so many a second, with pages beside each."""
        self.simulation.start(self.submission())
        for _ in range(pages):
            later = self.simulation.now + self._random.random() / rate
            self.simulation.at(later, lambda: self.simulation.start(self.page()))
        if number > 1:
            following = self.simulation.now + self._random.expovariate(rate)
            self.simulation.at(following, lambda: self.come(number - 1, rate, pages))

    def parts(self) -> dict[str, tuple[float, float]]:
        """Return the share of the time that each part was busy, and seconds that were waited for it, on average."""
        named = {"web": self._web, "workers": self._workers, "database": [self._database], "worker processes": []}
        if self._workers is self._web:
            named = {"processor": self._web}
        named |= {"worker processes": [self._processes], "disk": [self._disk], "store": [self._store]}
        return {
            name: (
                sum(part.used for part in parts) / sum(part.servers for part in parts) / self.simulation.now,
                sum(part.waited for part in parts) / sum(part.came for part in parts),
            )
            for name, parts in named.items()
        }


def simulate(costs: Costs, set_up: SetUp, submissions: int, pages: int, rate: float) -> Model:
    """Let submissions come, so many a second."""
    model = Model(costs, set_up)
    model.come(submissions, rate, pages)
    model.simulation.run()
    return model


def report(costs: Costs, submissions: int, pages: int, load: float) -> None:
    """Print what is full first in each set-up, and how busy everything is below that."""
    for name, set_up in SET_UPS.items():
        few = simulate(costs, set_up, 2000, pages, 0.1).parts()  # next to no waiting: shares grow with the rate
        first = max(few, key=lambda part: few[part][0])
        limit = 0.1 / few[first][0]
        print(f"{name}: first full: {first}, at {3600 * limit:,.0f} submissions an hour")
        found = simulate(costs, set_up, submissions, pages, load * limit).parts()
        for part, (share, wait) in found.items():
            print(f"    {part:16} {share:6.0%} busy, {1000 * wait:8.1f} ms waited for")


def _processor_seconds(competition: Competition) -> dict[str, float]:
    """Seconds of each program of the installation so far."""
    found = dict.fromkeys(("serve", "worker", "postgres"), 0.0)
    of_command = {process.pid: name for name, process in competition.installation.processes.items()}
    for child in psutil.Process().children():
        for process in (child, *child.children(recursive=True)):
            name = of_command.get(child.pid, process.name())
            if name in found:
                times = process.cpu_times()
                found[name] += times.user + times.system + times.children_user + times.children_system
    return found


def _per_one(competition: Competition, number: int, act: Callable[[], object]) -> dict[str, float]:
    before = _processor_seconds(competition)
    act()
    return {name: (seconds - before[name]) / number for name, seconds in _processor_seconds(competition).items()}


def _drain(competition: Competition, archive: Path) -> tuple[float, float]:
    """Let workers score many that wait; return how many a second, and seconds that one waited on average."""
    competition.queue(archive, WAITING)
    WorkerNotifier(competition.installation.settings).wake({Kind.EVALUATION})
    while competition.unfinished():
        time.sleep(0.5)
    with competition.database.reading() as session:
        query = select(Submission.queued_at, Submission.claimed_at, Submission.finished_at)
        rows = session.execute(query.order_by(Submission.queued_at.desc()).limit(WAITING)).all()
    began = min(row.claimed_at for row in rows)
    seconds = (max(row.finished_at for row in rows) - began).total_seconds()
    return WAITING / seconds, fmean((row.claimed_at - began).total_seconds() for row in rows)


def _upload(competition: Competition, archive: Path) -> None:
    for _ in range(MEASURED):
        status, answer = competition.upload(archive)
        assert status == http.client.CREATED, answer
    while competition.unfinished():
        time.sleep(0.5)


def _commit(competition: Competition) -> float:
    with competition.database.engine.connect() as connection:
        connection.execute(text("UPDATE users SET name = name"))
        began = time.perf_counter()
        connection.commit()
        return time.perf_counter() - began


def measure(directory: Path) -> Costs:
    """Measure the costs in a real installation."""
    archive = directory / "results.tar.gz"
    with running(directory, processes=1) as competition:
        url = f"{competition.installation.url}/challenges/{competition.challenge.slug}"
        evaluated = _per_one(competition, WAITING, lambda: _drain(competition, archive))
        both = _per_one(competition, MEASURED, lambda: _upload(competition, archive))
        load = [sys.executable, "-m", "benchmarks.load", url, str(REQUESTS), "4"]
        paged = _per_one(
            competition, REQUESTS, lambda: subprocess.run(load, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        )
        commits = [_commit(competition) for _ in range(COMMITS)]
    size, database = archive.stat().st_size, evaluated["postgres"]
    return Costs(
        upload=Cost(both["serve"], max(0.0, both["postgres"] - database), commits=2, stored=2 * size),
        evaluation=Cost(evaluated["worker"], database, commits=1, stored=size),
        page=Cost(paged["serve"], paged["postgres"]),
        commit=fmean(commits),
    )


def check(directory: Path, costs: Costs) -> bool:
    """Print what workers do with many that wait, predicted and measured; return whether all is near enough."""
    is_near = True
    for processes in (1, 2):
        model = Model(costs, SetUp(1, psutil.cpu_count() or 1, 1, 0, processes, 0, DIRECTORY))
        for _ in range(WAITING):
            model.simulation.start(model.evaluation())
        model.simulation.run()
        predicted = (WAITING / model.simulation.now, model.parts()["worker processes"][1])
        with running(directory, processes=processes) as competition:
            found = _drain(competition, directory / "results.tar.gz")
        for name, one, other in zip(("scored a second", "seconds waited"), predicted, found, strict=True):
            print(f"{processes} processes, {name}: predicted {one:.2f}, measured {other:.2f}, {one / other - 1:+.0%}")
            is_near &= abs(one / other - 1) <= ALLOWED
    return is_near


def main() -> int:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", nargs="?", choices=("measure", "check", "report"), default="report")
    parser.add_argument("--submissions", type=int, default=20_000)
    parser.add_argument("--pages", type=int, default=20, help="for each submission")
    parser.add_argument("--load", type=float, default=0.8, help="share of the rate at which the first part is full")
    given = parser.parse_args()
    if given.action == "report":
        report(Costs.load(), given.submissions, given.pages, given.load)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        make_voc2007(Path(temporary), 1.0)
        if given.action == "check":
            return 0 if check(Path(temporary), Costs.load()) else 1
        costs: Mapping[str, object] = asdict(measure(Path(temporary)))
    COSTS.write_text(json.dumps(costs, indent=2) + "\n")
    print(COSTS.read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
