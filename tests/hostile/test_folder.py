"""Every upload of the folder has exactly its problems, wherever it is checked, and harms nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from _pytest.mark import ParameterSet
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.hostile.folder import EDITIONS, ROOT, Upload, edition_of, public, uploads
from tests.hostile.make import all_cases, directory_of
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site, serving
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.settings import Settings
from vocboard.evaluator.problem_catalogue import CATALOGUE

UPLOADS = list(uploads())
MIN_UPLOADS = 120
MAX_BYTES = 128 * 1024

MAX_MEMORY_MIB = 300
MAX_SECONDS = 2.0
# What reading honest archives of the same size may take besides: 100,000 members, forty million runs and a million
# regions are allowed.
HONEST_SECONDS = {
    "reject/bomb-of-members.tar.xz": 4.0,
    "reject/bomb-of-regions.tar.xz": 2.0,
    "reject/bomb-of-runs.tar.xz": 4.0,
}

SLOW_AS_ANOTHER = HONEST_SECONDS.keys() - {"reject/bomb-of-members.tar.xz"}

# Kinds of problem that no small file can have, or that a whole challenge takes.
ELSEWHERE = {
    "archive_too_large",
    "competition_not_open",
    "more_warnings",
    "too_many_runs",
    "png_too_large",  # where the sizes of the images are unknown
    "validation_stopped",
    "validation_takes_too_long",
    "validation_takes_too_much_memory",
    # of editions with one file for all classes
    "confidence_out_of_range",
    "wrong_class",
}


def by_name(upload: Upload) -> str:
    return str(upload)


class TestFolder:
    def test_has_the_files_of_its_cases_and_no_others(self) -> None:
        cases = {directory_of(case) / case.name: case for case in all_cases()}
        assert {upload.path for upload in UPLOADS} == set(cases)
        assert len(cases) >= MIN_UPLOADS
        for upload in UPLOADS:
            assert upload.edition == cases[upload.path].edition
        left_over = {path for kind in ("accept", "reject") for path in (ROOT / kind).iterdir()}
        assert len(left_over) == 2 * len(cases)

    def test_files_are_small(self) -> None:
        assert max(upload.path.stat().st_size for upload in UPLOADS) <= MAX_BYTES

    def test_shows_every_kind_of_problem(self) -> None:
        shown = {problem["code"] for upload in UPLOADS for problem in upload.problems}
        assert shown == set(CATALOGUE) - ELSEWHERE


@pytest.fixture(scope="module")
def offline() -> dict[str, dict[str, Any]]:
    """Return what the command line says of each upload, and what reading it takes, each in a process of its own."""
    command = [sys.executable, "-m", "tests.hostile.measure"]
    done = subprocess.run(command, cwd=ROOT.parents[1], capture_output=True, text=True, check=True)
    return {found["name"]: found for found in map(json.loads, done.stdout.splitlines())}


class Server:
    """A server with a challenge for each edition, and somebody who uploads."""

    def __init__(self, site: Site, token: str, challenges: dict[str, Challenge]):
        self.site, self._token, self._challenges = site, token, challenges

    def files(self) -> set[Path]:
        """Everything that the server keeps."""
        return {path for path in self.site.settings.data_directory.rglob("*") if path.is_file()}

    def upload(self, upload: Upload) -> httpx.Response:
        challenge = self._challenges[upload.edition]
        with self.site.client(self._token) as client:
            return upload_results(
                client,
                challenge.slug,
                upload.path.read_bytes(),
                upload.path.name,
                training_data="none",
                accept_warnings="true",
            )


@pytest.fixture(scope="module")
def server(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("site")
    database = shutil.copy(sqlite_template, directory / "vocboard.sqlite")
    settings = Settings(
        data_directory=directory / "data",
        database_url=f"sqlite:///{database}",
        uploads_per_hour=10 * len(UPLOADS),
        validation_processes=1,
    )
    with serving(settings) as site:
        with site.writing() as session:
            challenges = {edition: holding_all(session, edition) for edition in EDITIONS}
            token = make_token(session, make_user(session))
        yield Server(site, token, challenges)


def holding_all(session: Session, edition: str) -> Challenge:
    """Make a challenge that holds all competitions of an edition on the folder's images."""
    given: dict[str, Any] = {"edition": edition}
    if (file := EDITIONS[edition]) is not None:
        given = {"edition": None, "edition_file": file.read_text()}
    competitions = list(edition_of(edition).competitions)
    challenge = make_challenge(session, competitions=competitions, quota_count=10 * len(UPLOADS), **given)
    version = session.scalars(select(GroundTruthVersion).where(GroundTruthVersion.challenge_id == challenge.id)).one()
    version.image_sets = pack_image_sets(public(edition))
    return challenge


@pytest.mark.parametrize("upload", UPLOADS, ids=by_name)
def test_the_command_line_names_exactly_its_problems(upload: Upload, offline: dict[str, dict[str, Any]]) -> None:
    """To the byte, once both are written as JSON the same way. Reading takes little and touches nothing."""
    found = offline[str(upload)]
    assert found["status"] == (0 if upload.is_accepted else 1)
    assert json.dumps(found["problems"]) == json.dumps(upload.problems)
    assert found["touched"] == []
    assert found["memory"] <= MAX_MEMORY_MIB
    assert found["cpu"] <= MAX_SECONDS + HONEST_SECONDS.get(str(upload), 0)


def first_of_each_kind() -> list[ParameterSet]:
    """Return all uploads, `long` if an earlier one is such an archive with such problems: the same code reads them.

    Also two of those that take seconds: one of them is enough to see that the server gives a reader the time.
    """
    kinds: set[object] = set()
    found: list[ParameterSet] = []
    for upload in UPLOADS:
        codes = frozenset(problem["code"] for problem in upload.problems)
        kind = (upload.edition, upload.is_accepted, upload.path.name.partition(".")[2], codes)
        marks = [pytest.mark.long] if kind in kinds or str(upload) in SLOW_AS_ANOTHER else []
        found.append(pytest.param(upload, marks=marks, id=str(upload)))
        kinds.add(kind)
    return found


@pytest.mark.parametrize("upload", first_of_each_kind())
def test_the_server_names_exactly_its_problems(upload: Upload, server: Server) -> None:
    before = set() if upload.is_accepted else server.files()
    answer = server.upload(upload)
    assert answer.status_code == (201 if upload.is_accepted else 422)
    online = answer.json()["warnings" if upload.is_accepted else "problems"]
    assert json.dumps(online) == json.dumps(upload.problems)
    if not upload.is_accepted:
        assert server.files() == before
