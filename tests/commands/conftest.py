"""Fixtures of the participant's commands: a real server with a real worker on synthetic data, and its users."""

import logging
import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from tests.commands.board import COMPETITIONS, EDITION, Board, Run
from tests.support.factories import make_challenge, make_organiser, make_token
from tests.support.life import eventually
from tests.support.services import make_tables
from tests.support.site import serving
from tests.support.working import working
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, Detail, GroundTruthVersion
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE
from vocboard.client import credentials
from vocboard.commands.demo.cast import BY_NAME
from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.methods import results_archive
from vocboard.commands.demo.scenes import draw_world
from vocboard.commands.demo.seeding import Api, upload_ground_truth
from vocboard.commands.main import main


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    """Give a server with its worker, and three challenges: `voc`, `over` and `soon`."""
    directory = tmp_path_factory.mktemp("board")
    settings = Settings(data_directory=directory / "data", worker_processes=1)
    settings.data_directory.mkdir()
    make_tables(settings)
    database = Database(settings.database)
    world = draw_world(EDITION, seed=7, main=12, segmented=2, layout=4, action=4)
    tree = write_development_kit(world, EDITION, directory / "kit")
    with database.writing() as session:
        organiser = make_organiser(session)
        secret = make_token(session, organiser)
        voc = make_challenge(
            session, organiser=organiser, ready=False, slug="voc", title="Shapes", detail=Detail.EVERYTHING
        )
        add_phases(session, voc, organiser)
        over = now() - timedelta(hours=1)
        make_challenge(session, organiser=organiser, slug="over", title="Last year", closes_at=over)
        soon = now() + timedelta(days=1)
        make_challenge(session, organiser=organiser, slug="soon", title="Next year", opens_at=soon)
        # They have no files; without any file that it needs, a worker does not start.
        session.execute(update(GroundTruthVersion).values(sha256=None))
    with serving(settings) as site, working(settings, directory / "worker.log"):
        eventually((settings.ground_truth_inbox / PUBLIC_KEY_FILE).exists)  # the worker is there
        with closing(Api(site.url, secret)) as api:
            upload_ground_truth(api, "voc", tree.parent)  # any directory with the tree in it
        yield Board(site.url, database, world, tree)
    database.close()


def add_phases(session: Session, challenge: Challenge, organiser: User) -> None:
    """Add a phase that has been open for longer than the main one, and one that is closed."""
    for key, title, closes_at in (("extra", "Extra", None), ("closed", "Over", now() - timedelta(hours=1))):
        rules = PhaseRules(competitions=tuple(COMPETITIONS), opens_at=now() - timedelta(days=2), closes_at=closes_at)
        add_phase(session, challenge=challenge, user=organiser, key=key, title=title, rules=rules)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the program, and returns its exit status, output and errors."""

    def program(*arguments: object) -> tuple[int, str, str]:
        status = main(list(map(str, arguments)))
        output = capsys.readouterr()
        return status, output.out, output.err

    return program


@pytest.fixture(autouse=True)
def unconfigured_log() -> Iterator[None]:
    """Remove what `vocboard serve` adds to the log of this process: a handler for the test's own standard error."""
    yield
    for handler in [handler for handler in logging.root.handlers if type(handler) is logging.StreamHandler]:
        logging.root.removeHandler(handler)
        logging.root.setLevel(logging.WARNING)


@pytest.fixture(autouse=True)
def quick_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save what each command would read: all certificates, which no server here has, and translations of argparse."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", os.devnull)
    monkeypatch.setenv("LANGUAGE", "C")


@pytest.fixture
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the test from the developer's servers and tokens."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for variable in ("VOCBOARD_SERVER", "VOCBOARD_TOKEN"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def participant(board: Board, own_settings: None) -> str:
    """Log a new participant in, and give the token."""
    token = board.token()
    credentials.save(credentials.load().with_server(board.url, token))
    return token


@pytest.fixture
def archive(board: Board, tmp_path: Path) -> Path:
    """Give a valid archive for all competitions of the challenge."""
    path = tmp_path / "results.tar.gz"
    path.write_bytes(results_archive(BY_NAME["Part-based mixture"], board.world, EDITION, COMPETITIONS))
    return path
