"""A leaderboard under load, over HTTP: real web processes on PostgreSQL, next to a route that returns a constant."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psycopg
from psycopg import sql
from sqlalchemy import select, text, update
from sqlalchemy.engine import make_url

from benchmarks.benchmark import ROOT, Case, Goal, Implementation, Kind, Measurement, Run
from benchmarks.datasets.boards import COMPETITION, SLUG, fill
from benchmarks.load import Load
from benchmarks.running import Installation, installed, serving
from tests.support.postgres import conninfo
from vocboard.app.database import Base, Database
from vocboard.app.submissions.models import Submission

SUBMISSIONS, PUBLISHED = 10_000, 200
PROCESSES = 2  # as docker-compose.yml starts them
CONNECTIONS = 50
REQUESTS = 10_000
CHANGES = 7  # of a leaderboard, each of which is followed by a request
WARMING = 500
CONSTANT = "/healthz"
PAGE = f"/challenges/{SLUG}/leaderboards/{COMPETITION}"
JSON = f"/api/v1{PAGE}"


def make_board(directory: Path, scale: float) -> None:
    """Fill a database, and write its tables into files: that is ten times as quick to fill the next one with."""
    with tempfile.TemporaryDirectory() as temporary, installed(Path(temporary)) as installation:
        database = Database(installation.settings.database)
        with database.writing() as session:
            fill(session, submissions=int(SUBMISSIONS * scale), published=int(PUBLISHED * scale))
        database.close()
        with _connected(installation) as connection, connection.cursor() as cursor:
            for table in Base.metadata.tables.values():
                with cursor.copy(sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(table.name))) as copy:
                    (directory / f"{table.name}.copy").write_bytes(b"".join(copy))


@contextmanager
def board_served(directory: Path, *, processes: int = PROCESSES) -> Iterator[Installation]:
    """Serve a board that `make_board` has made."""
    with tempfile.TemporaryDirectory() as temporary, installed(Path(temporary)) as installation:
        with _connected(installation) as connection, connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")  # in whatever order tables come
            for table in Base.metadata.tables.values():
                with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table.name))) as copy:
                    copy.write((directory / f"{table.name}.copy").read_bytes())
        database = Database(installation.settings.database)
        analyse(database)
        database.close()
        with serving(installation, processes=processes):
            yield installation


def _connected(installation: Installation) -> psycopg.Connection:
    return psycopg.connect(conninfo(make_url(installation.settings.database)))


def analyse(database: Database) -> None:
    """Do what PostgreSQL does by itself some time after much was written."""
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def load(installation: Installation, path: str, requests: int = REQUESTS, connections: int = CONNECTIONS) -> Load:
    """Send requests from a process of their own."""
    command = [sys.executable, "-m", "benchmarks.load", f"{installation.url}{path}", str(requests), str(connections)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr + (installation.directory / "serve.log").read_text()[-2000:])
    return Load(**json.loads(done.stdout))


def _under_load(path: str) -> Callable[[Path], Run]:
    def prepare(directory: Path) -> Run:
        def run() -> Measurement:
            with board_served(directory) as installation:
                load(installation, path, WARMING)
                before = installation.processor_seconds()
                found = load(installation, path)
                processor_seconds = installation.processor_seconds() - before
                peak = installation.peak_mib("serve")
            parts = {
                "a second": found.requests / found.seconds,
                "p50 ms": found.p50,
                "p99 ms": found.p99,
                "KiB": found.answer_bytes / 1024,
            }
            return Measurement(found.seconds, processor_seconds, peak, parts)

        return run

    return prepare


def measure_board(methods: int) -> dict[str, float]:
    """Return milliseconds from a request to the end of the answer, on a board of so many published methods.

    Returns:
        `page` and `JSON`: the first time; with ` rebuilt`, after one method has changed, the median of several; with
        ` again`, when nothing has changed since; ` KiB`: of the answer.
    """
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as temporary, installed(Path(temporary)) as installation:
        database = Database(installation.settings.database)
        with database.writing() as session:
            fill(session, submissions=methods, published=methods)
        analyse(database)
        with serving(installation):
            load(installation, CONSTANT, 1, 1)
            for name, path in (("page", PAGE), ("JSON", JSON)):
                first = load(installation, path, 1, 1)
                rebuilt = []
                for number in range(CHANGES):
                    _change_one(database, f"Laboratory {number}")
                    rebuilt.append(load(installation, path, 1, 1).p50)
                again = load(installation, path, 21, 1)
                figures |= {
                    name: first.p50,
                    f"{name} rebuilt": median(rebuilt),
                    f"{name} again": again.p50,
                    f"{name} KiB": first.answer_bytes / 1024,
                }
        database.close()
    return figures


def _change_one(database: Database, affiliation: str) -> None:
    with database.writing() as session:
        published = select(Submission.id).where(Submission.published_at.is_not(None)).limit(1).scalar_subquery()
        session.execute(update(Submission).where(Submission.id == published).values(affiliation=affiliation))


FLOOR = "a route that returns a constant"


def _case(name: str, title: str, path: str) -> Case:
    return Case(
        name=name,
        title=f"{title}, 200 of 10,000 submissions, 50 connections",
        make=make_board,
        implementations={
            "vocboard": Implementation(Kind.OURS, _under_load(path)),
            FLOOR: Implementation(Kind.FLOOR, _under_load(CONSTANT)),
        },
        goals=(Goal(0.5, (FLOOR,), "rate"), Goal(50, (), "p99 ms")),
    )


BOARD_PAGE = _case("board", "leaderboard page", PAGE)
BOARD_JSON = _case("board-json", "leaderboard as JSON", JSON)
