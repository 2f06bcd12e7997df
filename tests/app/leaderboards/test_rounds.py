"""A look serves those who asked before it began; whoever asks later gets the next one."""

import asyncio
import threading

import pytest

from vocboard.app.leaderboards.kept import Kept
from vocboard.app.leaderboards.rounds import Rounds


class Looks:
    """Looks that end only when they are told to; each finds its number."""

    def __init__(self) -> None:
        self.begun = 0
        self.permits = threading.Semaphore(0)

    def look(self) -> int:
        self.begun += 1
        number = self.begun
        assert self.permits.acquire(timeout=10)
        return number


async def until(looks: Looks, begun: int) -> None:
    while looks.begun < begun:
        await asyncio.sleep(0.001)


def test_who_asks_during_a_look_gets_the_next_one_together() -> None:
    async def ask() -> None:
        looks, rounds = Looks(), Rounds[int]()
        first = asyncio.create_task(rounds.ask("board", looks.look))
        await until(looks, 1)
        later = [asyncio.create_task(rounds.ask("board", looks.look)) for _ in range(20)]
        await asyncio.sleep(0.01)
        assert looks.begun == 1  # of equal questions one look is under way at a time
        looks.permits.release(2)
        assert await first == 1
        assert await asyncio.gather(*later) == [2] * 20
        looks.permits.release()
        assert await rounds.ask("board", looks.look) == 3

    asyncio.run(ask())


def test_different_questions_do_not_wait_for_each_other() -> None:
    async def ask() -> None:
        looks, rounds = Looks(), Rounds[int]()
        both = [asyncio.create_task(rounds.ask(question, looks.look)) for question in ("one", "other")]
        await until(looks, 2)
        looks.permits.release(2)
        assert sorted(await asyncio.gather(*both)) == [1, 2]

    asyncio.run(ask())


def test_who_goes_away_takes_the_answer_from_nobody() -> None:
    async def ask() -> None:
        looks, rounds = Looks(), Rounds[int]()
        impatient = asyncio.create_task(rounds.ask("board", looks.look))
        patient = asyncio.create_task(rounds.ask("board", looks.look))
        await until(looks, 1)
        impatient.cancel()
        looks.permits.release()
        assert await patient == 1

    asyncio.run(ask())


def test_what_a_look_raises_everyone_gets_and_the_next_look_is_not_hurt() -> None:
    def fail() -> int:
        raise LookupError

    async def ask() -> None:
        rounds = Rounds[int]()
        found = await asyncio.gather(*(rounds.ask("board", fail) for _ in range(3)), return_exceptions=True)
        assert [type(each) for each in found] == [LookupError] * 3
        assert await rounds.ask("board", lambda: 7) == 7

    asyncio.run(ask())


@pytest.mark.parametrize("weight", [6, 600])
def test_what_is_too_heavy_is_not_kept_and_drives_nothing_out_for_good(weight: int) -> None:
    kept = Kept[str, str](most=5)
    kept.put("heavy", "thing", weight)
    assert kept.get("heavy") is None
    kept.put("light", "thing", 5)
    assert kept.get("light") == "thing"
