"""Each kind of fault that no other test injects, on the two machines of `make soak`; the table is in docs/faults.md."""

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.soak.counting import count, settle
from tests.soak.faults import KINDS
from tests.soak.people import VARIANTS, People, acting, people_of
from tests.soak.world import World, running
from tests.support.life import eventually
from tests.support.services import needed

pytestmark = pytest.mark.services
TESTED = (
    "PostgreSQL failed over",
    "every message twice",
    "worker's disk full",
    "store away",
    "network slow",
    "network cut",
    "clock jumped",
)


@pytest.fixture(scope="module")
def soaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, People]]:
    """Give the machines, and who uses them."""
    directory = tmp_path_factory.mktemp("soak")
    with needed(running(directory, lease=timedelta(seconds=2))) as world, people_of(world) as people:
        yield world, people


@pytest.mark.parametrize("title", TESTED)
def test_everything_accepted_is_scored_after(soaking: tuple[World, People], title: str) -> None:
    world, people = soaking
    with acting(people, title):
        KINDS[title].inject(world, random.Random(title))
        _, stuck = settle(world)
    assert (stuck, people.ledger.wrong) == ([], [])


def test_nothing_is_lost_or_counts_twice_in_the_end(soaking: tuple[World, People]) -> None:
    world, people = soaking
    with acting(people, "in the end"):
        eventually(lambda: len(people.ledger.accepted) > len(VARIANTS) + len(TESTED))
    _, stuck = settle(world, everything=True)
    _, wrong = count(world, people)
    assert (stuck, wrong) == ([], [])
