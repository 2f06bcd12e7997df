import gzip
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from vocboard.client.archive import OutgoingArchive
from vocboard.client.client import Client
from vocboard.client.connection import Connection
from vocboard.client.errors import (
    ClientError,
    InvalidArchiveError,
    InvalidFieldsError,
    LimitedError,
    MisdirectedError,
    NetworkError,
    RefusedError,
    UnexpectedAnswerError,
)
from vocboard.evaluator import editions
from vocboard.evaluator.problems import Problem, Severity

SERVER = "https://voc.example.org"
TOKEN = "vocb_s3cret"
PROBLEM_JSON = {"Content-Type": "application/problem+json"}

Handler = Callable[[httpx.Request], httpx.Response]


def connection(handler: Handler, pauses: list[float] | None = None) -> Connection:
    sleep = (pauses if pauses is not None else []).append
    return Connection(SERVER, TOKEN, transport=httpx.MockTransport(handler), sleep=sleep)


def refusing(status: int, body: dict[str, object], headers: dict[str, str] | None = None) -> Handler:
    return lambda request: httpx.Response(status, json=body, headers={**PROBLEM_JSON, **(headers or {})})


def test_speaks_for_the_person_to_the_version_of_the_api_it_knows() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"items": []})

    assert connection(handler).get("/submissions", {"page": 2}) == {"items": []}
    assert str(seen[0].url) == f"{SERVER}/api/v1/submissions?page=2"
    assert seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert seen[0].headers["User-Agent"].startswith("vocboard/")


def test_a_server_below_a_path_is_asked_there() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=request.url.path)

    with Connection("https://example.org/voc", None, transport=httpx.MockTransport(handler)) as server:
        assert server.get("/challenges") == "/voc/api/v1/challenges"


def test_reading_outlasts_bad_moments_of_network_and_server() -> None:
    answers: Iterator[httpx.Response | Exception] = iter(
        [httpx.ReadError("reset"), httpx.Response(503), httpx.Response(200, json="there")]
    )

    def handler(request: httpx.Request) -> httpx.Response:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    pauses: list[float] = []
    assert connection(handler, pauses).get("/challenges") == "there"
    assert len(pauses) == 2


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_download_goes_on_where_its_connection_was_lost(knows_ranges: bool) -> None:
    content, pauses, ranges = b"0123456789", [], []

    def cut_off() -> Iterator[bytes]:
        yield content[:6]
        raise httpx.ReadError("reset")

    def handler(request: httpx.Request) -> httpx.Response:
        ranges.append(request.headers.get("Range"))
        if len(ranges) == 2:
            return httpx.Response(503, headers={"Retry-After": "7"})
        if not ranges[-1]:
            return httpx.Response(200, content=cut_off())
        if not knows_ranges:
            return httpx.Response(200, content=iter([content[:4], content[4:]]))
        return httpx.Response(206, content=iter([content[6:]]))

    assert b"".join(connection(handler, pauses).chunks("/archive")) == content
    assert ranges == [None, "bytes=6-", "bytes=6-"]
    assert pauses == [0.5, 7]


def test_reading_gives_up_after_a_few_attempts() -> None:
    attempts: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        attempts.append(request.method)
        raise httpx.ConnectError("Connection refused")

    for read in (lambda server: server.get("/challenges"), lambda server: list(server.chunks("/archive"))):
        attempts.clear()
        with pytest.raises(NetworkError, match=r"cannot reach https://voc.example.org \(Connection refused\)"):
            read(connection(handler))
        assert len(attempts) == 4


def test_waits_as_long_as_an_overloaded_server_asks_within_reason() -> None:
    pauses: list[float] = []
    answers = iter([httpx.Response(503, headers={"Retry-After": "7"}), httpx.Response(200, json="there")])
    assert connection(lambda request: next(answers), pauses).get("/challenges") == "there"
    assert pauses == [7]

    with pytest.raises(RefusedError, match=r"reported a server error \(status 503\)"):
        connection(refusing(503, {}, {"Retry-After": "3600"}), pauses).get("/challenges")
    assert pauses == [7]


def test_what_the_server_says_about_its_error_is_shown_alone() -> None:
    answer = httpx.Response(500, json={"detail": "Something went wrong; please try again later."})
    with pytest.raises(RefusedError) as refused:
        connection(lambda request: answer).get("/me")
    assert str(refused.value).endswith("(status 500): Something went wrong; please try again later.")


