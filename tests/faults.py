"""Faults of all kinds under load, after which everything accepted is scored, and once.

    .venv/bin/python -m tests.faults --seed 1 --minutes 3

runs PostgreSQL, Redis, two web processes, two workers and beat. While several people upload, Redis is killed 20 times
and PostgreSQL 5 times, workers are paused for longer than their lease and killed, at random moments that the seed
decides. Nothing but the killed processes is started again. Within lease + 60 s after the last fault

- every submission of which a client was told (201) is scored, and so is every other one that is in the database,
- each with one evaluation, and with the scores that the same results had before the faults.

In the meantime, requests may be answered by nothing but 201, or 503 and 429 with `Retry-After`: an upload that a crash
of PostgreSQL cut off counts as in progress until its lease of a minute expires. Exit status 1 if any of this is not so.
It needs the wheels of `make set-up`, and takes the minutes given and at most 2 more; on a slow machine, checking the
scores takes longer.
"""

import argparse
import collections
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
from sqlalchemy import func, select

from tests.support import small_world
from tests.support.backend import kill_group
from tests.support.crashing_servers import CrashingServer, crashing_postgres, crashing_redis
from tests.support.life import eventually, make_small_world, submit
from tests.support.processes import free_port
from tests.support.services import in_full
from vocboard import migrations
from vocboard.app.accounts.models import User
from vocboard.app.database import Database
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Method, State, Submission

HOST = "voc.example.org"
PEOPLE = 6
WORKERS = 2
LEASE = timedelta(seconds=10)
ALLOWED_AFTER = LEASE + timedelta(seconds=60)
REDIS_KILLS, POSTGRES_KILLS, WORKER_PAUSES, WORKER_KILLS = 20, 5, 4, 4
SECONDS_BETWEEN_UPLOADS = 0.5
LATER = (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS)
UNLIMITED = 1_000_000
VARIANTS = (
    small_world.results_archive(),
    small_world.results_archive(comp3_det_test_dog=["000003 0.5 50 50 90 90"]),
    small_world.results_archive(comp1_cls_test_car=["000001 0.1", "000002 0.2", "000003 0.3", "000004 0.4"]),
)

Scores = dict[str, float | None]


@dataclass
class Load:
    """What the people who upload were answered.

    Attributes:
        accepted: ids of submissions.
        answers: how often which.
        wrong: answers that should not have been given.
    """

    accepted: set[str] = field(default_factory=set)
    answers: collections.Counter[str] = field(default_factory=collections.Counter)
    wrong: list[str] = field(default_factory=list)


class Services:
    """Our processes; each can be started again as the container engine would."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self._directory = directory
        self._environment = environment
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *arguments: str) -> None:
        """Start `vocboard` with arguments."""
        self._arguments[name] = arguments or self._arguments[name]
        with (self._directory / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "vocboard.commands.main", *self._arguments[name]],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """Kill one with its children."""
        kill_group(self._processes[name])

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one and its children."""
        os.killpg(self._processes[name].pid, number)

    def dead(self) -> list[str]:
        """Those that have ended although nobody killed them."""
        return [name for name, process in self._processes.items() if process.poll() is not None]

    def stop(self) -> None:
        """Kill all."""
        for process in self._processes.values():
            kill_group(process)


