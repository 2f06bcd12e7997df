"""Limits on uploads, from the settings."""

from dataclasses import dataclass
from datetime import timedelta

from vocboard.app.settings import Settings
from vocboard.app.uploads.models import UploadKind

ATTEMPTS_PERIOD = timedelta(hours=1)
BYTES_PERIOD = timedelta(days=1)  # the longer of the two: older attempts count against nothing
LEASE = timedelta(seconds=60)  # of an upload in progress; a killed process holds its places for so long


@dataclass(frozen=True, slots=True)
class PersonLimits:
    """What one person may upload of one kind.

    Attributes:
        attempts: in any `ATTEMPTS_PERIOD`, whatever their outcome.
        concurrent: uploads in progress at once.
        bytes_per_day: of all bodies in any `BYTES_PERIOD`, whatever became of them.
        file_bytes: of one file.
        duration: of one body.
        bytes_per_second: the least that a body must bring.
    """

    attempts: int
    concurrent: int
    bytes_per_day: int
    file_bytes: int
    duration: timedelta
    bytes_per_second: int


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What bounds several accounts of one person, and everybody together.

    Attributes:
        concurrent_from_address: uploads in progress at once from one address.
        concurrent: uploads in progress at once. From half of it on, a person may have only one: people who have
            none find a place when others have many.
    """

    concurrent_from_address: int
    concurrent: int


def person_limits(settings: Settings, kind: UploadKind) -> PersonLimits:
    """Return the limits of one kind of upload."""
    if kind is UploadKind.GROUND_TRUTH:
        return PersonLimits(
            settings.uploads_per_hour,
            settings.concurrent_uploads,
            settings.ground_truth_bytes_per_day,
            settings.ground_truth_limit_bytes,
            settings.ground_truth_time_limit,
            settings.ground_truth_bytes_per_second,
        )
    return PersonLimits(
        settings.uploads_per_hour,
        settings.concurrent_uploads,
        settings.upload_bytes_per_day,
        settings.upload_limit_bytes,
        settings.upload_time_limit,
        settings.upload_bytes_per_second,
    )


def server_limits(settings: Settings) -> ServerLimits:
    """Return the limits that all kinds of upload share."""
    return ServerLimits(settings.concurrent_uploads_per_address, settings.concurrent_uploads_in_all)
