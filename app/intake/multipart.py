"""Streaming parser for multipart forms with one large file, and the fields of a submission's form.

The file is passed to a sink without being kept in memory.

Source: RFC 7578, "Returning Values from Forms: multipart/form-data".
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.forms import no_such_field
from vocboard.app.intake.body import Pace, stream_to_thread
from vocboard.app.intake.body_limit import raise_limit
from vocboard.app.settings import MEBIBYTE
from vocboard.app.submissions import forms
from vocboard.app.submissions.forms import SubmissionForm, declarations_of
from vocboard.evaluator.editions import Edition

FIELDS_LIMIT_BYTES = 10 * MEBIBYTE  # of all fields except the file
FIELD_LIMIT_BYTES = 64 * 1024  # of all values of one field: enough for 10,000 characters of any script
CSRF_FIELD = "csrf_token"  # of forms of pages
FIELD_COUNT_LIMIT = 200


class UnsupportedFormError(ServiceError):
    """The body is not a multipart form."""

    status, code, title = 415, "unsupported_media_type", "Not a multipart form"


class MalformedFormError(ServiceError):
    """The body is not a valid multipart form, or ends too early."""

    status, code, title = 400, "malformed_form", "Malformed multipart form"


class Sink(Protocol):
    """Receiver of the file."""

    def write(self, chunk: memoryview, /) -> None:
        """Write the next chunk of the file, which is only valid during the call; called outside the event loop."""


@dataclass(slots=True)
class StreamedForm:
    """A form whose file was passed to its sink.

    Attributes:
        fields: all values of each field, in order; one, except of `REPEATABLE_FIELDS`.
        file_name: name of the file from the client, without directories.
    """

    fields: dict[str, list[str]] = field(default_factory=dict)
    file_name: str = ""

    def value(self, name: str) -> str:
        """Return the first value of a field; empty if there is none."""
        return self.fields.get(name, [""])[0]


BeforeFile = Callable[[StreamedForm], None]  # is given the fields sent before the file; what it raises ends the upload


@dataclass(eq=False)
class FormReader:
    """Reads a form once: collects its fields and passes its file to the sink, in the parser's callbacks.

    Attributes:
        file_field: name of the field with the file; None for a form without one. Other files are rejected.
        sink: receives the file.
        limit: maximum size of the file in bytes.
        known_fields: names of the other fields; None for any. Any other name is an error: it may be a misspelt wish.
        before_file: called with the fields sent before the file; exceptions from it end the upload. Without a file
            field, it is called with all fields.
        text_files: names of text fields that may also be sent as files.
        field_limits: maximum size of all values of a field, if different from `FIELD_LIMIT_BYTES`.
    """

    file_field: str | None
    sink: Sink | None
    limit: int
    known_fields: Collection[str] | None
    before_file: BeforeFile | None = None
    text_files: Collection[str] = ()
    field_limits: Mapping[str, int] = field(default_factory=dict)

    async def receive(self, request: Request, pace: Pace) -> StreamedForm:
        """Read a request's multipart form, and pass its file to the sink while it arrives.

        Args:
            pace: minimum pace of the body.

        Raises:
            UnsupportedFormError: the request is not a multipart form.
            MalformedFormError: the form is damaged or incomplete.
            InvalidInputError: the file is missing, or there is more than one; a field is unknown, too long, or sent
                more than once though it is none of `REPEATABLE_FIELDS`.
            TooLargeError: the body is too large.
            TooSlowError: the body arrives too slowly.
            ClientDisconnect: the client disconnected.
        """
        kind, options = parse_options_header(request.headers.get("content-type"))
        if kind != b"multipart/form-data" or b"boundary" not in options:
            where = f" with the file in the field {self.file_field!r}" if self.file_field else ""
            raise UnsupportedFormError(f"Send a multipart/form-data body{where}.")
        raise_limit(request, file=self.limit, fields=FIELDS_LIMIT_BYTES)
        self._begin(options[b"boundary"])
        async with pace.enforced():
            await stream_to_thread(pace.stream(request.stream()), self._feed)
        return self._finish()

    def _begin(self, boundary: bytes) -> None:
        self._form = StreamedForm()
        self._field_bytes: defaultdict[str, int] = defaultdict(int)
        self._has_file = self._complete = False
        self._field_count = 0
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._name = ""
        self._in_file = False
        self._value = bytearray()
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_part_end": self._on_part_end,
                    "on_end": self._on_end,
                },
            )
        except FormParserError as error:
            raise MalformedFormError(str(error)) from error

    def _feed(self, pieces: Iterable[bytes]) -> None:
        """Parse the next chunks of the body."""
        try:
            for piece in pieces:
                self._parser.write(piece)
        except FormParserError as error:
            raise MalformedFormError(f"The body is not a well-formed multipart form: {error}.") from error

    def _finish(self) -> StreamedForm:
        """Return the form after the whole body has been parsed."""
        if not self._complete:
            raise MalformedFormError("The form ends before its closing boundary.")
        if self.file_field is None:
            if self.before_file is not None:
                self.before_file(self._form)
        elif not self._has_file:
            raise InvalidInputError({self.file_field: "Choose a file."})
        return self._form

    def _on_part_begin(self) -> None:
        self._headers = {}
        self._value.clear()

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[bytes(self._header_name).lower()] = bytes(self._header_value)
        self._header_name.clear()
        self._header_value.clear()

    def _on_headers_finished(self) -> None:
        disposition, options = parse_options_header(self._headers.get(b"content-disposition"))
        if disposition != b"form-data" or b"name" not in options:
            raise MalformedFormError("A part of the form has no name.")
        self._name = _text(options[b"name"])
        self._in_file = self._name == self.file_field
        if self._in_file:
            self._begin_file(self._name, options.get(b"filename"))
        elif self.known_fields is not None and self._name not in self.known_fields:
            accepted = sorted({*self.known_fields, *([self.file_field] if self.file_field else [])} - {CSRF_FIELD})
            message = f"{no_such_field(self._name, accepted)} Accepted are {', '.join(accepted)}."
            raise InvalidInputError({self._name: message})
        elif b"filename" in options and self._name not in self.text_files:
            where = f"; send it in {self.file_field!r}" if self.file_field else ""
            raise InvalidInputError({self._name: f"This field does not accept a file{where}."})
        elif self._name in self._form.fields and self._name not in REPEATABLE_FIELDS:
            raise InvalidInputError({self._name: "Send this field once only."})
        else:
            self._field_count += 1
            if self._field_count > FIELD_COUNT_LIMIT:
                raise MalformedFormError(f"The form has more than {FIELD_COUNT_LIMIT} fields.")

    def _begin_file(self, field: str, name: bytes | None) -> None:
        if self._has_file:
            raise InvalidInputError({field: "Send one file only."})
        self._form.file_name = _text(name or b"").replace("\\", "/").rpartition("/")[2]
        if self.before_file is not None:  # also if no file was sent, so that a page can show the fields again
            self.before_file(self._form)
        if not name:  # browsers send this if no file was chosen
            raise InvalidInputError({field: "Choose a file."})
        self._has_file = True

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file and self.sink is not None:
            self.sink.write(memoryview(data)[start:end])
            return
        self._field_bytes[self._name] += end - start
        limit = self.field_limits.get(self._name, FIELD_LIMIT_BYTES)
        if self._field_bytes[self._name] > limit:
            raise InvalidInputError({self._name: f"This field may have at most {limit:,} bytes."})
        if sum(self._field_bytes.values()) > FIELDS_LIMIT_BYTES:
            raise InvalidInputError({self._name: f"All fields together may have at most {FIELDS_LIMIT_BYTES:,} bytes."})
        self._value += data[start:end]

    def _on_part_end(self) -> None:
        if not self._in_file:
            self._form.fields.setdefault(self._name, []).append(_text(bytes(self._value)))
        self._in_file = False

    def _on_end(self) -> None:
        self._complete = True


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedFormError("The fields of the form must be UTF-8.") from error


ARCHIVE_FIELD = "archive"
REASON_FIELD = "reason"  # of a re-score with uploaded ground truth
HASHES_FIELD = "flickr_image_hashes"
CLASSES_FIELD = "segmentation_classes"
DIGEST_FIELD = "archive_sha256"  # of the file that was sent, if the client knows it
INCOMPLETE_FIELD = "submit_incomplete"  # `true`: also without some classes
WARNINGS_FIELD = "accept_warnings"  # `true`: also if warnings are about many of the results
IDENTICAL_FIELD = "submit_identical"  # `true`: also an archive that was submitted before
CONFIRMATIONS = (WARNINGS_FIELD, INCOMPLETE_FIELD, IDENTICAL_FIELD)
REPEATABLE_FIELDS = frozenset({CLASSES_FIELD, *CONFIRMATIONS})  # a page can have a question and what was confirmed
YES = frozenset({"true", "yes", "on", "1"})
FIXED_FIELDS = (
    "method_name",
    "method_description",
    "contributors",
    "affiliation",
    HASHES_FIELD,
    CLASSES_FIELD,
    "publish",
)
NOT_SUBMITTED = frozenset(  # the token of the page, and what is only asked about
    {CSRF_FIELD, DIGEST_FIELD, INCOMPLETE_FIELD, WARNINGS_FIELD, IDENTICAL_FIELD}
)
FIELD_LIMITS = {
    HASHES_FIELD: 8 * MEBIBYTE,  # about 100,000 images
    CLASSES_FIELD: 16 * 1024,
}


def known_fields(edition: Edition) -> frozenset[str]:
    """Return the names of all fields of a submission's form, other than its file."""
    return NOT_SUBMITTED.union(FIXED_FIELDS, declarations_of(edition))


def submission_form(form: StreamedForm) -> SubmissionForm:
    """Return the form of a participant's multipart body.

    The fields are `method_name`, `method_description`, `contributors`, `affiliation`, `publish` (`true` to publish the
    result as soon as it is scored), `segmentation_classes`: once for every class entered, or the classes separated by
    commas; none for all of them; `flickr_image_hashes`, and all others are declarations. Without contributors or
    affiliation, they are those of `previous_answers`.
    """
    classes = [name.strip() for value in form.fields.get(CLASSES_FIELD, []) for name in value.split(",")]
    entered = tuple(dict.fromkeys(name for name in classes if name))
    return SubmissionForm(
        method_name=form.value("method_name"),
        description=form.value("method_description"),
        contributors=form.value("contributors") if "contributors" in form.fields else None,
        affiliation=form.value("affiliation") if "affiliation" in form.fields else None,
        declarations={name: form.value(name) for name in form.fields if name not in NOT_SUBMITTED.union(FIXED_FIELDS)},
        flickr_image_hashes=forms.read_listed_images(form.value(HASHES_FIELD)),
        segmentation_classes=entered or None,
        archive_name=form.file_name,
        publish=form.value("publish").lower() in YES,
    )
