"""Workers go on evaluating whatever happens to Redis: as it was found, and worse."""

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.backend import Backend, make_columns, wait_until
from tests.support.crashing_servers import CrashingServer, crashing_redis
from tests.support.services import REAL, needed
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State

pytestmark = [pytest.mark.services, pytest.mark.parametrize("set_up", [REAL], indirect=True)]
SECONDS_BETWEEN_UPLOADS = 0.03
RESTARTS = [(1.3, 3.1), (0.6, 1.1), (0.8, 1.7), (1.2, 1.3)]  # seconds without Redis, then with it


@pytest.fixture
def redis(backend: Backend) -> Iterator[tuple[Backend, CrashingServer]]:
    """Give the set-up with a Redis of its own, and that Redis."""
    with needed(crashing_redis()) as (url, server):
        settings = backend.settings.model_copy(update={"broker_url": f"{url}/0"})
        yield replace(backend, settings=settings), server


def test_both_workers_still_consume_after_redis_was_killed_and_restarted(
    redis: tuple[Backend, CrashingServer],
) -> None:
    backend, server = redis
    challenge = backend.challenge()
    people = [backend.user() for _ in range(5)]
    queued: list[uuid.UUID] = []
    done = threading.Event()

    def upload() -> None:
        while not done.wait(SECONDS_BETWEEN_UPLOADS):
            queued.append(backend.submit(people[len(queued) % len(people)], challenge, columns=make_columns()))
            WorkerNotifier(backend.settings).wake({Kind.EVALUATION})  # a new one: it does not pause after a failure

    def left() -> int:
        with backend.database.reading() as session:
            return sum(queue.count(session, state) for state in queue.UNFINISHED)

    started = [backend.running("worker", worker_processes=2, sweep_interval="PT2S") for _ in range(2)]
    with started[0] as first, started[1] as second, backend.running("beat", sweep_interval="PT2S"):
        uploads = [threading.Thread(target=upload) for _ in range(2)]
        for thread in uploads:
            thread.start()
        try:
            wait_until(lambda: bool(queued) and backend.submission(queued[0]).state is State.SCORED)
            for seconds_down, seconds_up in RESTARTS:
                server.kill()
                time.sleep(seconds_down)
                server.start()
                time.sleep(seconds_up)
        finally:
            done.set()
            for thread in uploads:
                thread.join()
        wait_until(lambda: left() == 0, lambda: f"{left()} of {len(queued)} submissions are not scored")
        for paused in (first, second):
            backend.pause(paused)  # so that the other one has to do it
            backend.wait_for(backend.submit(people[0], challenge), State.SCORED)
            os.killpg(paused.pid, signal.SIGCONT)


def test_wake_ups_arrive_again_after_a_restart(redis: tuple[Backend, CrashingServer]) -> None:
    backend, server = redis
    challenge, user = backend.challenge(), backend.user()
    notifier = WorkerNotifier(backend.settings)
    with backend.running("worker", poll_interval="PT1H", sweep_interval="PT1H"):
        first = backend.submit(user, challenge)
        notifier.wake({Kind.EVALUATION})
        backend.wait_for(first, State.SCORED)
        server.kill()
        server.start()
        second = backend.submit(user, challenge)

        def is_scored() -> bool:
            notifier.wake({Kind.EVALUATION})
            return backend.submission(second).state is State.SCORED

        wait_until(is_scored)


def test_without_redis_workers_score_anyway(redis: tuple[Backend, CrashingServer]) -> None:
    backend, server = redis
    challenge, user = backend.challenge(), backend.user()
    server.kill()
    with backend.running("worker"):
        for _ in range(3):
            backend.wait_for(backend.submit(user, challenge), State.SCORED)
