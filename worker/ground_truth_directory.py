"""The directory that the worker alone can read: imported ground truth, and the key that uploads are sealed to."""

import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from uuid import UUID

from nacl.public import PrivateKey

from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox

PRIVATE_KEY_FILE = "worker.private-key"
_SCRATCH = "scratch"


class GroundTruthDirectory:
    """The directory `Settings.truth`; made, closed to other users, when first asked for."""

    def __init__(self, settings: Settings) -> None:
        self._directory = settings.truth
        self._inbox = GroundTruthInbox(settings.ground_truth_inbox)

    def scratch(self, version_id: UUID, lease_id: UUID) -> Path:
        """Where to unseal an upload to."""
        directory = self._made() / _SCRATCH
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory / f"{version_id}.{lease_id}"

    def remove_scratch(self, *, but: Collection[UUID]) -> None:
        """Remove what workers that were killed left unsealed, but for these versions, whose import may be going on."""
        for path in (self._made() / _SCRATCH).glob("*.*"):
            if path.stem not in {str(version_id) for version_id in but}:
                path.unlink(missing_ok=True)

    def private_key(self) -> PrivateKey:
        """Return the key that uploads are sealed to; the first time make it. Its public half is put into the inbox."""
        path = self._made() / PRIVATE_KEY_FILE
        if not path.exists():
            self._make_key(path)
        key = PrivateKey(path.read_bytes())
        self._inbox.publish_key(key.public_key)
        return key

    def _make_key(self, path: Path) -> None:
        descriptor, name = tempfile.mkstemp(dir=path.parent)  # readable by this user alone
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(PrivateKey.generate()))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(name, path)
        except FileExistsError:
            pass  # another worker, started at the same moment, was first: its key is the key
        finally:
            Path(name).unlink()

    def _made(self) -> Path:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._directory