def main() -> int:
    """Run the faults, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=3.0, help="of load and faults (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vocboard-faults-") as directory, contextlib.ExitStack() as stack:
        postgres, postgres_process = stack.enter_context(crashing_postgres())
        redis_url, redis_process = stack.enter_context(crashing_redis())
        settings = Settings(data_directory=Path(directory), database_url=in_full(postgres.create_database()))
        settings.archives.mkdir()
        migrations.upgrade(settings.database)
        port = free_port()
        environment = _environment(settings, f"{redis_url}/0")
        services = Services(Path(directory), environment)
        stack.callback(services.stop)
        services.start("web", "serve", "--port", str(port), "--processes", "2")
        services.start("beat", "beat")
        for number in range(WORKERS):
            services.start(f"worker-{number}", "worker")
        url = f"http://127.0.0.1:{port}"
        organiser = stack.enter_context(_person(url, environment, "organiser", "organise", "203.0.113.100"))
        people = [
            stack.enter_context(_person(url, environment, f"person-{n}", "submit", f"203.0.113.{n}"))
            for n in range(PEOPLE)
        ]
        challenge = make_small_world(organiser, quota_count=10_000)
        expected = [_score(people[0], challenge, variant) for variant in range(len(VARIANTS))]
        assert expected[0]["comp3"] == round(small_world.MEAN_AP, 4), expected
        load = Load()
        with _uploading(people, challenge, load):
            faults = _injectors(random.Random(arguments.seed), services, redis_process, postgres_process)
            _run(faults, seconds=arguments.minutes * 60, seed=arguments.seed)
        problems = _wait_until_scored(settings.database) + _check(settings.database, people, load, expected)
        problems += [f"{name} has ended by itself" for name in services.dead()]
        print(f"answers: {dict(load.answers)}; {len(load.accepted)} accepted, as their clients know")
        if problems:
            _keep_logs(Path(directory), arguments.seed)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    print("failed" if problems else "passed")
    return 1 if problems else 0


def _environment(settings: Settings, broker_url: str) -> dict[str, str]:
    given = {
        "ENVIRONMENT": "production",
        "SECRET_KEY": os.urandom(32).hex(),
        "PUBLIC_URL": f"https://{HOST}",
        "PROXY_SECRET": os.urandom(32).hex(),
        "DATA_DIRECTORY": settings.data_directory,
        "DATABASE_URL": settings.database,
        "BROKER_URL": broker_url,
        "LEASE": f"PT{LEASE.seconds}S",
        "WORKER_PROCESSES": 2,
        "UPLOADS_PER_HOUR": UNLIMITED,
        "UPLOAD_BYTES_PER_DAY": UNLIMITED**2,
        # The faults come so close together that one may meet the same submission three times.
        "EVALUATION_ATTEMPTS": 10,
    }
    return {**os.environ, **{f"VOCBOARD_{name}": str(value) for name, value in given.items()}}


def _person(url: str, environment: dict[str, str], name: str, scope: str, address: str) -> httpx.Client:
    """Make an account and a token; return the API as that person, as the proxy passes it on."""

    def admin(*arguments: str) -> str:
        command = [sys.executable, "-m", "vocboard.commands.main", "admin", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    role = "organiser" if scope == "organise" else "participant"
    admin("create-user", f"{name}@lab.example", "--name", name, "--role", role)
    token = admin("create-token", f"{name}@lab.example", "--scope=read", f"--scope={scope}").split()[-1]
    headers = {
        "Host": HOST,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": address,
        "X-Vocboard-Proxy": environment["VOCBOARD_PROXY_SECRET"],
        "Authorization": f"Bearer {token}",
    }
    return httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60)


def _score(client: httpx.Client, challenge: str, variant: int) -> Scores:
    submitted = submit(client, challenge, VARIANTS[variant], method_name=f"Method {variant}")
    path = f"/api/v1/submissions/{submitted['id']}"
    eventually(lambda: client.get(path).json()["state"] == "scored")
    return _means(client.get(path).json())


def _means(submission: dict[str, object]) -> Scores:
    competitions = submission["competitions"]
    assert isinstance(competitions, dict)
    return {name: scores["mean"] for name, scores in competitions.items()}


@contextlib.contextmanager
def _uploading(people: list[httpx.Client], challenge: str, load: Load) -> Iterator[None]:
    """Let every person upload one archive after the other until the block ends."""
    done = threading.Event()

    def upload(client: httpx.Client, first: int) -> None:
        for number in itertools.count(first):
            variant = number % len(VARIANTS)
            if done.wait(SECONDS_BETWEEN_UPLOADS):
                return
            response = client.post(
                f"{challenge}/submissions",
                data={"method_name": f"Method {variant}"},
                files={"archive": ("results.tar.gz", VARIANTS[variant])},
            )
            load.answers[str(response.status_code)] += 1
            if response.status_code == httpx.codes.CREATED:
                load.accepted.add(response.json()["id"])
            elif response.status_code not in LATER or "retry-after" not in response.headers:
                load.wrong.append(f"{response.status_code}: {response.text[:300]}")

    threads = [threading.Thread(target=upload, args=(client, n)) for n, client in enumerate(people)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def _injectors(
    chance: random.Random, services: Services, redis: CrashingServer, postgres: CrashingServer
) -> list[tuple[int, Callable[[], None]]]:
    """How often to do what: each list of faults is worked off beside the others."""
    pick = random.Random(chance.random())  # one for each thread, so that the seed decides whatever their timing
    down, down_long, workers = random.Random(chance.random()), random.Random(chance.random()), itertools.count()

    def crash_redis() -> None:
        redis.kill()
        time.sleep(down.uniform(0, 2))
        redis.start()

    def crash_postgres() -> None:
        postgres.kill()
        time.sleep(down_long.uniform(0, 3))
        postgres.start()

    def disturb_worker() -> None:
        name = f"worker-{pick.randrange(WORKERS)}"
        if next(workers) % 2:
            services.kill(name)
            time.sleep(1)
            services.start(name)
        else:
            services.signal(name, signal.SIGSTOP)
            time.sleep(LEASE.total_seconds() + pick.uniform(1, 4))
            services.signal(name, signal.SIGCONT)

    return [
        (REDIS_KILLS, crash_redis),
        (POSTGRES_KILLS, crash_postgres),
        (WORKER_PAUSES + WORKER_KILLS, disturb_worker),
    ]


def _run(faults: list[tuple[int, Callable[[], None]]], *, seconds: float, seed: int) -> None:
    """Spread each kind of fault over the time, at random moments of equal parts of it."""
    failures: list[BaseException] = []

    def work_off(count: int, fault: Callable[[], None], chance: random.Random) -> None:
        started = time.monotonic()
        try:
            for number in range(count):
                due = started + (number + chance.random()) * seconds / count
                time.sleep(max(0.0, due - time.monotonic()))
                print(f"{time.monotonic() - started:6.1f} s  {fault.__name__}", flush=True)
                fault()
        except BaseException as error:
            failures.append(error)

    threads = [
        threading.Thread(target=work_off, args=(count, fault, random.Random(f"{seed} {number}")))
        for number, (count, fault) in enumerate(faults)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _wait_until_scored(database_url: str) -> list[str]:
    """Wait for as long as is allowed until nothing waits or runs."""
    database, started = Database(database_url), time.monotonic()
    unfinished = select(func.count()).where(Submission.state.in_([State.QUEUED, State.EVALUATING]))
    try:
        while True:
            with database.reading() as session:
                left = session.scalar(unfinished) or 0
            seconds = time.monotonic() - started
            if left == 0:
                print(f"all are scored {seconds:.1f} s after the last fault")
                return []
            if seconds > ALLOWED_AFTER.total_seconds():
                return [f"{left} submissions are not scored {seconds:.0f} s after the last fault"]
            time.sleep(0.2)
    finally:
        database.close()


def _check(database_url: str, people: list[httpx.Client], load: Load, expected: list[Scores]) -> list[str]:
    """Compare what is stored with what clients were told, and with what they should see."""
    problems = load.wrong[:]
    database = Database(database_url)
    with database.reading() as session:
        query = select(Submission.id, Submission.state, Method.name, User.name)
        stored = session.execute(query.join(Method, Method.id == Submission.method_id).join(User)).all()
        evaluations = select(Evaluation.submission_id, func.count()).group_by(Evaluation.submission_id)
        counts = {row[0]: row[1] for row in session.execute(evaluations)}
    database.close()
    known = {str(row[0]) for row in stored}
    print(f"{len(known)} stored, {len(known - load.accepted) - len(expected)} of them without their client's knowledge")
    problems += [f"{one} was accepted and is lost" for one in load.accepted - known]
    for submission_id, state, method, person in stored:
        if state is not State.SCORED or counts.get(submission_id) != 1:
            problems.append(f"{submission_id} is {state} and has {counts.get(submission_id, 0)} evaluations")
            continue
        seen = people[_number(person)].get(f"/api/v1/submissions/{submission_id}")
        if seen.status_code != httpx.codes.OK or _means(seen.json()) != expected[_number(method)]:
            problems.append(f"{submission_id} should have the scores {expected[_number(method)]}: {seen.text[:300]}")
    return problems


def _number(name: str) -> int:
    """The number that a name ends with."""
    return int(name.replace("-", " ").split()[-1])


def _keep_logs(directory: Path, seed: int) -> None:
    target = Path(tempfile.gettempdir()) / f"vocboard-faults-logs-{seed}"
    target.mkdir(exist_ok=True)
    for log in directory.glob("*.log"):
        log.rename(target / log.name)
    print(f"logs: {target}")


if __name__ == "__main__":
    sys.exit(main())
