"""Sealed files, and the inbox of ground truth that holds them."""

import secrets
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest
from nacl.public import PrivateKey, PublicKey

from vocboard.app.errors import ConflictError, TooLargeError
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE, GroundTruthInbox, purpose_of
from vocboard.app.storage.sealed_files import BLOCK_BYTES, MAGIC, SealError, SealingStream, unseal

HEADER_BYTES = len(MAGIC) + 80 + 24
SEALED_BLOCK_BYTES = BLOCK_BYTES + 17
PURPOSE = b"a test"


@pytest.fixture
def key() -> PrivateKey:
    return PrivateKey.generate()


def seal(chunks: Iterable[bytes], public_key: PublicKey, target: Path, *, purpose: bytes) -> None:
    with target.open("xb") as file:
        stream = SealingStream(file, public_key, purpose=purpose)
        for chunk in chunks:
            stream.write(chunk)
        stream.finish()


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 3_000_000])
@pytest.mark.parametrize("chunk", [1000, BLOCK_BYTES, 10_000_000])
def test_gives_back_what_was_sealed(key: PrivateKey, tmp_path: Path, size: int, chunk: int) -> None:
    content = secrets.token_bytes(size)
    chunks = (content[start : start + chunk] for start in range(0, size, chunk))
    seal(chunks, key.public_key, tmp_path / "sealed", purpose=PURPOSE)
    assert b"".join(unseal(tmp_path / "sealed", key, purpose=PURPOSE)) == content


def test_what_is_sealed_cannot_be_seen_and_never_looks_the_same(key: PrivateKey, tmp_path: Path) -> None:
    for name in ("a", "b"):
        seal([b"the truth" * 100], key.public_key, tmp_path / name, purpose=PURPOSE)
    assert b"the truth" not in (tmp_path / "a").read_bytes()
    assert (tmp_path / "a").read_bytes()[len(MAGIC) :] != (tmp_path / "b").read_bytes()[len(MAGIC) :]


def test_another_key_does_not_open_it(key: PrivateKey, tmp_path: Path) -> None:
    seal([b"x"], key.public_key, tmp_path / "sealed", purpose=PURPOSE)
    with pytest.raises(SealError, match="another key"):
        list(unseal(tmp_path / "sealed", PrivateKey.generate(), purpose=PURPOSE))


@pytest.mark.parametrize("size", [0, 1, 3 * BLOCK_BYTES])
def test_it_opens_for_its_purpose_alone(key: PrivateKey, tmp_path: Path, size: int) -> None:
    seal([bytes(size)], key.public_key, tmp_path / "sealed", purpose=PURPOSE)
    with pytest.raises(SealError, match="another purpose"):
        next(unseal(tmp_path / "sealed", key, purpose=b"another"))


def sealed_blocks(key: PrivateKey, path: Path) -> tuple[bytes, list[bytes]]:
    """Seal three blocks, and return the head of the file and the blocks as they are sealed."""
    seal([bytes(3 * BLOCK_BYTES)], key.public_key, path, purpose=PURPOSE)
    content = path.read_bytes()
    blocks = content[HEADER_BYTES:]
    return content[:HEADER_BYTES], [
        blocks[start : start + SEALED_BLOCK_BYTES] for start in range(0, len(blocks), SEALED_BLOCK_BYTES)
    ]


@pytest.mark.parametrize("kept", [[0, 1], [0], [], [1, 2], [0, 2], [1, 0, 2], [0, 1, 2, 2], [0, 1, 1, 2]], ids=str)
def test_blocks_that_are_missing_repeated_or_out_of_order_are_noticed(
    key: PrivateKey, tmp_path: Path, kept: list[int]
) -> None:
    path = tmp_path / "sealed"
    head, blocks = sealed_blocks(key, path)
    path.write_bytes(head + b"".join(blocks[index] for index in kept))
    with pytest.raises(SealError):
        list(unseal(path, key, purpose=PURPOSE))


