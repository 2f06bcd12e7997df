"""Files in an object store that speaks the protocol of Amazon S3.

Content is fetched whole into a local file before it is used, so that its users can verify it, and so that a connection
that is lost in the middle is an error rather than the end of the file. What is used again and again, such as pictures,
stays on disk (`local_cache`).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import boto3
import botocore.session
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from vocboard.app.storage.local_cache import LocalCache
from vocboard.app.storage.local_files import IncomingFile, StoreUnavailableError, remove_abandoned

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

READY_FOR = 5.0  # seconds until the store is asked again whether it is there
LINKS_WORK_FOR = timedelta(minutes=5)
ABANDONED_PARTS_AFTER = timedelta(days=1)  # longer than an upload of one file may take
_MISSING = {"404", "NoSuchKey", "NotFound"}
_TRANSFER = TransferConfig(max_concurrency=4)  # in parts of 8 MiB
_LIMITS = Config(
    connect_timeout=3,
    read_timeout=20,
    retries={"mode": "standard", "max_attempts": 3},
    max_pool_connections=32,
    signature_version="s3v4",
    # Stores other than Amazon's may not know newer checksums. Content is verified by its SHA-256 or its seal.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where objects are.

    Attributes:
        url: `s3://bucket` or `s3://bucket/prefix`.
        endpoint: URL of a store other than Amazon's.
        key_id, key: credentials; without them those of the machine, as all of Amazon's tools find them.
    """

    url: str
    endpoint: str = ""
    region: str = ""
    key_id: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        """The bucket's name."""
        return urlsplit(self.url).netloc

    @property
    def prefix(self) -> str:
        """What the names of all objects begin with."""
        return urlsplit(self.url).path.strip("/")

    def client(self) -> "S3Client":
        """Return a client, which several threads can use."""
        core = botocore.session.Session()
        core.register_component("data_loader", _service_definitions())
        session = boto3.session.Session(
            botocore_session=core,
            aws_access_key_id=self.key_id or None,
            aws_secret_access_key=self.key or None,
            region_name=self.region or None,
        )
        return session.client("s3", endpoint_url=self.endpoint or None, config=_LIMITS)


@cache
def _service_definitions() -> Any:
    """Return the loader that has read botocore's definitions, which takes most of the time to make a client."""
    return botocore.session.Session().get_component("data_loader")


class S3Objects:
    """`Objects` in a bucket; see there for its methods."""

    needs_directory = False

    def __init__(
        self, bucket: Bucket, folder: str, *, directory: Path, cache_bytes: int, has_links: bool = False
    ) -> None:
        """Use a bucket, which has to exist.

        Args:
            folder: of these objects, below the prefix of the bucket's URL, such as `archives`.
            directory: local space for copies, which is made if it is missing.
            cache_bytes: of copies that stay.
            has_links: whether people download from the store.
        """
        self._bucket = bucket.name
        self._prefix = "/".join(part for part in (bucket.prefix, folder) if part) + "/"
        self._copies = directory / "copies"
        self._cache = LocalCache(directory / "cache", cache_bytes)
        self._has_links = has_links
        self._make_client = bucket.client
        self._made: S3Client | None = None
        self._lock = Lock()
        self._ready = (float("-inf"), False)  # when that was asked, and the answer

    @property
    def _client(self) -> "S3Client":
        with self._lock:  # made on first use, which is after a worker's fork
            if self._made is None:
                self._made = self._make_client()
            return self._made

    def set_up(self) -> None:
        """Do nothing: the bucket is there."""

    def is_ready(self) -> bool:
        """Whether the bucket can be reached."""
        asked, answer = self._ready
        if time.monotonic() - asked > READY_FOR:
            try:
                with _reporting():
                    self._client.head_bucket(Bucket=self._bucket)
                answer = True
            except OSError:
                answer = False
            self._ready = (time.monotonic(), answer)
        return answer

    def put(self, path: Path, name: str, *, is_durable: bool = True) -> None:
        """Upload a file, in parts if it is large."""
        with _reporting():
            self._client.upload_file(str(path), self._bucket, self._prefix + name, Config=_TRANSFER)

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Download an object, and remove it in the end."""
        self._copies.mkdir(parents=True, exist_ok=True)
        with IncomingFile(self._copies, is_durable=False) as copy:
            self._download(name, copy)
            yield copy.path

    def cached(self, name: str, check: Callable[[Path], object]) -> Path:
        """Download an object unless it was used recently."""

        def fetch(copy: IncomingFile) -> None:
            self._download(name, copy)
            check(copy.path)

        return self._cache.path(name.replace("/", "-"), fetch)

    def _download(self, name: str, copy: IncomingFile) -> None:
        with _reporting():
            body = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"]
            with copy.path.open("wb") as file:
                for chunk in body.iter_chunks(1024 * 1024):
                    file.write(chunk)

    def link(self, name: str, file_name: str) -> str | None:
        """Return a signed URL."""
        if not self._has_links:
            return None
        if not self.has(name):
            raise FileNotFoundError(name)
        return self._client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": self._prefix + name,
                "ResponseContentType": "application/octet-stream",
                "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(file_name, safe='')}",
            },
            ExpiresIn=int(LINKS_WORK_FOR.total_seconds()),
        )

    def move(self, name: str, new_name: str) -> bool:
        """Copy an object within the store, then remove it."""
        source = {"Bucket": self._bucket, "Key": self._prefix + name}
        try:
            with _reporting():
                self._client.copy(source, self._bucket, self._prefix + new_name, Config=_TRANSFER)  # type: ignore[arg-type]
        except FileNotFoundError:
            return False
        self.remove(name)
        return True

    def remove(self, name: str) -> None:
        """Remove an object."""
        with _reporting():
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)

    def has(self, name: str) -> bool:
        """Whether there is an object."""
        return name in self.names(name)  # unlike HEAD, a listing tells a missing bucket from a missing object

    def names(self, folder: str = "") -> Iterator[str]:
        """List objects, in pages."""
        with _reporting():
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + folder):
                yield from (each["Key"].removeprefix(self._prefix) for each in page.get("Contents", ()))

    def changed_at(self, name: str) -> datetime:
        """Return when an object was put."""
        with _reporting():
            return self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)["LastModified"]

    def remove_abandoned(self) -> int:
        """Remove the copies of killed processes, and the parts that they had uploaded; return their number."""
        removed = remove_abandoned(self._copies.iterdir()) if self._copies.exists() else 0
        before = datetime.now(UTC) - ABANDONED_PARTS_AFTER
        with _reporting():
            pages = self._client.get_paginator("list_multipart_uploads")
            uploads = [
                each
                for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix)
                for each in page.get("Uploads", ())
                if each["Initiated"] < before
            ]
            for each in uploads:
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=each["Key"], UploadId=each["UploadId"])
        return removed + len(uploads)


@contextmanager
def _reporting() -> Iterator[None]:
    """Raise `FileNotFoundError` for a missing object, and `StoreUnavailableError` for everything else."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"].get("Code", "")
        if code in _MISSING:
            raise FileNotFoundError(str(error)) from error
        raise StoreUnavailableError(str(error)) from error
    except (BotoCoreError, Boto3Error) as error:
        raise StoreUnavailableError(str(error)) from error