def test_the_quota_error_says_when_it_opens_again_and_nothing_waits_for_it() -> None:
    allowed_at = datetime.now(UTC) + timedelta(hours=5, seconds=-1)
    pauses: list[float] = []
    body = {"detail": "Two submissions a week to comp4.", "code": "limited", "allowed_at": allowed_at.isoformat()}

    with pytest.raises(LimitedError) as caught:
        connection(refusing(429, body, {"Retry-After": "17999"}), pauses).get("/challenges")

    assert caught.value.allowed_at == allowed_at
    local = allowed_at.astimezone().strftime("%Y-%m-%d %H:%M")
    assert str(caught.value).startswith(f"Two submissions a week to comp4; the next one is allowed at {local}")
    assert str(caught.value).endswith("in 5 h")
    assert pauses == []


@pytest.mark.parametrize("header", ["120", "date"])
def test_a_limit_without_problem_details_is_read_from_its_header(header: str) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=120)
    value = moment.strftime("%a, %d %b %Y %H:%M:%S GMT") if header == "date" else header

    with pytest.raises(LimitedError, match="in 2 min") as caught:
        connection(refusing(429, {}, {"Retry-After": value})).get("/challenges")

    assert caught.value.allowed_at is not None
    assert abs(caught.value.allowed_at - moment) < timedelta(seconds=5)


def test_a_refused_archive_lists_its_problems() -> None:
    problems = [
        Problem("not_a_number", Severity.ERROR, "The confidence is 'x'.", "comp4_det_test_car.txt", 7),
        Problem("ignored_files", Severity.WARNING, "2 files of macOS."),
    ]
    body: dict[str, object] = {"code": "invalid_archive", "problems": [problem.as_json() for problem in problems]}

    with pytest.raises(InvalidArchiveError) as caught:
        connection(refusing(422, body)).get("/challenges")

    assert caught.value.problems == tuple(problems)


def test_refused_fields_are_named() -> None:
    body: dict[str, object] = {"code": "invalid_input", "fields": {"method_name": "Required."}}

    with pytest.raises(InvalidFieldsError, match=r"method name: Required\."):
        connection(refusing(422, body)).get("/challenges")


def test_a_refused_token_is_answered_with_the_way_to_a_new_one() -> None:
    said = "It is expired. Create a new one on the Account page."  # by servers
    with pytest.raises(RefusedError) as caught:
        connection(refusing(401, {"detail": said})).get("/challenges")
    assert str(caught.value) == f"{SERVER} does not accept the token: {said} Then run `vocboard login {SERVER}`"


def test_what_is_not_there_or_not_possible_is_the_commands_fault() -> None:
    for status in (403, 404, 409, 413):
        with pytest.raises(MisdirectedError, match="Not like that"):
            connection(refusing(status, {"detail": "Not like that."})).get("/challenges")


def test_a_refusal_cannot_steer_the_terminal() -> None:
    with pytest.raises(RefusedError) as caught:
        connection(refusing(409, {"detail": "\x1b[2JGone\nfor ever"})).get("/challenges")
    assert str(caught.value) == "\ufffd[2JGone for ever"
    with pytest.raises(InvalidFieldsError) as field:
        connection(refusing(422, {"fields": {"\x1b[2J": "Required."}})).get("/challenges")
    assert str(field.value) == "\ufffd[2J: Required."


def test_a_token_does_not_follow_a_redirect() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(302, headers={"Location": "https://evil.example/"})

    with pytest.raises(UnexpectedAnswerError, match=r"redirects to https://evil\.example/"):
        connection(handler).get("/challenges")
    assert asked == [f"{SERVER}/api/v1/challenges"]


@pytest.mark.parametrize("body", ["<html>Welcome to nginx</html>", "", "{"])
def test_a_server_of_another_kind_is_recognised(body: str) -> None:
    with pytest.raises(UnexpectedAnswerError, match="is not a vocboard server"):
        connection(lambda request: httpx.Response(200, text=body)).get("/challenges")


def test_another_media_type_than_asked_for_is_not_passed_on() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.headers["Accept"] == "text/csv"
        return httpx.Response(200, json=[])

    with pytest.raises(UnexpectedAnswerError):
        connection(handler).get_text("/board", accept="text/csv")


def test_an_edition_that_needs_an_extension_is_named_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = editions.source("VOC2007").replace("[tasks.detection]", "[tasks.keypoints]\n[tasks.detection]")
    monkeypatch.setattr(Connection, "get_text", lambda *_, **__: text)
    with Client(SERVER, TOKEN) as client:
        for read in (client.edition, lambda slug: client.download(slug, tmp_path)):
            with pytest.raises(ClientError, match=r"may need an extension .* voc:\d+: .*keyp"):
                read("voc")


