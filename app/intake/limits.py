"""Upload limits, from the settings: attempts, bytes and concurrency of each person, and concurrency of all.

`app.intake.attempts` and `places` decide, before a body is read. How many valid submissions a person may make is the
quota: `app.quotas`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from vocboard.app.database import now
from vocboard.app.intake.models import UploadKind
from vocboard.app.settings import Settings

ATTEMPTS_PERIOD = timedelta(hours=1)
BYTES_PERIOD = timedelta(days=1)  # the longer of the two; older attempts do not count
NEW_ACCOUNT = timedelta(days=7)  # after its registration
LEASE = timedelta(seconds=60)  # of an upload in progress; after a process is killed, its uploads count for this long


@dataclass(frozen=True, slots=True)
class PersonLimits:
    """Limits of one person for one kind of upload.

    Attributes:
        attempts: in any `ATTEMPTS_PERIOD`, including rejected ones.
        concurrent: number of concurrent uploads.
        bytes_per_day: total of all bodies in any `BYTES_PERIOD`, including rejected ones.
        file_bytes: maximum size of a file.
        duration: maximum duration of an upload.
        bytes_per_second: minimum rate of an upload; more while many places are in use (`app.intake.places`).
    """

    attempts: int
    concurrent: int
    bytes_per_day: int
    file_bytes: int
    duration: timedelta
    bytes_per_second: int


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits across accounts.

    Attributes:
        concurrent_from_address: concurrent uploads from one address.
        concurrent: concurrent uploads in total, of those that are not small.
        small_bytes: up to this size, an upload is small.
    """

    concurrent_from_address: int
    concurrent: int
    small_bytes: int = 0


def person_limits(settings: Settings, kind: UploadKind) -> PersonLimits:
    """Return the limits for one kind of upload."""
    # An exported challenge may be as large as ground truth.
    if kind in (UploadKind.GROUND_TRUTH, UploadKind.CHALLENGE):
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
    """Return the limits shared by all kinds of upload."""
    return ServerLimits(
        settings.concurrent_uploads_per_address, settings.concurrent_uploads_in_all, settings.small_upload_bytes
    )


def is_new(account_created_at: datetime) -> bool:
    """Whether an account shares what new accounts get together."""
    return now() - account_created_at < NEW_ACCOUNT
