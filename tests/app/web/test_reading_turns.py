"""Requests of one client do not delay the pages of others."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from vocboard.app.errors import BusyError
from vocboard.app.web.middleware import AT_ONCE, MAX_WAITING, ReadingTurns

pytestmark = pytest.mark.anyio

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"


class Pages:
    """An application whose answers begin, and end, when it is told."""

    def __init__(self) -> None:
        self.working: Counter[str] = Counter()
        self.may_begin, self.may_end = asyncio.Event(), asyncio.Event()
        self.turns = ReadingTurns(self)

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        client = scope["client"][0]
        self.working[client] += 1
        await self.may_begin.wait()
        await send({"type": "http.response.start"})
        self.working[client] -= 1
        await self.may_end.wait()

    def get(self, client: str = HERE, path: str = "/", method: str = "GET") -> "asyncio.Task[None]":
        scope = {"type": "http", "method": method, "path": path, "client": (client, 1), "headers": []}
        return asyncio.create_task(self.turns(scope, _nothing, _sent))


async def _nothing() -> Any:
    return {"type": "http.disconnect"}


async def _sent(_message: Any) -> None:
    pass


async def _settled() -> None:
    for _ in range(500):
        await asyncio.sleep(0)


async def test_a_network_has_two_places_and_waits_for_itself_alone() -> None:
    pages = Pages()
    tasks = [pages.get() for _ in range(AT_ONCE + MAX_WAITING)]
    await _settled()
    assert pages.working == {HERE: AT_ONCE}
    with pytest.raises(BusyError):
        await pages.get()
    others = [pages.get(ELSEWHERE), pages.get(path="/healthz"), pages.get(path="/static/a.css")]
    others.append(pages.get(method="POST"))
    await _settled()
    assert pages.working == {HERE: AT_ONCE + 3, ELSEWHERE: 1}
    for cancelled in (tasks.pop(0), tasks.pop()):  # one that works, and one that waits
        cancelled.cancel()
    # What has begun to answer, such as an event stream, holds no place: all of them begin although none ends.
    pages.may_begin.set()
    await _settled()
    assert pages.working[ELSEWHERE] == 0
    assert pages.working[HERE] <= 1  # the one that was cancelled
    pages.may_end.set()
    await asyncio.gather(*tasks, *others)
    assert not pages.turns._present
    assert not pages.turns._places
