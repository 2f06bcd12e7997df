"""The load generator measures what it says, and the synthetic board is a board."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from benchmarks.datasets.boards import COMPETITION, SLUG, fill
from benchmarks.load import load
from tests.support.phases import show_board
from tests.support.site import Site, serving
from vocboard.app.challenges import service as challenges
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Submission


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url)) as running:
        with running.writing() as session:
            fill(session, submissions=30, published=20)
        yield running


def test_every_request_is_answered_and_its_bytes_are_counted(site: Site) -> None:
    url = f"{site.url}/challenges/{SLUG}/leaderboards/{COMPETITION}"
    found = asyncio.run(load(url, 40, 8))
    with site.client() as client:
        length = int(client.get(url).headers["content-length"])
    assert found.requests == 40
    assert 0 < found.p50 <= found.p99 <= 1000 * found.seconds
    assert length < found.answer_bytes < length + 2000


def test_what_is_not_found_is_no_measurement(site: Site) -> None:
    with pytest.raises(RuntimeError):
        asyncio.run(load(f"{site.url}/nothing/here", 2, 1))


def test_the_made_up_board_shows_what_is_published(site: Site) -> None:
    with site.database.reading() as session:
        found = show_board(session, challenges.get_visible(session, SLUG, None), COMPETITION)
        assert session.scalar(select(func.count()).select_from(Submission)) == 30
    assert len(found.rows) == 20
    assert all(cell.is_entered for row in found.rows for cell in row.cells)
