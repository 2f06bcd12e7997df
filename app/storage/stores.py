"""Selects by the settings where archives and ground truth are kept."""

from pathlib import Path

from vocboard.app.settings import DIRECTORY, Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.directory_objects import DirectoryObjects
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox
from vocboard.app.storage.moving_objects import MovingObjects
from vocboard.app.storage.objects import Objects

ARCHIVES, INBOX, TRUTH = "archives", "truth-inbox", "truth"  # below the prefix of the bucket


def archive_store(settings: Settings) -> ArchiveStore:
    """Return the archive store."""
    return ArchiveStore(settings.archives, objects(settings, ARCHIVES, settings.archives))


def ground_truth_inbox(settings: Settings) -> GroundTruthInbox:
    """Return the inbox of ground truth."""
    directory = settings.ground_truth_inbox
    return GroundTruthInbox(directory, objects(settings, INBOX, directory))


def objects(settings: Settings, folder: str, directory: Path) -> Objects:
    """Return the place of some files: the directory, or a folder of the bucket."""
    place = _place(settings, settings.store, folder, directory)
    if not settings.former_store:
        return place
    return MovingObjects(place, _place(settings, settings.former_store, folder, directory))


def sealed_truth(settings: Settings) -> Objects | None:
    """Return the place of sealed ground truth; None if the workers' directory has all of it."""
    urls = [url for url in (settings.store, settings.former_store) if url not in ("", DIRECTORY)]
    places = [_place(settings, url, TRUTH, settings.truth) for url in urls]
    return MovingObjects(*places) if len(places) > 1 else next(iter(places), None)


def _place(settings: Settings, url: str, folder: str, directory: Path) -> Objects:
    if url in ("", DIRECTORY):
        return DirectoryObjects(directory)
    from vocboard.app.storage.s3_objects import Bucket, S3Objects  # noqa: PLC0415 takes a second, which few need

    endpoint, region, key_id = settings.store_endpoint, settings.store_region, settings.store_key_id
    bucket = Bucket(url, endpoint, region, key_id, settings.store_key.get_secret_value())
    cache_bytes, has_links = settings.store_cache_bytes, settings.store_links
    return S3Objects(bucket, folder, directory=directory, cache_bytes=cache_bytes, has_links=has_links)
