"""Work on several threads: its results come in its order, and not too much of it waits."""

import hashlib
import os
import threading
import tracemalloc
from functools import partial

import pytest

from vocboard.evaluator.result_files.ordered_threads import OrderedThreadPool

SECONDS_TO_WAIT = 30
THREADS = 4
KIBIBYTE, MEBIBYTE = 1024, 1024 * 1024


@pytest.fixture(autouse=True)
def processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be four threads, whatever the machine has."""
    monkeypatch.setattr(os, "cpu_count", lambda: THREADS)


def test_results_come_in_the_order_of_the_work() -> None:
    last_is_done = threading.Event()
    taken: list[int] = []
    doing = OrderedThreadPool(taken.append)

    def work(number: int) -> int:
        if number == 0:
            assert last_is_done.wait(SECONDS_TO_WAIT)
        if number == 49:
            last_is_done.set()
        return number

    for number in range(50):
        doing.add(partial(work, number))
    doing.finish()
    assert taken == list(range(50))


def test_results_are_taken_by_the_thread_that_adds() -> None:
    threads: list[threading.Thread] = []
    doing: OrderedThreadPool[None] = OrderedThreadPool(lambda _: threads.append(threading.current_thread()))
    for _ in range(20):
        doing.add(lambda: None)
    doing.finish()
    assert threads == [threading.current_thread()] * 20


@pytest.mark.parametrize(
    ("pieces", "piece_bytes", "most_held"),
    [
        pytest.param(3_000, 64 * KIBIBYTE, 12 * MEBIBYTE, id="many small pieces"),
        pytest.param(100, 2 * MEBIBYTE, 24 * MEBIBYTE, id="a few large pieces"),
    ],
)
def test_memory_stays_bounded(pieces: int, piece_bytes: int, most_held: int) -> None:
    """Work is added faster than it is done."""
    doing: OrderedThreadPool[bytes] = OrderedThreadPool(lambda _: None)
    tracemalloc.start()
    try:
        for _ in range(pieces):
            doing.add(partial(digest, bytearray(piece_bytes)), held_bytes=piece_bytes)
        doing.finish()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert piece_bytes < most < most_held


def digest(content: bytearray) -> bytes:
    return hashlib.sha256(content).digest()


def test_what_work_raises_is_raised() -> None:
    doing: OrderedThreadPool[object] = OrderedThreadPool(lambda _: None)
    doing.add(lambda: None)
    doing.add(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        doing.finish()
