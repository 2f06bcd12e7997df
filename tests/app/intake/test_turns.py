"""People who keep validation busy wait for others, not the reverse."""

import uuid
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import pytest

from vocboard.app.intake.limits import Place
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.validation import (
    LIGHT_SECONDS,
    NETWORK_SHARE,
    NEW_ACCOUNTS_SHARE,
    REMEMBERED_FOR,
    FairTurns,
)

pytestmark = pytest.mark.anyio


def someone(network: str | None = None, *, is_new: bool = False) -> Place:
    person = uuid.uuid4()
    return Place(person, network or str(person), UploadKind.SUBMISSION, 0, is_new)


GREEDY, OTHER, THIRD = (someone() for _ in range(3))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def run(test: Callable[[], Awaitable[None]]) -> None:
    anyio.run(test)


async def use(turns: FairTurns, clock: Clock, owner: Place, seconds: float) -> None:
    async with turns.turn(owner):
        clock.seconds += seconds


async def hold(turns: FairTurns, owner: Place, *, is_small: bool) -> None:
    async with turns.turn(owner, is_small=is_small):
        await anyio.sleep_forever()


async def note(turns: FairTurns, owner: Place, order: list[Place]) -> None:
    async with turns.turn(owner):
        order.append(owner)


async def test_of_those_who_wait_the_one_for_whom_least_was_done_is_next() -> None:
    clock = Clock()
    turns = FairTurns(1, clock=clock)
    order: list[Place] = []
    await use(turns, clock, GREEDY, 100)
    await use(turns, clock, OTHER, 1)

    async with anyio.create_task_group() as tasks, turns.turn(THIRD):
        for owner in (GREEDY, GREEDY, OTHER):
            tasks.start_soon(note, turns, owner, order)
        await anyio.wait_all_tasks_blocked()
        assert turns.waiting == 3
    assert order == [OTHER, GREEDY, GREEDY]
    assert turns.taken == 0


async def test_a_person_has_one_turn_at_a_time() -> None:
    turns = FairTurns(4)
    async with anyio.create_task_group() as tasks, turns.turn(GREEDY):
        tasks.start_soon(use, turns, Clock(), GREEDY, 0)
        await anyio.wait_all_tasks_blocked()
        assert (turns.taken, turns.waiting) == (1, 1)


async def test_the_last_place_is_for_people_for_whom_little_was_done() -> None:
    """With three accounts as with one: each of them has had its share."""
    clock = Clock()
    turns = FairTurns(2, clock=clock)
    accounts = [someone() for _ in range(3)]
    for account in accounts:
        await use(turns, clock, account, LIGHT_SECONDS + 1)
    async with anyio.create_task_group() as tasks, turns.turn(accounts[0]):
        for account in accounts[1:]:
            tasks.start_soon(use, turns, clock, account, 0)
        await anyio.wait_all_tasks_blocked()
        assert (turns.taken, turns.waiting) == (1, 2)
        with anyio.fail_after(5):
            await use(turns, clock, OTHER, 0)


async def test_large_uploads_of_any_number_of_accounts_leave_the_last_place_to_small_ones() -> None:
    turns = FairTurns(2)
    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(partial(hold, turns, someone(), is_small=False))
        await anyio.wait_all_tasks_blocked()
        assert (turns.taken, turns.waiting) == (1, 7)
        with anyio.fail_after(5):
            async with turns.turn(someone(is_new=True)) as is_express:
                assert is_express
        tasks.cancel_scope.cancel()


async def test_the_accounts_of_a_network_share_what_is_left_to_the_last_place() -> None:
    clock = Clock()
    turns = FairTurns(2, clock=clock)
    for _ in range(NETWORK_SHARE + 1):
        await use(turns, clock, someone("192.0.2.1"), LIGHT_SECONDS)
    async with anyio.create_task_group() as tasks, turns.turn(OTHER):
        tasks.start_soon(use, turns, clock, someone("192.0.2.1"), 0)
        await anyio.wait_all_tasks_blocked()
        assert turns.waiting == 1
        with anyio.fail_after(5):
            await use(turns, clock, someone("192.0.2.2"), 0)


async def test_new_accounts_that_were_given_much_together_wait_for_others() -> None:
    clock = Clock()
    turns = FairTurns(1, clock=clock)
    order: list[Place] = []
    for _ in range(NEW_ACCOUNTS_SHARE + 1):
        await use(turns, clock, someone(is_new=True), LIGHT_SECONDS)
    await use(turns, clock, OTHER, 1)
    async with anyio.create_task_group() as tasks, turns.turn(THIRD):
        new = someone(is_new=True)
        for owner in (new, OTHER):
            tasks.start_soon(note, turns, owner, order)
            await anyio.wait_all_tasks_blocked()
    assert order == [OTHER, new]


async def test_what_was_done_long_ago_is_forgotten() -> None:
    """Who comes first is then next, although for the other one nothing was ever done."""
    clock = Clock()
    turns = FairTurns(2, clock=clock)
    order: list[Place] = []
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


async def test_who_gives_up_waiting_leaves_no_trace() -> None:
    turns = FairTurns(1)
    async with turns.turn(GREEDY):
        with anyio.move_on_after(0.05):
            await use(turns, Clock(), OTHER, 0)
        assert turns.waiting == 0
    assert turns.taken == 0
