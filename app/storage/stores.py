"""Which archive store an installation uses: the one place that chooses, by its settings."""

from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.directory_store import DirectoryStore


def archive_store(settings: Settings) -> ArchiveStore:
    """Return the store of the submissions' archives."""
    return DirectoryStore(settings.archives)
