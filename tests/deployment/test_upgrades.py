"""The last release's processes go on while the database is upgraded below them, and people upload all the time."""

import contextlib
import io
import shlex
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.support import small_world
from tests.support.compose import ROOT, running, stop
from tests.support.installation import PORT_IN_CONTAINER, SECONDS_TO_START, Installation, installed
from tests.support.life import PATIENCE_SECONDS, eventually, is_served, make_small_world
from tests.support.postgres import conninfo
from tests.support.processes import free_port
from tests.support.services import needed
from tests.support.unpacking import unpack

pytestmark = pytest.mark.services
# No version is released yet. This commit counts as one: the last before migrations that only add.
LAST_RELEASE = "28597c47abcd3a49b089f594f547985d66d2a4fd"
PACKAGES = ("app", "client", "commands", "docs", "evaluator", "migrations", "src", "templates", "worker")
UPLOADERS = 3
UPLOADS_IN_EACH_PART = 6
PAGES = ("/", "/challenges/small-world", "/challenges/small-world/leaderboards/comp3")
SETTINGS = {
    "VOCBOARD_UPLOADS_PER_HOUR": "100000",
    "VOCBOARD_CONCURRENT_UPLOADS": "20",
    "VOCBOARD_UPLOAD_BYTES_PER_SECOND": "0",  # one waits for the migration
}
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def old_programs(tmp_path: Path) -> Path:
    """Give a directory with the program `vocboard` of the last release."""
    archived = subprocess.run(["git", "archive", LAST_RELEASE, *PACKAGES], cwd=ROOT, capture_output=True, check=False)
    if archived.returncode:
        pytest.skip(f"the last release is not in the history that is here: {archived.stderr.decode()}")
    programs = tmp_path / "last-release"
    unpack(io.BytesIO(archived.stdout), programs)
    program = programs / "vocboard"
    run = shlex.join(["env", f"PYTHONPATH={programs / 'src'}", sys.executable, "-m", "vocboard.commands.main"])
    program.write_text(f'#!/bin/sh\nexec {run} "$@"\n')
    program.chmod(0o755)
    return programs


@dataclass
class Uploaders:
    """People who upload and look at pages until they are told to stop.

    Attributes:
        urls: the web processes that they ask in turn.
        part: of the upgrade.
        accepted: how many uploads in which part.
        wrong: answers that an upgrade may not cause.
    """

    client: httpx.Client
    urls: tuple[str, ...]
    part: str = ""
    accepted: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self, expected: int, method: str, url: str, **given: object) -> httpx.Response:
        response = self.client.request(method, url, **given)  # type: ignore[arg-type]  # of httpx
        if response.status_code != expected:
            self.wrong.append(f"{self.part}: {method} {url} {response.status_code} {response.text[:300]}")
        return response

    def upload(self) -> None:
        number = 0
        while not self.over.is_set():
            part, url = self.part, self.urls[number % len(self.urls)]
            self.ask(201, "POST", f"{url}{SUBMISSIONS}", **FORM)
            self.ask(200, "GET", url + PAGES[number % len(PAGES)])
            self.accepted[part] += 1
            number += 1

    def go_on(self, part: str) -> None:
        """Begin the next part of the upgrade, and wait for uploads."""
        self.part = part
        eventually(lambda: self.over.is_set() or self.accepted[part] >= UPLOADS_IN_EACH_PART)


CHALLENGE = "/api/v1/challenges/small-world"
SUBMISSIONS = f"{CHALLENGE}/submissions"
ARCHIVE = small_world.results_archive()
FORM = {"data": {"method_name": "Method"}, "files": {"archive": ("results.tar.gz", ARCHIVE)}}


@contextlib.contextmanager
def uploading(uploaders: Uploaders) -> Iterator[None]:
    with ThreadPoolExecutor(UPLOADERS) as pool:
        each = [pool.submit(uploaders.upload) for _ in range(UPLOADERS)]
        try:
            yield
        finally:
            uploaders.over.set()
        for one in each:
            one.result()


