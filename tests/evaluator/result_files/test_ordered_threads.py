"""Work on several threads: its results come in its order, and not too much of it waits."""

import threading
import time
from collections.abc import Callable

import pytest

from vocboard.evaluator.result_files.ordered_threads import OrderedThreadPool


def waiting(seconds: float, result: int) -> Callable[[], int]:
    def work() -> int:
        time.sleep(seconds)
        return result

    return work


def test_results_come_in_the_order_of_the_work() -> None:
    taken: list[int] = []
    doing = OrderedThreadPool(taken.append)
    for number in range(50):
        doing.add(waiting(0.002 * (number % 3), number))
    doing.finish()
    assert taken == list(range(50))


def test_results_are_taken_by_the_thread_that_adds() -> None:
    threads: list[threading.Thread] = []
    doing: OrderedThreadPool[int] = OrderedThreadPool(lambda _: threads.append(threading.current_thread()))
    for number in range(20):
        doing.add(waiting(0, number))
    doing.finish()
    assert threads == [threading.current_thread()] * 20


def test_only_so_much_waits() -> None:
    gate = threading.Event()
    taken: list[bool] = []
    doing = OrderedThreadPool(taken.append)
    added = 0

    def add_many() -> None:
        nonlocal added
        for _ in range(1_000):
            doing.add(gate.wait)
            added += 1

    adding = threading.Thread(target=add_many)
    adding.start()
    time.sleep(0.1)
    assert 0 < added < 100
    gate.set()
    adding.join()
    doing.finish()
    assert len(taken) == 1_000


def test_little_waits_of_work_that_holds_much() -> None:
    gate = threading.Event()
    doing: OrderedThreadPool[bool] = OrderedThreadPool(lambda _: None)
    added = 0

    def add_many() -> None:
        nonlocal added
        for _ in range(100):
            doing.add(gate.wait, held_bytes=100 * 1024 * 1024)
            added += 1

    adding = threading.Thread(target=add_many)
    adding.start()
    time.sleep(0.1)
    assert 0 < added < 12  # each by itself: at most two of each of four threads, and those being handed over
    gate.set()
    adding.join()
    doing.finish()


def test_what_work_raises_is_raised() -> None:
    doing: OrderedThreadPool[object] = OrderedThreadPool(lambda _: None)
    doing.add(lambda: None)
    doing.add(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        doing.finish()
