"""A run of a query serves the requests that arrived before it began; later ones get the next run."""

import asyncio
import threading

import pytest

from vocboard.app.leaderboards.current import CoalescedQueries

pytestmark = pytest.mark.anyio


class Queries:
    """A query whose runs end only when the test permits it; each run returns its number."""

    def __init__(self) -> None:
        self.begun = 0
        self.permits = threading.Semaphore(0)

    def run(self) -> int:
        self.begun += 1
        number = self.begun
        assert self.permits.acquire(timeout=10)
        return number


async def until(queries: Queries, begun: int) -> None:
    while queries.begun < begun:
        await asyncio.sleep(0.001)


async def test_requests_during_a_run_share_the_next_run() -> None:
    queries, coalesced = Queries(), CoalescedQueries[int]()
    first = asyncio.create_task(coalesced.run("board", queries.run))
    await until(queries, 1)
    later = [asyncio.create_task(coalesced.run("board", queries.run)) for _ in range(20)]
    await asyncio.sleep(0.01)
    assert queries.begun == 1  # one run at a time per key
    queries.permits.release(2)
    assert await first == 1
    assert await asyncio.gather(*later) == [2] * 20
    queries.permits.release()
    assert await coalesced.run("board", queries.run) == 3


async def test_different_keys_do_not_wait_for_each_other() -> None:
    queries, coalesced = Queries(), CoalescedQueries[int]()
    both = [asyncio.create_task(coalesced.run(key, queries.run)) for key in ("one", "other")]
    await until(queries, 2)
    queries.permits.release(2)
    assert sorted(await asyncio.gather(*both)) == [1, 2]


async def test_a_cancelled_request_does_not_cancel_the_run_of_others() -> None:
    queries, coalesced = Queries(), CoalescedQueries[int]()
    impatient = asyncio.create_task(coalesced.run("board", queries.run))
    patient = asyncio.create_task(coalesced.run("board", queries.run))
    await until(queries, 1)
    impatient.cancel()
    queries.permits.release()
    assert await patient == 1


async def test_an_exception_reaches_every_request_and_the_next_run_is_unaffected() -> None:
    def fail() -> int:
        raise LookupError

    coalesced = CoalescedQueries[int]()
    found = await asyncio.gather(*(coalesced.run("board", fail) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in found] == [LookupError] * 3
    assert await coalesced.run("board", lambda: 7) == 7
