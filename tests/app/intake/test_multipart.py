"""Multipart forms arrive whole however the network cuts them, and wrong ones are told from cut-off ones."""

from collections.abc import Iterator
from datetime import timedelta

import anyio
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from vocboard.app.errors import ForbiddenError, InvalidInputError, TooLargeError
from vocboard.app.intake.body import Pace
from vocboard.app.intake.multipart import (
    CLASSES_FIELD,
    FIELD_LIMIT_BYTES,
    BeforeFile,
    FormReader,
    MalformedFormError,
    StreamedForm,
    UnsupportedFormError,
)

BOUNDARY = "----here"
FILE = b"\r\n------her\r\n--\r\n----here-not\x00\xff" * 3  # much like a boundary, but none

KNOWN = ("method_name", "method_description", "contributors", "segmentation_classes", "audience", "other")


def part(name: str, content: bytes, *, file_name: str | None = None) -> bytes:
    disposition = f'Content-Disposition: form-data; name="{name}"'
    if file_name is not None:
        disposition += f'; filename="{file_name}"\r\nContent-Type: application/octet-stream'
    return f"--{BOUNDARY}\r\n{disposition}\r\n\r\n".encode() + content + b"\r\n"


def body(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


WHOLE = body(
    part("method_name", "Méthode".encode()),
    part("archive", FILE, file_name="C:\\results\\results.tar.gz"),
    part("segmentation_classes", b"car"),
    part("segmentation_classes", b"bus"),
)


class Sink:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.content = b""

    def write(self, chunk: bytes) -> None:
        self.content += chunk


def receive(
    content: bytes,
    sink: Sink,
    *,
    step: int = 1 << 20,
    headers: dict[str, str] | None = None,
    goes_away: bool = False,
    limit: int = 1 << 20,
    before_file: BeforeFile | None = None,
) -> StreamedForm:
    def messages() -> Iterator[Message]:
        for start in range(0, len(content), step):
            yield {"type": "http.request", "body": content[start : start + step], "more_body": True}
        yield {"type": "http.disconnect"} if goes_away else {"type": "http.request", "body": b"", "more_body": False}

    waiting = messages()

    async def next_message() -> Message:
        return next(waiting)

    sent = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"} | (headers or {})
    scope = {"type": "http", "method": "POST", "headers": [(k.encode(), v.encode()) for k, v in sent.items()]}
    request = Request(scope, next_message)

    async def run() -> StreamedForm:
        reader = FormReader("archive", sink, limit, known_fields=KNOWN, before_file=before_file)
        return await reader.receive(request, Pace(duration=timedelta(minutes=1), bytes_per_second=1))

    return anyio.run(run)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7, 11, 64, 1 << 20])
def test_gives_the_same_form_however_the_body_is_cut(step: int) -> None:
    sink = Sink()
    form = receive(WHOLE, sink, step=step)
    assert sink.content == FILE
    assert form.file_name == "results.tar.gz"
    assert form.fields == {"method_name": ["Méthode"], "segmentation_classes": ["car", "bus"]}
    assert form.value("method_name") == "Méthode"
    assert form.value("missing") == ""


@pytest.mark.parametrize("length", range(1, len(WHOLE) - len("--\r\n"), 17))
def test_a_form_that_ends_early_is_malformed(length: int) -> None:
    with pytest.raises(MalformedFormError):
        receive(WHOLE[:length], Sink())


def test_a_client_that_goes_away_is_not_a_malformed_form() -> None:
    with pytest.raises(ClientDisconnect):
        receive(WHOLE[:100], Sink(), goes_away=True)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (body(part("method_name", b"x")), "archive"),
        (body(part("archive", b"", file_name="")), "archive"),
        (body(part("publish_when_scored", b"true")), "publish_when_scored"),
        (body(part("archive", b"just text")), "archive"),
        (body(part("archive", b"1", file_name="a.tar"), part("archive", b"2", file_name="b.tar")), "archive"),
        (body(part("archive", b"1", file_name="a.tar"), part("other", b"2", file_name="b.tar")), "other"),
        (body(part("method_description", b"x" * (FIELD_LIMIT_BYTES + 1))), "method_description"),
        (body(*[part(CLASSES_FIELD, b"x" * (FIELD_LIMIT_BYTES // 2))] * 3), CLASSES_FIELD),
        (body(part("method_name", b"x"), part("contributors", b"x"), part("method_name", b"x")), "method_name"),
        (body(part("archive", b"1", file_name="a.tar"), *[part("audience", b"public")] * 2), "audience"),
    ],
    ids=[
        "no file",
        "none chosen",
        "unknown field",
        "not a file",
        "two files",
        "file elsewhere",
        "long field",
        "many values of one field",
        "field twice",
        "field twice after the file",
    ],
)
def test_names_the_field_that_is_wrong(content: bytes, field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        receive(content, Sink(), limit=1 << 22)
    assert set(raised.value.fields) == {field}


@pytest.mark.parametrize(
    "content",
    [
        b"not a form at all",
        f"--{BOUNDARY}\r\nContent-Type: text/plain\r\n\r\nno name\r\n--{BOUNDARY}--\r\n".encode(),
        body(part("method_name", b"\xff\xfe")),
        body(*(part(CLASSES_FIELD, b"") for _ in range(201))),
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; name={'n' * 100_000}".encode(),
        body(part(f'method_name"\r\nX: "{"x" * 100_000}', b"Mine"), part("archive", FILE, file_name="r.tar")),
    ],
    ids=["no form", "no name", "not UTF-8", "too many fields", "endless header", "long header"],
)
def test_refuses_malformed_forms(content: bytes) -> None:
    with pytest.raises(MalformedFormError):
        receive(content, Sink())


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data", "multipart/mixed; boundary=x", ""])
def test_refuses_other_kinds_of_bodies(kind: str) -> None:
    with pytest.raises(UnsupportedFormError):
        receive(WHOLE, Sink(), headers={"content-type": kind})


def test_refuses_a_long_body_before_reading_it() -> None:
    sink = Sink()
    with pytest.raises(TooLargeError):
        receive(WHOLE, sink, headers={"content-length": str(1 << 40)})
    assert sink.content == b""


def test_what_is_refused_before_the_file_never_reaches_the_sink() -> None:
    seen: list[str] = []

    def refuse(form: StreamedForm) -> None:
        seen.append(form.value("method_name"))
        raise ForbiddenError("no")

    sink = Sink()
    with pytest.raises(ForbiddenError):
        receive(WHOLE, sink, before_file=refuse)
    assert seen == ["Méthode"]
    assert sink.content == b""
