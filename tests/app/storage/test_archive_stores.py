"""What an archive store has to do, in a directory and in an object store."""

import dataclasses
import hashlib
import os
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.config import Config

from tests.support.archives import stored_path
from tests.support.processes import free_port
from vocboard.app.errors import TooLargeError
from vocboard.app.settings import Settings
from vocboard.app.storage import s3_objects
from vocboard.app.storage.archives import SET_ASIDE_FOR, ArchiveStore, DamagedArchiveError, object_name
from vocboard.app.storage.local_files import InUseError, StoreUnavailableError
from vocboard.app.storage.s3_objects import Bucket, S3Objects
from vocboard.app.storage.stores import archive_store

CONTENT = b"results" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = hashlib.sha256(b"other").hexdigest()


@dataclass(frozen=True)
class StoreUnderTest:
    """A store, and ways around it.

    Attributes:
        overwrite: replaces the content that is stored under a SHA-256.
        age: makes it look as if content had been set aside so many seconds earlier.
        unavailable: makes the store unavailable in a `with` block.
    """

    store: ArchiveStore
    overwrite: Callable[[str, bytes], object]
    age: Callable[[str, float], object]
    unavailable: Callable[[], AbstractContextManager[None]]


def directory_store(directory: Path) -> StoreUnderTest:
    store = ArchiveStore(directory)

    def overwrite(sha256: str, content: bytes) -> None:
        stored_path(store, sha256).write_bytes(content)

    def age(sha256: str, seconds: float) -> None:
        before = time.time() - seconds
        os.utime(directory / "set-aside" / sha256, (before, before))

    @contextmanager
    def unavailable() -> Iterator[None]:
        aside = directory.rename(directory.with_name("elsewhere"))
        directory.write_text("no directory")
        yield
        directory.unlink()
        aside.rename(directory)

    return StoreUnderTest(store, overwrite, age, unavailable)


def object_store(directory: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> StoreUnderTest:
    """Return a store in a real object store, whose clock nobody can change: the test's is ahead instead."""
    objects = S3Objects(bucket, "archives", directory=directory, cache_bytes=10**9)

    def overwrite(sha256: str, content: bytes) -> None:
        (directory / "other").write_bytes(content)
        objects.put(directory / "other", object_name(sha256))

    def age(sha256: str, seconds: float) -> None:
        ages[f"set-aside/{sha256}"] = timedelta(seconds=seconds)
        monkeypatch.setattr(S3Objects, "changed_at", lambda store, name: real_changed_at(store, name) - ages[name])

    ages: dict[str, timedelta] = defaultdict(timedelta)
    real_changed_at = S3Objects.changed_at

    @contextmanager
    def unavailable() -> Iterator[None]:
        away = dataclasses.replace(bucket, endpoint=f"http://127.0.0.1:{free_port()}")
        with monkeypatch.context() as changed:
            changed.setattr(s3_objects, "_LIMITS", Config(retries={"total_max_attempts": 1}))  # not for seconds
            changed.setattr(objects, "_made", away.client())
            changed.setattr(objects, "_ready", (float("-inf"), False))
            yield

    return StoreUnderTest(ArchiveStore(directory, objects), overwrite, age, unavailable)


@pytest.fixture(params=["directory", pytest.param("object store", marks=pytest.mark.services)])
def tested(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoreUnderTest:
    if request.param == "directory":
        made = directory_store(tmp_path / "store")
    else:
        made = object_store(tmp_path / "store", request.getfixturevalue("bucket"), monkeypatch)
    made.store.set_up()
    return made


@pytest.fixture
def store(tested: StoreUnderTest) -> ArchiveStore:
    return tested.store


def keep(store: ArchiveStore, content: bytes = CONTENT) -> str:
    with store.receive(limit=len(content)) as archive:
        for start in range(0, len(content), 100):
            archive.write(content[start : start + 100])
        return archive.keep()


def content_of(store: ArchiveStore, sha256: str) -> bytes:
    with store.open(sha256) as file:
        return file.read()


def incoming(store: ArchiveStore) -> list[Path]:
    return [path for path in store.incoming.rglob("*") if path.is_file()]


def test_is_ready_once_set_up(store: ArchiveStore) -> None:
    store.set_up()  # again
    assert store.can_write()
    assert (list(store.stored()), list(store.aside()), store.remove_abandoned()) == ([], [], 0)


def test_keeps_content_under_its_hash(store: ArchiveStore) -> None:
    assert keep(store) == SHA256
    assert keep(store, b"other") == OTHER
    assert (content_of(store, SHA256), content_of(store, OTHER)) == (CONTENT, b"other")
    assert sorted(store.stored()) == sorted([SHA256, OTHER])
    assert incoming(store) == []


def test_keeps_the_same_content_once(store: ArchiveStore) -> None:
    assert keep(store) == keep(store)
    assert list(store.stored()) == [SHA256]


def test_the_same_content_may_arrive_twice_at_once(store: ArchiveStore) -> None:
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: keep(store), range(20))) == {SHA256}
    assert content_of(store, SHA256) == CONTENT


