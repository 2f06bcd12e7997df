"""A real server of S3 for the tests, from a wheel, or one given by address."""

import contextlib
import os
import shutil
import signal
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from tests.support.processes import listening, temporary_directory
from tests.support.services import needed
from vocboard.app.storage.s3_objects import Bucket

ADDRESS_VARIABLE = "VOCBOARD_TEST_S3_URL"
KEY_ID, KEY = "vocboard", "a key for tests"


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """Give the URL of a server until the block ends.

    Raises:
        UnavailableError: it does not start.
    """
    if given := os.environ.get(ADDRESS_VARIABLE):
        yield given.rstrip("/")
        return
    directory = temporary_directory("")
    try:
        with listening(
            lambda port: [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            directory=directory,
            user="",
            stop_signal=signal.SIGKILL,
            answers=answers,
        ) as port:
            yield f"http://127.0.0.1:{port}"
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def answers(port: int) -> bool:
    """Tell whether a server takes requests yet."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """Give this process's server."""
    with needed(s3_server()) as url:
        yield url


@pytest.fixture
def bucket(s3_url: str) -> Bucket:
    """Give a new bucket."""
    return new_bucket(s3_url)


def new_bucket(s3_url: str) -> Bucket:
    """Make a bucket."""
    made = Bucket(f"s3://test-{uuid.uuid4().hex}/prefix", s3_url, "us-east-1", KEY_ID, KEY)
    made.client().create_bucket(Bucket=made.name)
    return made


def settings_of(bucket: Bucket) -> dict[str, Any]:
    """Return the settings for a bucket."""
    return {
        "store": bucket.url,
        "store_endpoint": bucket.endpoint,
        "store_region": bucket.region,
        "store_key_id": bucket.key_id,
        "store_key": SecretStr(bucket.key),
    }
