"""Files move between a directory and object stores, while others read, write and prune them."""

import hashlib
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.archives import stored_path
from tests.support.backend import Backend, make_ground_truth
from tests.support.s3_server import settings_of
from tests.support.working import environment_of
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.s3_objects import Bucket
from vocboard.app.storage.stores import archive_store
from vocboard.commands.main import main
from vocboard.worker import ground_truth_files
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

pytestmark = pytest.mark.services


@pytest.fixture
def placed(bucket: Bucket, sqlite_url: str, tmp_path: Path) -> Callable[[str, str], Settings]:
    """Return the settings for a present and a former place."""
    given = settings_of(bucket) | {"data_directory": tmp_path / "data", "database_url": sqlite_url}
    places = {"directory": "directory", "store": bucket.url, "other": f"{bucket.url}-other", "": ""}

    def settings(present: str, former: str = "") -> Settings:
        store = "" if present == "directory" else places[present]
        return Settings(**given | {"store": store, "former_store": places[former]})

    return settings


def keep(store: ArchiveStore, content: bytes) -> str:
    with store.receive(limit=len(content)) as archive:
        archive.write(content)
        return archive.keep()


@pytest.mark.parametrize(
    ("former", "present"), [("directory", "store"), ("store", "directory"), ("store", "other"), ("other", "store")]
)
def test_everything_is_there_before_while_and_after_it_moves(
    placed: Callable[..., Settings],
    former: str,
    present: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, moving, after = placed(former), placed(present, former), placed(present)
    old = archive_store(before)
    old.set_up()
    contents = {hashlib.sha256(content).hexdigest(): content for content in (b"%d" % n * 1000 for n in range(8))}
    for content in contents.values():
        keep(old, content)
    set_aside = keep(old, b"set aside")
    old.set_aside(set_aside)
    truth = make_ground_truth()
    GroundTruthDirectory(before).private_key()
    with closing(Database(before.database)) as database:
        Backend(before, database, old).challenge(truth=truth)

    store = archive_store(moving)
    added = keep(store, b"added")
    assert set(store.stored()) == {*contents, added}
    wrong: list[str] = []
    on_disk: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda descriptor: on_disk.add(os.fstat(descriptor).st_ino))
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            for sha256, content in contents.items():
                with store.open(sha256) as file:
                    wrong.extend([sha256] if file.read() != content else [])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for name, value in environment_of(moving).items():
            monkeypatch.setenv(name, value)
        assert main(["admin", "move-archives"]) == 0
    finally:
        done.set()
        reader.join()
    assert not wrong
    assert capsys.readouterr().out == (
        "9 archives, columns and files of challenges moved\n1 file of the inbox of ground truth moved\n"
    )
    ground_truth_files.require(moving)  # a worker may start, and scores
    ground_truth_files.read.cache_clear()
    assert ground_truth_files.load(moving, truth.sha256).sha256 == truth.sha256
    ground_truth_files.move(moving)

    assert (list(old.stored()), list(old.aside())) == ([], [])
    new = archive_store(after)
    assert set(new.stored()) == {*contents, added}
    assert new.restore(set_aside)
    if present == "directory":  # where a power failure loses nothing that has left the store, and workers can read it
        kept = [stored_path(new, sha256).stat() for sha256 in contents]
        assert {each.st_mode & 0o777 for each in kept} == {0o640}
        assert on_disk.issuperset(each.st_ino for each in kept)
    ground_truth_files.read.cache_clear()
    if present != "directory":  # on another machine
        ground_truth_files.path_of(after, truth.sha256).unlink(missing_ok=True)
        shutil.rmtree(after.truth / "cache", ignore_errors=True)
    assert ground_truth_files.load(after, truth.sha256).sha256 == truth.sha256
    kept_at = ground_truth_files.path_of(after, truth.sha256)
    read_from = kept_at if present == "directory" else after.truth / "cache" / kept_at.name
    assert read_from.stat().st_ino in on_disk
    assert GroundTruthDirectory(after).private_key() == GroundTruthDirectory(before).private_key()


def test_what_is_damaged_stays_where_it_is(
    placed: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = archive_store(placed("directory"))
    old.set_up()
    sha256 = keep(old, b"archive")
    stored_path(old, sha256).write_bytes(b"damaged")
    moving = placed("store", "directory")
    store = archive_store(moving)
    for name, value in environment_of(moving).items():
        monkeypatch.setenv(name, value)
    assert main(["admin", "move-archives"]) == 1  # also if nobody has made an inbox of ground truth
    assert capsys.readouterr() == (
        "0 archives, columns and files of challenges moved\n0 files of the inbox of ground truth moved\n",
        f"{sha256} does not match its hash, and stays where it is\n",
    )
    assert list(old.stored()) == [sha256]
    store.remove(sha256)
    assert list(store.stored()) == []