def test_content_is_read_in_pieces_and_from_anywhere(store: ArchiveStore) -> None:
    keep(store)
    with store.open(SHA256) as file:
        assert (file.read(7), file.tell()) == (b"results", 7)
        assert file.seek(-7, 2) == len(CONTENT) - 7
        assert file.read() == b"results"


def test_an_upload_can_be_read_before_it_is_kept(store: ArchiveStore) -> None:
    with store.receive(limit=10) as archive:
        archive.write(b"ab")
        archive.finish()
        assert archive.path.parent == store.incoming
        assert (archive.path.read_bytes(), archive.size) == (b"ab", 2)
        assert archive.sha256 == hashlib.sha256(b"ab").hexdigest()
    assert list(store.stored()) == []


def test_refuses_a_byte_too_many_and_leaves_nothing(store: ArchiveStore) -> None:
    with store.receive(limit=2) as archive:
        archive.write(b"ab")
        with pytest.raises(TooLargeError, match="2 bytes"):
            archive.write(b"c")
    assert incoming(store) == []
    assert list(store.stored()) == []


def test_what_is_not_kept_leaves_nothing(store: ArchiveStore) -> None:
    def break_off() -> None:
        with store.receive(limit=10) as archive:
            archive.write(b"ab")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        break_off()
    assert incoming(store) == []
    assert list(store.stored()) == []


def test_an_isolated_process_gets_a_file(store: ArchiveStore) -> None:
    keep(store)
    with store.local_file(SHA256) as path:
        assert path.read_bytes() == CONTENT
    assert store.file_to_serve(SHA256).read_bytes() == CONTENT


def test_changed_content_is_not_read(tested: StoreUnderTest) -> None:
    keep(tested.store)
    tested.overwrite(SHA256, b"something else")
    with pytest.raises(DamagedArchiveError, match=SHA256), tested.store.open(SHA256):
        pass
    with pytest.raises(DamagedArchiveError, match=SHA256), tested.store.local_file(SHA256):
        pass


def test_what_is_not_there_is_reported(store: ArchiveStore) -> None:
    with pytest.raises(FileNotFoundError), store.open(SHA256):
        pass
    with pytest.raises(FileNotFoundError), store.local_file(SHA256):
        pass
    with pytest.raises(FileNotFoundError):
        store.file_to_serve(SHA256)
    store.remove(SHA256)
    store.set_aside(SHA256)
    assert not store.restore(SHA256)
    assert list(store.aside()) == []


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 63, "A" * 64])
def test_only_a_hash_names_an_archive(store: ArchiveStore, name: str) -> None:
    with pytest.raises(ValueError, match="not a SHA-256"), store.open(name):
        pass
    with pytest.raises(ValueError, match="not a SHA-256"), store.local_file(name):
        pass
    for method in (store.remove, store.set_aside, store.restore, store.file_to_serve):
        with pytest.raises(ValueError, match="not a SHA-256"):
            method(name)


