"""Two machines that share PostgreSQL, Redis and an object store, and no directory; one loses its own."""

import contextlib
import hashlib
import io
import os
import shutil
import signal
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from nacl.public import PrivateKey
from sqlalchemy import select

from tests.support import forked, small_world
from tests.support.backend import kill_group
from tests.support.factories import make_token, make_user
from tests.support.forked import Forked
from tests.support.life import confirm_warnings, eventually, is_served, make_small_world, submit
from tests.support.processes import free_port
from tests.support.s3_server import settings_of
from tests.support.site import serving
from tests.support.tus import NAME
from tests.support.working import environment_of, working
from vocboard.app.accounts.models import Role
from vocboard.app.challenges.models import ChallengeFile
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.app.storage.s3_objects import Bucket
from vocboard.app.storage.sealed_files import MAGIC
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.pruning import Pruned, prune

pytestmark = pytest.mark.services
TUS = {"Tus-Resumable": "1.0.0"}
KIT = bytes(range(256)) * 1000


@dataclass(frozen=True)
class Machine:
    """A web process, which may be that of the tests, and a worker with a directory of their own."""

    url: str
    settings: Settings
    worker: Forked

    def client(self, token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, follow_redirects=True)


@contextlib.contextmanager
def web_process(settings: Settings, log: Path) -> Iterator[str]:
    """Run a web process until the block ends; give its address."""
    port = free_port()
    command = ["--factory", "vocboard.commands.serve:web_process", "--port", str(port)]
    with log.open("wb") as output:
        web = forked.start(command, environment=environment_of(settings), output=output, program="uvicorn")
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        kill_group(web)
        print(log.read_text()[-3000:])


def is_removed(directory: Path) -> bool:
    with contextlib.suppress(OSError):  # its machine has written another file in the meantime
        shutil.rmtree(directory)
        return True
    return False