@contextlib.contextmanager
def held(client: httpx.Client, url: str, rest: threading.Event) -> Iterator[list[httpx.Response]]:
    """Upload the beginning, and the rest when it is told to; give a list to which the answer is added."""
    request = client.build_request("POST", f"{url}{SUBMISSIONS}", **FORM)  # type: ignore[arg-type]  # of httpx
    body, kind = request.read(), {"Content-Type": request.headers["Content-Type"]}
    begun, answers = threading.Event(), list[httpx.Response]()

    def pieces() -> Iterator[bytes]:
        yield body[: len(body) // 2]
        begun.set()
        rest.wait()
        yield body[len(body) // 2 :]

    def send() -> None:
        answers.append(client.post(f"{url}{SUBMISSIONS}", content=pieces(), headers=kind))

    sending = threading.Thread(target=send)
    sending.start()
    try:
        assert begun.wait(SECONDS_TO_START)
        yield answers
    finally:
        rest.set()
        sending.join()


@contextlib.contextmanager
def today(installation: Installation, name: str, **replacing: str) -> Iterator[None]:
    """Run one of today's processes until the block ends; its log is `new-<name>.log`."""
    service = replace(installation.services[name], name=f"new-{name}")
    environment = installation.environments[name]
    with running(service, environment, installation.directory, replacing=replacing) as process:
        if name == "migrate":
            assert process.wait(SECONDS_TO_START) == 0, installation.log(service.name)
        yield
        assert process.poll() in {None, 0}, installation.log(service.name)


def token(installation: Installation, programs: Path, name: str, role: str, *scopes: str) -> dict[str, str]:
    """Make an account with the last release, and return the header of its token."""
    email = f"{name}@lab.example"
    for command in (
        ["create-user", email, "--name", name, "--role", role],
        ["create-token", email, *(f"--scope={scope}" for scope in scopes)],
    ):
        done = subprocess.run(
            [programs / "vocboard", "admin", *command],
            env=dict(installation.environments["migrate"]),
            cwd=installation.directory,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return {"Authorization": f"Bearer {done.stdout.split()[-1]}"}


def test_nothing_fails_while_people_upload_and_the_server_is_upgraded(old_programs: Path, tmp_path: Path) -> None:
    directory = tmp_path / "installation"
    directory.mkdir()
    with (
        needed(installed(directory, faster=SETTINGS, programs=old_programs)) as installation,
        installation.client() as organiser,
        installation.client() as person,
        contextlib.ExitStack() as stack,
    ):
        organiser.headers.update(token(installation, old_programs, "organiser", "organiser", "read", "organise"))
        person.headers.update(token(installation, old_programs, "person", "participant", "read", "submit"))
        person.timeout = organiser.timeout = httpx.Timeout(PATIENCE_SECONDS)
        make_small_world(organiser, quota_count=10_000)
        old, port = installation.url, free_port()
        new = f"http://127.0.0.1:{port}"
        people = Uploaders(person, (old,))
        # Half of a resumable upload, and half of one in a single request.
        announced = {"Upload-Length": str(len(ARCHIVE)), "Upload-Metadata": "filename cmVzdWx0cy50YXIuZ3o="}
        resumable = people.ask(
            201, "POST", f"{old}/api/v1/uploads", params={"challenge": "small-world"}, headers=TUS | announced
        ).headers["Location"]
        half = len(ARCHIVE) // 2
        patched = TUS | {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        people.ask(204, "PATCH", old + resumable, content=ARCHIVE[:half], headers=patched)
        rest = threading.Event()
        with uploading(people), held(person, old, rest) as answers:
            people.go_on("last release")
            people.part = "migration"
            with today(installation, "migrate"):
                people.go_on("last release on the new schema")
            rest.set()
            eventually(lambda: answers)
            stack.enter_context(today(installation, "worker"))
            stack.enter_context(today(installation, "web", **{PORT_IN_CONTAINER: str(port), "0.0.0.0": "127.0.0.1"}))
            eventually(lambda: is_served(f"{new}/readyz"))
            people.urls = (old, new)
            people.go_on("both")
            stop(installation.processes["worker"])
            people.urls = (new,)
            people.go_on("old web process stops")
            stop(installation.processes["web"])
            people.go_on("new")
        patched["Upload-Offset"] = str(half)
        people.ask(204, "PATCH", new + resumable, content=ARCHIVE[half:], headers=patched)
        fields = {"method_name": (None, "Method")}
        uploaded = {"upload": resumable.rpartition("/")[2]}
        people.ask(201, "POST", f"{new}{SUBMISSIONS}", params=uploaded, files=fields)
        assert [answer.status_code for answer in answers] == [201]
        assert people.wrong == []
        accepted = people.accepted.total() + 2
        with psycopg.connect(conninfo(installation.admin_url), autocommit=True) as database:

            def states() -> dict[str, int]:
                return dict(database.execute("SELECT state, count(*) FROM submissions GROUP BY state").fetchall())

            eventually(lambda: states() == {"scored": accepted})
            evaluated = database.execute("SELECT count(DISTINCT submission_id), count(*) FROM evaluations").fetchone()
            assert evaluated == (accepted, accepted)