def test_removes_content(store: ArchiveStore) -> None:
    keep(store)
    keep(store, b"other")
    store.remove(SHA256)
    assert list(store.stored()) == [OTHER]


def test_what_is_set_aside_is_not_in_the_store_until_it_is_brought_back(store: ArchiveStore) -> None:
    keep(store)
    store.set_aside(SHA256)
    assert (list(store.stored()), list(store.aside())) == ([], [SHA256])
    with pytest.raises(FileNotFoundError), store.open(SHA256):
        pass
    assert store.remove_abandoned() == 0, "it was set aside just now"
    assert store.restore(SHA256)
    assert not store.restore(SHA256), "it is there"
    assert (list(store.stored()), list(store.aside())) == ([SHA256], [])
    assert content_of(store, SHA256) == CONTENT


def test_what_still_arrives_is_not_abandoned(store: ArchiveStore) -> None:
    with store.receive(limit=10) as archive:
        archive.write(b"ab")
        assert store.remove_abandoned() == 0
        assert archive.keep() == hashlib.sha256(b"ab").hexdigest()


def test_what_was_set_aside_long_ago_is_removed(tested: StoreUnderTest) -> None:
    for content in (CONTENT, b"other"):
        keep(tested.store, content)
    for sha256 in (SHA256, OTHER):
        tested.store.set_aside(sha256)
    tested.age(SHA256, SET_ASIDE_FOR.total_seconds() + 60)
    tested.age(OTHER, SET_ASIDE_FOR.total_seconds() - 3600)
    assert tested.store.remove_abandoned() == 1
    assert list(tested.store.aside()) == [OTHER]
    assert not tested.store.restore(SHA256)


def test_a_finished_resumable_upload_is_adopted_and_stays_until_it_is_removed(store: ArchiveStore) -> None:
    upload = uuid.uuid4()
    file = store.unfinished.open(upload, may_create=True)
    try:
        file.write(CONTENT)
        file.sync()
        with pytest.raises(InUseError):
            store.unfinished.open(upload, may_create=False)
        with pytest.raises(BlockingIOError), store.adopt(store.unfinished.path(upload)):
            pass
    finally:
        file.close()
    with store.adopt(store.unfinished.path(upload)) as archive:
        assert (archive.sha256, archive.size) == (SHA256, len(CONTENT))
        assert archive.path.read_bytes() == CONTENT
        assert archive.keep() == SHA256
    assert content_of(store, SHA256) == CONTENT
    assert (incoming(store), list(store.unfinished.ids())) == ([], [upload])
    store.unfinished.remove(upload)
    assert list(store.unfinished.ids()) == []
    assert content_of(store, SHA256) == CONTENT
    with pytest.raises(FileNotFoundError), store.adopt(store.unfinished.path(upload)):
        pass


def test_says_that_it_is_unavailable(tested: StoreUnderTest) -> None:
    """The web application answers 503 to this error, and 500 to others."""
    store = tested.store
    keep(store)
    with store.receive(limit=10) as archive:
        archive.write(b"other")
        archive.finish()
        with tested.unavailable():
            assert not store.can_write()
            with pytest.raises(StoreUnavailableError):
                archive.keep()
            with pytest.raises(StoreUnavailableError):
                list(store.stored())
            with pytest.raises(StoreUnavailableError), store.open(SHA256):
                pass
            with pytest.raises(StoreUnavailableError), store.local_file(SHA256):
                pass
            for method in (store.remove, store.set_aside, store.file_to_serve):
                with pytest.raises(StoreUnavailableError):
                    method(SHA256)
        assert archive.keep() == OTHER
    assert content_of(store, SHA256) == CONTENT


def test_says_that_it_cannot_receive(store: ArchiveStore) -> None:
    with store.receive(limit=10) as archive:
        pass
    store.incoming.rmdir()
    store.incoming.write_text("no directory")
    with pytest.raises(StoreUnavailableError):
        store.receive_columns(archive)


def test_the_settings_choose_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path))
    store = archive_store(Settings())
    store.set_up()
    keep(store)
    assert content_of(ArchiveStore(tmp_path / "archives"), SHA256) == CONTENT
