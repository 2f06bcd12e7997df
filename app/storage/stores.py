"""Selects the archive store by the settings."""

from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.directory_store import DirectoryStore


def archive_store(settings: Settings) -> ArchiveStore:
    """Return the archive store."""
    return DirectoryStore(settings.archives)