def test_a_silent_event_stream_times_out() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("silence")

    with (
        pytest.raises(NetworkError, match="did not respond in time"),
        connection(handler).events("/e", read_timeout_seconds=1),
    ):
        pass


@pytest.mark.parametrize(("variable", "value"), [("SSL_CERT_FILE", "/no/such.pem"), ("HTTPS_PROXY", "gopher://proxy")])
def test_an_environment_that_cannot_be_used_is_reported(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ClientError, match="SSL_CERT_FILE, SSL_CERT_DIR or the proxy in the environment cannot be used"):
        Connection(SERVER, TOKEN)


def test_a_damaged_answer_is_reported() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=iter([b"not gzip"]), headers={"Content-Encoding": "gzip"})

    with pytest.raises(NetworkError, match="cannot reach"):
        connection(handler).get("/challenges")


# On real sockets


@contextmanager
def raw_server(answer: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[str]:
    """Give the address of a server that does with its one connection what `answer` does, then closes it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        thread.join(10)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_this_machine_is_reached_directly_whatever_proxy_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    if host == "::1" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://192.0.2.1:9")  # an address of documentation: nothing is there
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(answer, host) as address, Connection(address, None) as server:
        assert server.get("/challenges") == {}


def test_a_refusal_in_the_middle_of_an_upload_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "large.tar"
    path.touch()
    os.truncate(path, 64_000_000)

    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        body = b'{"detail": "The archive is larger than 1 MB."}'
        head = f"HTTP/1.1 413 Too Large\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):  # or the system resets the connection and the answer with it
            pass

    with (
        raw_server(answer) as address,
        Connection(address, TOKEN) as server,
        OutgoingArchive(path) as archive,
        pytest.raises(MisdirectedError, match="larger than 1 MB"),
    ):
        send(server, archive)


def test_a_file_that_shrinks_while_it_is_uploaded_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "growing.tar"
    path.write_bytes(b"x" * 1000)

    def answer(connection: socket.socket) -> None:
        while connection.recv(65536):
            pass

    with raw_server(answer) as address, Connection(address, TOKEN) as server, OutgoingArchive(path) as archive:
        os.truncate(path, 10)
        with pytest.raises(ClientError, match=r"growing.tar changed on disk during the upload"):
            send(server, archive)


def send(server: Connection, archive: OutgoingArchive) -> None:
    pieces = iter(lambda: archive.read(65536), b"")
    server.send("PATCH", "/uploads/1", headers={"Content-Length": str(archive.size)}, content=pieces)


UPLOAD = """
import resource, sys
from pathlib import Path
from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Connection
with Connection(sys.argv[1], None) as server, OutgoingArchive(Path(sys.argv[2])) as archive:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    archive.sha256()
    pieces = iter(lambda: archive.read(65536), b"")
    server.send("PATCH", "/uploads/1", headers={"Content-Length": str(archive.size)}, content=pieces)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_memory_stays_flat_however_large_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "large.tar"
    path.touch()
    os.truncate(path, 500_000_000)  # a hole: takes no room
    received = 0

    def answer(connection: socket.socket) -> None:
        nonlocal received
        buffer = memoryview(bytearray(1 << 20))
        while received < 500_000_000:
            received += connection.recv_into(buffer)
        connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(answer) as address:
        done = subprocess.run(
            [sys.executable, "-c", UPLOAD, address, str(path)], capture_output=True, text=True, check=True
        )

    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 20_000_000


def test_no_answer_fills_the_memory_or_ends_with_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vocboard.client.bodies.MAX_BYTES", 100_000)
    sent: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            sent.append(1)
            yield b"x" * 10_000

    bomb = gzip.compress(b"x" * 1_000_000)
    deep = b"[" * 200_000
    answers: dict[str, Handler] = {
        "endless": lambda request: httpx.Response(200, content=endless()),
        "refused": lambda request: httpx.Response(400, content=endless()),
        "bomb": lambda request: httpx.Response(200, content=bomb, headers={"Content-Encoding": "gzip"}),
        "deep": lambda request: httpx.Response(200, content=deep[:90_000]),
        "deep refusal": lambda request: httpx.Response(400, content=deep[:90_000], headers=PROBLEM_JSON),
    }
    for name, handler in answers.items():
        with pytest.raises(ClientError), connection(handler) as server:
            server.get("/me")
        with pytest.raises(ClientError), connection(handler) as server:
            server.post("/submissions/1/publish")
        assert len(sent) <= 44, name
