"""The inbox of ground truth: whole sealed files, or nothing."""

import uuid
from pathlib import Path

import pytest
from nacl.public import PrivateKey

from vocboard.app.errors import ConflictError, TooLargeError
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE, GroundTruthInbox, purpose_of
from vocboard.app.storage.sealed_files import unseal

CHALLENGE = uuid.uuid4()


@pytest.fixture
def key() -> PrivateKey:
    return PrivateKey.generate()


@pytest.fixture
def inbox(tmp_path: Path, key: PrivateKey) -> GroundTruthInbox:
    opened = GroundTruthInbox(tmp_path / "inbox")
    opened.publish_key(key.public_key)
    return opened


def files(inbox_directory: Path) -> list[str]:
    return [path.name for path in inbox_directory.iterdir() if path.name != PUBLIC_KEY_FILE]


def test_what_is_kept_opens_with_the_workers_key(inbox: GroundTruthInbox, key: PrivateKey) -> None:
    with inbox.receive(challenge_id=CHALLENGE, limit=100) as incoming:
        incoming.write(b"the ")
        incoming.write(b"truth")
        version_id = incoming.keep()
    assert b"".join(unseal(inbox.path(version_id), key, purpose=purpose_of(CHALLENGE, version_id))) == b"the truth"


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