@pytest.mark.parametrize("position", [0, len(MAGIC), len(MAGIC) + 70, HEADER_BYTES - 1, HEADER_BYTES + 5, -1])
def test_a_changed_byte_is_noticed_wherever_it_is(key: PrivateKey, tmp_path: Path, position: int) -> None:
    path = tmp_path / "sealed"
    seal([b"content"], key.public_key, path, purpose=PURPOSE)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    with pytest.raises(SealError):
        list(unseal(path, key, purpose=PURPOSE))


@pytest.mark.parametrize("left", [0, 5, len(MAGIC), len(MAGIC) + 10, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 3])
def test_a_file_that_was_cut_off_does_not_open(key: PrivateKey, tmp_path: Path, left: int) -> None:
    path = tmp_path / "sealed"
    seal([b"content"], key.public_key, path, purpose=PURPOSE)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(SealError):
        list(unseal(path, key, purpose=PURPOSE))


CHALLENGE = uuid.uuid4()


@pytest.fixture
def inbox(tmp_path: Path, key: PrivateKey) -> GroundTruthInbox:
    opened = GroundTruthInbox(tmp_path / "inbox")
    opened.set_up()
    opened.publish_key(key.public_key)
    return opened


def files(inbox_directory: Path) -> list[str]:
    return [path.name for path in inbox_directory.iterdir() if path.name != PUBLIC_KEY_FILE]


def test_what_is_kept_opens_with_the_workers_key(inbox: GroundTruthInbox, key: PrivateKey) -> None:
    with inbox.receive(challenge_id=CHALLENGE, limit=100) as incoming:
        incoming.write(b"the ")
        incoming.write(b"truth")
        assert incoming.path.stat().st_mode & 0o777 == 0o640  # so that the sweep of workers finds its lock
        version_id = incoming.keep()
    with inbox.opened(version_id) as path:
        assert path.stat().st_mode & 0o777 == 0o640  # a worker may be another user of the same group
        assert b"".join(unseal(path, key, purpose=purpose_of(CHALLENGE, version_id))) == b"the truth"


def test_what_is_not_kept_leaves_nothing(inbox: GroundTruthInbox, tmp_path: Path) -> None:
    with inbox.receive(challenge_id=CHALLENGE, limit=100) as incoming:
        incoming.write(b"the tr")
    assert files(tmp_path / "inbox") == []


def test_what_cannot_be_registered_is_removed(inbox: GroundTruthInbox, tmp_path: Path) -> None:
    with inbox.receive(challenge_id=CHALLENGE, limit=100) as incoming:
        incoming.write(b"the truth")
        with pytest.raises(ConflictError), incoming.kept():
            raise ConflictError("The challenge is archived.")
    assert files(tmp_path / "inbox") == []


def test_more_than_allowed_is_refused_and_leaves_nothing(inbox: GroundTruthInbox, tmp_path: Path) -> None:
    with inbox.receive(challenge_id=CHALLENGE, limit=10) as incoming:
        incoming.write(b"0123456789")
        with pytest.raises(TooLargeError):
            incoming.write(b"0")
    assert files(tmp_path / "inbox") == []


def test_a_full_disk_leaves_nothing(inbox: GroundTruthInbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"), inbox.receive(challenge_id=CHALLENGE, limit=10) as incoming:
        incoming.keep()
    assert files(tmp_path / "inbox") == []


def test_before_a_worker_has_started_nothing_is_taken(tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="No worker"):
        GroundTruthInbox(tmp_path).receive(challenge_id=CHALLENGE, limit=10)


def test_publishing_the_same_key_again_leaves_the_file_alone(
    inbox: GroundTruthInbox, key: PrivateKey, tmp_path: Path
) -> None:
    file = tmp_path / "inbox" / PUBLIC_KEY_FILE
    before = file.stat().st_ino
    inbox.publish_key(key.public_key)
    assert file.stat().st_ino == before
    inbox.publish_key(PrivateKey.generate().public_key)
    assert file.stat().st_ino != before
    assert files(tmp_path / "inbox") == []
