"""People who keep validation busy wait for others, not the reverse."""

import uuid
from collections.abc import Awaitable, Callable

import anyio

from vocboard.app.submissions.validation_turns import LIGHT_SECONDS, REMEMBERED_FOR, FairTurns

GREEDY, OTHER, THIRD = (uuid.uuid4() for _ in range(3))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def run(test: Callable[[], Awaitable[None]]) -> None:
    anyio.run(test)


async def use(turns: FairTurns, clock: Clock, owner: uuid.UUID, seconds: float) -> None:
    async with turns.turn(owner):
        clock.seconds += seconds


async def note(turns: FairTurns, owner: uuid.UUID, order: list[uuid.UUID]) -> None:
    async with turns.turn(owner):
        order.append(owner)


def test_of_those_who_wait_the_one_for_whom_least_was_done_is_next() -> None:
    async def test() -> None:
        clock = Clock()
        turns = FairTurns(1, clock=clock)
        order: list[uuid.UUID] = []
        await use(turns, clock, GREEDY, 100)
        await use(turns, clock, OTHER, 1)

        async with anyio.create_task_group() as tasks, turns.turn(THIRD):
            for owner in (GREEDY, GREEDY, OTHER):
                tasks.start_soon(note, turns, owner, order)
            await anyio.wait_all_tasks_blocked()
            assert turns.waiting == 3
        assert order == [OTHER, GREEDY, GREEDY]
        assert turns.taken == 0

    run(test)


def test_a_person_has_one_turn_at_a_time() -> None:
    async def test() -> None:
        turns = FairTurns(4)
        async with anyio.create_task_group() as tasks, turns.turn(GREEDY):
            tasks.start_soon(use, turns, Clock(), GREEDY, 0)
            await anyio.wait_all_tasks_blocked()
            assert (turns.taken, turns.waiting) == (1, 1)

    run(test)


def test_the_last_place_is_for_people_for_whom_little_was_done() -> None:
    """With three accounts as with one: each of them has had its share."""

    async def test() -> None:
        clock = Clock()
        turns = FairTurns(2, clock=clock)
        accounts = [uuid.uuid4() for _ in range(3)]
        for account in accounts:
            await use(turns, clock, account, LIGHT_SECONDS + 1)
        async with anyio.create_task_group() as tasks, turns.turn(accounts[0]):
            for account in accounts[1:]:
                tasks.start_soon(use, turns, clock, account, 0)
            await anyio.wait_all_tasks_blocked()
            assert (turns.taken, turns.waiting) == (1, 2)
            with anyio.fail_after(5):
                await use(turns, clock, OTHER, 0)

    run(test)


def test_what_was_done_long_ago_is_forgotten() -> None:
    """Who comes first is then next, although for the other one nothing was ever done."""

    async def test() -> None:
        clock = Clock()
        turns = FairTurns(2, clock=clock)
        order: list[uuid.UUID] = []
        await use(turns, clock, GREEDY, LIGHT_SECONDS * 10)
        clock.seconds += 20 * REMEMBERED_FOR.total_seconds()
        async with anyio.create_task_group() as tasks:
            with anyio.fail_after(5):
                async with turns.turn(THIRD), turns.turn(GREEDY):
                    for owner in (GREEDY, OTHER):
                        tasks.start_soon(note, turns, owner, order)
                        await anyio.wait_all_tasks_blocked()
                    assert turns.waiting == 2
        assert order == [GREEDY, OTHER]

    run(test)


def test_who_gives_up_waiting_leaves_no_trace() -> None:
    async def test() -> None:
        turns = FairTurns(1)
        async with turns.turn(GREEDY):
            with anyio.move_on_after(0.05):
                await use(turns, Clock(), OTHER, 0)
            assert turns.waiting == 0
        assert turns.taken == 0

    run(test)
