"""Upload limits, from the settings, and who gets a place for an upload. Pure functions of the uploads in progress.

`attempts` applies them before a body is read. How many valid submissions a person may make is
the quota: `app.submissions.quota`.

Small and large uploads have separate places, so that large ones cannot keep small ones out. The fuller the places, the
less a person and a network may hold, and the faster an upload must be: uploads that only hold places end. New accounts
get half of the places together, so that any number of them leaves the rest to others.
"""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from vocboard.app.database import now
from vocboard.app.intake.models import UploadKind
from vocboard.app.settings import Settings
from vocboard.evaluator.problems import counted

ATTEMPTS_PERIOD = timedelta(hours=1)
BYTES_PERIOD = timedelta(days=1)  # the longer of the two; older attempts do not count
NEW_ACCOUNT = timedelta(days=7)  # after its registration
LEASE = timedelta(seconds=60)  # of an upload in progress; after a process is killed, its uploads count for this long


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one kind of upload, of one person and across accounts.

    Attributes:
        attempts: in any `ATTEMPTS_PERIOD`, including rejected ones.
        concurrent: number of concurrent uploads of a person.
        bytes_per_day: total of all bodies of a person in any `BYTES_PERIOD`, including rejected ones.
        file_bytes: maximum size of a file.
        duration: maximum duration of an upload.
        bytes_per_second: minimum rate of an upload; more while many places are in use (`app.intake.limits`).
        concurrent_from_address: concurrent uploads from one address.
        concurrent_in_all: concurrent uploads in total, of those that are not small.
        small_bytes: up to this size, an upload is small.
        rejected_kept_for: how long rejected uploads are kept, for organisers to count.
    """

    attempts: int
    concurrent: int
    bytes_per_day: int
    file_bytes: int
    duration: timedelta
    bytes_per_second: int
    concurrent_from_address: int
    concurrent_in_all: int
    small_bytes: int = 0
    rejected_kept_for: timedelta = timedelta()


def limits_of(settings: Settings, kind: UploadKind) -> Limits:
    """Return the limits for one kind of upload."""
    # An exported challenge may be as large as ground truth; files of a challenge arrive no faster.
    if kind in (UploadKind.GROUND_TRUTH, UploadKind.CHALLENGE, UploadKind.CHALLENGE_FILE):
        own = (
            settings.ground_truth_bytes_per_day,
            settings.challenge_file_limit_bytes
            if kind is UploadKind.CHALLENGE_FILE
            else settings.ground_truth_limit_bytes,
            settings.ground_truth_time_limit,
            settings.ground_truth_bytes_per_second,
        )
    else:
        own = (
            settings.upload_bytes_per_day,
            settings.upload_limit_bytes,
            settings.upload_time_limit,
            settings.upload_bytes_per_second,
        )
    return Limits(
        settings.uploads_per_hour,
        settings.concurrent_uploads,
        *own,
        settings.concurrent_uploads_per_address,
        settings.concurrent_uploads_in_all,
        settings.small_upload_bytes,
        settings.rejected_uploads_kept_for,
    )


def is_new(account_created_at: datetime) -> bool:
    """Whether an account shares what new accounts get together."""
    return now() - account_created_at < NEW_ACCOUNT


SMALL_PER_LARGE = 4  # places for small uploads, for each place for a large one
# Kinds that share all limits of a person.
_TOGETHER = (frozenset({UploadKind.SUBMISSION, UploadKind.RESUMABLE}),)


@dataclass(frozen=True, slots=True)
class Place:
    """An upload that is in progress, or wants to be.

    Attributes:
        network: of the client, from `app.rate_limits.network`.
        byte_count: announced size; the maximum if it was not announced.
        is_new: whether the account is.
    """

    user_id: uuid.UUID
    network: str
    kind: UploadKind
    byte_count: int
    is_new: bool


def kinds_with(kind: UploadKind) -> frozenset[UploadKind]:
    """Return the kinds that share the limits of a person with this one."""
    return next((kinds for kinds in _TOGETHER if kind in kinds), frozenset({kind}))


def refusal(wanted: Place, others: Collection[Place], limits: Limits) -> str | None:
    """Return why an upload gets no place now; None if it gets one.

    Args:
        others: all that are in progress.
    """
    own = [place for place in others if place.user_id == wanted.user_id]
    own_of_kind = sum(place.kind in kinds_with(wanted.kind) for place in own)
    if own_of_kind >= limits.concurrent:
        allowed = counted(limits.concurrent, "is", "are")
        return f"You have {counted(own_of_kind, 'upload')} in progress; {allowed} allowed at once."
    level = pressure(wanted, others, limits)
    from_network = sum(place.network == wanted.network for place in others)
    if from_network >= max(1, limits.concurrent_from_address >> (level or 0)):
        uploads = counted(from_network, "upload is", "uploads are")
        return f"{uploads} in progress from your network. Try again when one of them has finished."
    if level is None or (level and own):
        return "The server is busy with other uploads. Try again in a moment."
    return None


def pressure(wanted: Place, others: Collection[Place], limits: Limits) -> int | None:
    """Return how full the places are that an upload shares: 0 up to a half, 1 up to 3/4, 2 up to 7/8, then 3.

    Of a new account, the places of all and those of new accounts count, whichever are fuller. None if there is no place
    left.
    """
    is_small = wanted.byte_count <= limits.small_bytes
    places = limits.concurrent_in_all * (SMALL_PER_LARGE if is_small else 1)
    sharing = [place for place in others if (place.byte_count <= limits.small_bytes) == is_small]
    levels = [_level(len(sharing), places)]
    if wanted.is_new:
        levels.append(_level(sum(place.is_new for place in sharing), max(1, places // 2)))
    return None if None in levels else max(level for level in levels if level is not None)


def _level(taken: int, places: int) -> int | None:
    free = places - taken
    return None if free <= 0 else sum(free <= places >> halvings for halvings in (1, 2, 3))


def minimum_rate(own: Place, others: Collection[Place], limits: Limits) -> int:
    """Return how many bytes per second an upload in progress has to bring now: twice as many at each level."""
    level = pressure(own, others, limits)
    return limits.bytes_per_second << (3 if level is None else level)
