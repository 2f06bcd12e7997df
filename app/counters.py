"""What a web process counts for Prometheus: requests, uploads, refusals. `app.web.metrics` publishes it.

`vocboard serve` lets its processes share their counts in a directory if there are several (`SHARED_DIRECTORY`, the
client's own variable, which must be set before this is imported). What the database knows is not counted here.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.multiprocess import MultiProcessCollector

from vocboard.app.errors import ServiceError

SHARED_DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
_LONG = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)

disable_created_metrics()  # type: ignore[no-untyped-call]  # the client's; Prometheus needs no time of creation of each series
_own = CollectorRegistry()
REQUESTS = Histogram(
    "vocboard_request_seconds",
    "Time until a response began, by part of the site, whether the request reads or changes, and class of status.",
    ("part", "access", "status"),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
    registry=_own,
)
REFUSALS = Counter("vocboard_refusals", "Reasons for which requests were refused, by code.", ("code",), registry=_own)
UPLOADS = Counter(
    "vocboard_uploads",
    "Ended uploads, by kind and outcome: accepted, refused, or failed (also by the client's going).",
    ("kind", "outcome"),
    registry=_own,
)
UPLOAD_BYTES = Counter("vocboard_upload_bytes", "Bytes of ended uploads, by kind.", ("kind",), registry=_own)
UPLOAD_SECONDS = Histogram(
    "vocboard_upload_seconds",
    "Time of an upload: all of it, waiting for a reading process, being read.",
    ("stage",),
    buckets=_LONG,
    registry=_own,
)


@contextmanager
def upload_counted(kind: str, received: Callable[[], int]) -> Iterator[None]:
    """Count the upload that the block takes, its time, and the bytes that it has received in the end."""
    began, outcome = time.monotonic(), "failed"
    try:
        yield
        outcome = "accepted"
    except ServiceError as error:
        outcome = "refused" if error.status < 500 else "failed"
        raise
    finally:
        UPLOADS.labels(kind, outcome).inc()
        UPLOAD_BYTES.labels(kind).inc(received())
        UPLOAD_SECONDS.labels("all").observe(time.monotonic() - began)


def registry() -> CollectorRegistry:
    """Return what has been counted: by all processes that share a directory, or by this one."""
    if SHARED_DIRECTORY not in os.environ:
        return _own
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]  # the client's
    return shared
