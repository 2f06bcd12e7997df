"""The archive to upload, and resumable uploads of it."""

import base64
import hashlib
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from vocboard.client import resumable, retry_policy
from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Connection
from vocboard.client.errors import ChangedArchiveError, LimitedError, MisuseError, NetworkError, RefusedError
from vocboard.client.resumable import UploadListener
from vocboard.client.submitting import submit
from vocboard.client.upload_states import UploadStates, cache_directory

CONTENT = random.Random(2).randbytes(300_000)
UPLOAD = "/api/v1/uploads/7f8e9a70-0000-4000-8000-000000000001"
Fault = Callable[[httpx.Request], httpx.Response | None]


class Server:
    """A server that speaks tus, with faults: each is asked once whether it answers a request instead."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = list(faults)
        self.received: bytes | None = None
        self.requests: list[str] = []
        self.forms: list[bytes] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request.method)
        if self.faults:
            answer = self.faults[0](request)
            if answer is not None:
                self.faults.pop(0)
                return answer
        path = request.url.path
        if request.method == "POST" and path == "/api/v1/uploads":
            self.received = b""
            return httpx.Response(201, headers={"Location": UPLOAD})
        if path == UPLOAD and self.received is None:
            return httpx.Response(404, json={"code": "not_found"})
        if request.method == "HEAD":
            return httpx.Response(200, headers={"Upload-Offset": str(len(self.received or b""))})
        if request.method == "PATCH":
            assert request.headers["Upload-Offset"] == str(len(self.received or b""))
            self.received = (self.received or b"") + request.read()
            return httpx.Response(204, headers={"Upload-Offset": str(len(self.received))})
        self.forms.append(request.read())
        return httpx.Response(201, json={"id": "1"})

    def connection(self) -> Connection:
        return Connection("https://voc.example.org", "t", transport=httpx.MockTransport(self), sleep=self.pauses.append)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumable, "PART_BYTES", 100_000)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "results.tar"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def states(tmp_path: Path) -> UploadStates:
    return UploadStates(tmp_path / "uploads")


def send(server: Server, path: Path, states: UploadStates, listener: UploadListener | None = None) -> object:
    with server.connection() as connection, OutgoingArchive(path) as archive:
        return submit(connection, "voc", archive, {"method_name": "M"}, states=states, listener=listener)


def once(method: str, answer: httpx.Response | Exception, *, after: int = 0) -> Fault:
    """Answer the first request of a method after so many of them."""
    seen = 0

    def fault(request: httpx.Request) -> httpx.Response | None:
        nonlocal seen
        if request.method != method:
            return None
        seen += 1
        if seen <= after:
            return None
        if isinstance(answer, Exception):
            raise_once(answer)
        return answer if isinstance(answer, httpx.Response) else None

    raised: list[Exception] = []

    def raise_once(error: Exception) -> None:
        if not raised:
            raised.append(error)
            raise error

    return fault


def files(states: UploadStates) -> Iterator[Path]:
    path = states.path("https://voc.example.org", "voc", hashlib.sha256(CONTENT).hexdigest())
    return path.parent.glob("*")


@pytest.mark.parametrize(
    "fault",
    [
        once("PATCH", httpx.ReadError("reset"), after=1),
        once("PATCH", httpx.ConnectError("refused"), after=1),
        once("PATCH", httpx.Response(502), after=1),
        once("PATCH", httpx.Response(503, headers={"Retry-After": "1"}), after=1),
        once("PATCH", httpx.Response(423, json={"code": "locked"}), after=1),
        once(  # this machine's clock is slow
            "PATCH", httpx.Response(429, json={"allowed_at": "2199-01-01T00:00:00Z"}, headers={"Retry-After": "5"})
        ),
        once("PATCH", httpx.Response(409, json={"code": "wrong_offset"}), after=1),
        once("HEAD", httpx.ReadError("reset")),
        once("POST", httpx.ReadError("reset"), after=1),  # the answer to the form is lost
        once("POST", httpx.Response(502), after=1),
    ],
)
def test_what_passes_is_waited_for(fault: Fault, archive: Path, states: UploadStates) -> None:
    server, said = Server(fault), list[str]()
    assert send(server, archive, states, UploadListener(waiting=said.append)) == {"id": "1"}
    assert server.received == CONTENT
    assert hashlib.sha256(CONTENT).hexdigest().encode() in server.forms[-1]
    assert len(said) == len(server.pauses) == 1
    assert "What has arrived is kept." in said[0]
    assert list(files(states)) == []


def test_as_long_as_something_arrives_before_each_loss_it_goes_on(archive: Path, states: UploadStates) -> None:
    def break_off(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and len(server.received or b"") < 200_000:
            server.received = (server.received or b"") + request.read()[:2_000]
            raise httpx.ReadError("reset")
        return None

    server = Server(break_off)
    send(server, archive, states)
    assert server.received == CONTENT


def test_another_process_continues_and_says_so(archive: Path, states: UploadStates) -> None:
    def killed(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and request.headers["Upload-Offset"] == "200000":
            raise KeyboardInterrupt
        return None

    server = Server(killed)
    with pytest.raises(KeyboardInterrupt):
        send(server, archive, states)
    [file] = files(states)
    assert file.stat().st_mode & 0o077 == 0
    assert '"offset": 200000' in file.read_text()

    server.faults.clear()
    continued: list[int] = []
    send(server, archive.rename(archive.with_name("renamed.tar")), states, UploadListener(continuing=continued.append))
    assert continued == [200_000]
    assert server.received == CONTENT
    assert server.requests.count("PATCH") == 4, "two, the one that was killed, and the rest"
    assert list(files(states)) == []


def test_what_another_process_has_submitted_before_it_was_killed_is_not_submitted_again(
    archive: Path, states: UploadStates
) -> None:
    def killed(request: httpx.Request) -> httpx.Response | None:
        if request.url.path.endswith("/submissions"):
            server.received = None  # as it was submitted
            raise KeyboardInterrupt
        return None

    server = Server(killed)
    with pytest.raises(KeyboardInterrupt):
        send(server, archive, states)
    server.faults.clear()
    server.requests.clear()
    assert send(server, archive, states) == {"id": "1"}
    assert server.requests == ["POST"], "the form with the first upload, which the server knows"


def test_an_upload_that_the_server_has_lost_is_sent_again(archive: Path, states: UploadStates) -> None:
    server = Server()

    def lose(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and request.headers["Upload-Offset"] == "100000":
            server.received = None
            return httpx.Response(404, json={"code": "not_found"})
        return None

    server.faults.append(lose)
    send(server, archive, states)
    assert server.received == CONTENT


def test_a_file_that_changes_is_not_submitted(archive: Path, states: UploadStates) -> None:
    def grow(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and request.headers["Upload-Offset"] == "200000":
            with archive.open("ab") as file:
                file.write(b"more")
        return None

    server = Server(grow)
    with pytest.raises(ChangedArchiveError, match=r"results\.tar changed on disk during the upload"):
        send(server, archive, states)
    assert server.forms == []
    assert list(files(states)) == []


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        (once("PATCH", httpx.Response(507, json={"detail": "The disk is full."})), RefusedError, "The disk is full."),
        (
            once("POST", httpx.Response(429, json={"detail": "The quota is used up"}, headers={"Retry-After": "9999"})),
            LimitedError,
            "The quota is used up",
        ),
    ],
)
def test_what_does_not_pass_is_reported(
    fault: Fault, error: type[Exception], message: str, archive: Path, states: UploadStates
) -> None:
    server = Server(fault)
    with pytest.raises(error, match=message):
        send(server, archive, states)
    assert server.pauses == []


def test_a_connection_that_does_not_come_back_is_given_up(archive: Path, states: UploadStates) -> None:
    def away(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and request.headers["Upload-Offset"] == "100000":
            raise httpx.ConnectError("refused")
        return None

    server = Server(away)
    with pytest.raises(NetworkError, match=r"100 kB of 300 kB have arrived; run the same command again to continue"):
        send(server, archive, states)
    assert retry_policy.GIVEN_UP_AFTER_SECONDS <= sum(server.pauses) < retry_policy.GIVEN_UP_AFTER_SECONDS + 60
    assert len(list(files(states))) == 1


def test_the_cache_directory_of_each_platform(tmp_path: Path) -> None:
    assert cache_directory("linux", {}, tmp_path) == tmp_path / ".cache" / "vocboard"
    assert cache_directory("linux", {"XDG_CACHE_HOME": "relative"}, tmp_path) == tmp_path / ".cache" / "vocboard"
    assert cache_directory("darwin", {}, tmp_path) == tmp_path / "Library" / "Caches" / "vocboard"
    assert cache_directory("win32", {"LOCALAPPDATA": "/local"}, tmp_path) == Path("/local/vocboard/Cache")
    assert cache_directory("darwin", {"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "vocboard"


def test_knows_its_name_size_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)

    with OutgoingArchive(path) as archive:
        assert (archive.name, archive.size) == ("results.tar", 25)
        assert archive.sha256() == hashlib.sha256(b"x" * 25).hexdigest()
        archive.seek(20)
        assert archive.read(10) == b"x" * 5


def test_a_file_that_changes_after_it_was_opened_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)

    with OutgoingArchive(path) as archive:
        archive.check_unchanged()
        os.utime(path, ns=(1, 1))
        with pytest.raises(ChangedArchiveError, match=r"results\.tar changed on disk during the upload"):
            archive.check_unchanged()


def test_what_is_appended_in_the_meantime_stays_behind(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.write_bytes(b"x" * 25)

    with OutgoingArchive(path) as archive:
        with path.open("ab") as file:
            file.write(b"more")
        assert len(archive.read(1000)) == 25
        assert archive.read(1000) == b""


def test_a_directory_is_to_be_packed_first(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="tar czf"):
        OutgoingArchive(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"results\.tar: No such file"):
        OutgoingArchive(tmp_path / "results.tar")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_file_name_in_another_encoding_is_sent_as_far_as_it_is_text(archive: Path, states: UploadStates) -> None:
    server, sent = Server(), list[str]()
    server.faults.append(lambda request: sent.append(request.headers.get("Upload-Metadata", "")))
    send(server, archive.rename(archive.with_name(os.fsdecode(b"r\xe9sultats.tar"))), states)
    assert sent[0] == f"filename {base64.b64encode(b'r?sultats.tar').decode()}"


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.tar"
    path.touch()
    with pytest.raises(MisuseError, match=r"results\.tar is empty"):
        OutgoingArchive(path)


def test_a_pipe_is_not_said_to_be_empty() -> None:
    ends = os.pipe()
    with pytest.raises(MisuseError, match=f"^/dev/fd/{ends[0]} is a pipe"):
        OutgoingArchive(Path(f"/dev/fd/{ends[0]}"))
    for end in ends:
        os.close(end)