@pytest.fixture
def machines(postgres_url: str, redis_url: str, bucket: Bucket, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    key = tmp_path / "worker.private-key"
    key.write_bytes(bytes(PrivateKey.generate()))

    def settings(name: str, *, store_links: bool) -> Settings:
        return Settings(
            store_links=store_links,
            data_directory=tmp_path / name,
            database_url=postgres_url,
            broker_url=redis_url,
            truth_key_file=key,
            worker_processes=1,
            **settings_of(bucket),
        )

    here, there = settings("first", store_links=False), settings("second", store_links=True)
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    try:
        with (
            serving(here) as site,
            web_process(there, tmp_path / "web.log") as elsewhere,
            working(here, logs[0]) as first,
            working(there, logs[1]) as second,
        ):
            eventually(lambda: is_served(f"{elsewhere}/healthz"))
            yield Machine(site.url, here, first), Machine(elsewhere, there, second)
    finally:
        print(*(log.read_text()[-5000:] for log in logs if log.exists()))


def test_machines_share_no_directory_and_one_loses_its_own(machines: tuple[Machine, Machine], bucket: Bucket) -> None:
    first, second = machines
    database = Database(first.settings.database)
    with database.writing() as session:
        tokens = [make_token(session, make_user(session, role=role)) for role in (Role.ORGANISER, Role.PARTICIPANT)]
    with (
        contextlib.closing(database),
        first.client(tokens[0]) as organiser,
        second.client(tokens[0]) as organiser_elsewhere,
        first.client(tokens[1]) as here,
        second.client(tokens[1]) as there,
    ):
        challenge = make_small_world(organiser, quota_count=100)
        file = organiser.post(f"{challenge}/files", files={"file": ("kit.zip", KIT)}).headers["location"]
        for client in (here, there):
            assert client.get(file).content == KIT
            part = client.get(file, headers={"Range": "bytes=256-511"})
            assert (part.status_code, part.content) == (206, KIT[256:512])
        elsewhere = there.get(file)
        assert elsewhere.url.port == urlsplit(bucket.endpoint).port
        assert elsewhere.headers["content-disposition"] == "attachment; filename*=UTF-8''kit.zip"
        [redirect] = elsewhere.history
        assert redirect.headers["repr-digest"] == here.get(file).headers["repr-digest"]

        archive = small_world.results_archive()
        submitted = [submit(client, challenge, archive) for client in (here, there)]
        resumable = begin(there, archive)
        eventually(lambda: is_removed(first.settings.data_directory))
        submitted += [submit(client, challenge, archive) for client in (here, there)]
        submitted += [end(there, challenge, resumable, archive), end(here, challenge, begin(here, archive), archive)]
        paths = [f"/api/v1/submissions/{each['id']}" for each in submitted]
        eventually(lambda: all(there.get(path).json()["state"] == "scored" for path in paths))
        assert here.get(file).content == KIT
        assert {client.get(f"{path}/archive").content for path in paths for client in (here, there)} == {archive}
        # Each worker is the only one in turn, so both have the ground truth, one of them after its directory was gone.
        for stopped, going in ((second, first), (first, second)):
            os.killpg(stopped.worker.pid, signal.SIGSTOP)
            again = submit(here, challenge, archive)
            eventually(lambda path=again["id"]: there.get(f"/api/v1/submissions/{path}").json()["state"] == "scored")
            os.killpg(stopped.worker.pid, signal.SIGCONT)
            assert list((going.settings.truth / "cache").glob("*.npz"))

        # What one machine does, the other shows: a leaderboard, a diagnosis, a re-score, an export.
        assert here.post(f"{paths[0]}/publish").status_code == 200
        before = shown(challenge, here, there)
        assert [row["mean"] for row in before["rows"]] == [round(small_world.MEAN_AP, 4)]
        eventually(lambda: organiser_elsewhere.get(f"{paths[0]}/diagnosis/comp3").json()["is_known"])
        rescore(challenge, organiser, organiser_elsewhere)
        assert shown(challenge, here, there)["rows"][0]["mean"] < before["rows"][0]["mean"]
        for client in (organiser, organiser_elsewhere):
            with tarfile.open(fileobj=io.BytesIO(client.post(f"{challenge}/export").content)) as export:
                files = [export.extractfile(member) for member in export]
                assert archive in [file.read() for file in files if file]

        # Every row has its object, and every object its row.
        store = archive_store(second.settings)
        with database.reading() as session:
            columns = (Submission.archive_sha256, Submission.columns_sha256, ChallengeFile.sha256)
            needed = {name for column in columns for name in session.scalars(select(column)) if name}
        assert set(store.stored()) == needed
        with store.receive(limit=10) as orphan:
            orphan.write(b"orphan")
            lost = orphan.keep()
        kept_for = second.settings.withdrawn_archives_kept_for
        assert prune(database, store, withdrawn_kept_for=kept_for) == Pruned(0, 1, 0, 0)
        assert (set(store.stored()), list(store.aside())) == (needed, [lost])
        # What the store has of the ground truth is sealed.
        client, names = bucket.client(), [name for name in everything(bucket) if "/truth" in name]
        assert {name.split("/")[1] for name in names} == {"truth", "truth-inbox"}
        truths = [name for name in names if name.endswith(".npz")]
        assert len(truths) == 2
        assert all(client.get_object(Bucket=bucket.name, Key=one)["Body"].read().startswith(MAGIC) for one in truths)
        assert organiser_elsewhere.delete(file).status_code == 204
        assert hashlib.sha256(KIT).hexdigest() not in set(store.stored())


def begin(client: httpx.Client, archive: bytes) -> str:
    """Upload the first half of a resumable upload; return its path."""
    headers = {"Upload-Length": str(len(archive)), "Upload-Metadata": f"filename {NAME}"}
    begun = client.post("/api/v1/uploads", params={"challenge": "small-world"}, headers=TUS | headers)
    assert begun.status_code == 201, begun.text
    send(client, begun.headers["location"], archive[: len(archive) // 2], 0)
    return str(begun.headers["location"])


def end(client: httpx.Client, challenge: str, upload: str, archive: bytes) -> dict[str, Any]:
    """Upload the other half, and submit it."""
    send(client, upload, archive[len(archive) // 2 :], len(archive) // 2)
    fields = {"method_name": (None, "Method")}
    made = client.post(f"{challenge}/submissions", params={"upload": upload.rpartition("/")[2]}, files=fields)
    assert made.status_code == 201, made.text
    submission: dict[str, Any] = made.json()
    return submission


def send(client: httpx.Client, upload: str, content: bytes, offset: int) -> None:
    headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
    assert client.patch(upload, content=content, headers=TUS | headers).status_code == 204


def shown(challenge: str, *clients: httpx.Client) -> dict[str, Any]:
    """Return the leaderboard that all of them see, without the state of statistics, which workers may be computing."""
    board: dict[str, Any]
    board, *others = (client.get(f"{challenge}/leaderboards/comp3").json() for client in clients)
    for each in (board, *others):
        del each["statistics"]
    assert others == [board] * len(others)
    return board


def rescore(challenge: str, organiser: httpx.Client, elsewhere: httpx.Client) -> None:
    """Correct the ground truth on one machine, and apply what the workers make of it on the other."""
    upload = {"archive": ("devkit.tar.gz", small_world.ground_truth_archive({"000001": [("dog", (10, 10, 50, 50))]}))}
    assert organiser.post(f"{challenge}/ground-truth", files=upload).status_code == 202
    eventually(lambda: elsewhere.get(f"{challenge}/ground-truth").json()["items"][0]["state"] == "ready")
    confirm_warnings(elsewhere, challenge)
    started = organiser.post(f"{challenge}/rescores", json={"ground_truth_version": 2, "reason": "Labels corrected"})
    path = started.headers["location"]
    eventually(lambda: elsewhere.get(path).json()["state"] == "ready")
    assert elsewhere.post(f"{path}/apply", json={"confirm": "small-world"}).status_code == 200
    eventually(lambda: organiser.get(path).json()["state"] == "applied")


def everything(bucket: Bucket) -> list[str]:
    found = bucket.client().list_objects_v2(Bucket=bucket.name)["Contents"]
    return sorted(each["Key"] for each in found)
