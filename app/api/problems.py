"""Error responses in the OpenAPI document; `app.web.problem_details` creates them."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.values import Count, Instant
from vocboard.app.errors import ServiceError
from vocboard.app.web.problem_details import MEDIA_TYPE
from vocboard.evaluator.problems import Severity


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:vocboard:error:not_found"])
    title: str
    status: int = Field(ge=400, le=599, examples=[404])
    detail: str
    code: str = Field(description="Stable error code.", examples=["not_found"])


class UploadProblem(BaseModel):
    """An error or warning about an upload."""

    code: str = Field(examples=["unknown_image"])
    severity: Severity
    file: str | None = Field(description="File name in the archive; null if the problem concerns the whole archive.")
    line: Count | None = Field(description="1-based line number; null if the problem concerns the whole file.")
    message: str


class Place(BaseModel):
    """Where a problem is."""

    file: str | None
    line: Count | None


class UploadProblemGroup(BaseModel):
    """The problems of an upload that have the same cause."""

    code: str = Field(description="Code of the problems.", examples=["unknown_image"])
    severity: Severity
    headline: str = Field(description="The cause, and what to do.")
    count: Count = Field(description="Number of problems, including those that are not listed.")
    file_count: Count = Field(description="Number of files with the problem; 0 if it concerns the archive as a whole.")
    places: list[Place] = Field(description="The first places where the problem occurs.")
    documentation: str | None = Field(
        description="Path of the page that explains the problem.", examples=["/docs/problems#unknown_image"]
    )


class UnprocessableDetails(ProblemDetails):
    """Form fields or the uploaded archive are invalid; all errors are listed."""

    fields: dict[str, str] | None = Field(
        None, description="Error messages by form field, with the codes `invalid_input` and `invalid_archive`."
    )
    problems: list[UploadProblem] | None = Field(
        None, description="Problems of the archive, with the codes `invalid_archive` and `warnings_not_accepted`."
    )
    groups: list[UploadProblemGroup] | None = Field(
        None, description="`problems` grouped by cause: errors first, in the order in which to solve them."
    )
    not_entered: dict[str, list[str]] | None = Field(
        None,
        description="Classes without results by competition, with the code `invalid_archive`, if the request has "
        "`require_all_classes`.",
    )


class ConflictDetails(ProblemDetails):
    """The object's state does not allow the request."""

    not_entered: dict[str, list[str]] | None = Field(
        None, description="Classes without results by competition, with the code `incomplete_entry`."
    )


class ForbiddenDetails(ProblemDetails):
    """Not allowed for this user or token."""

    version: str | int | None = Field(
        None,
        description="Version of the terms to accept first, with the codes `server_terms_not_accepted` and "
        "`terms_not_accepted`.",
    )


class LimitedDetails(ProblemDetails):
    """The quota or a rate limit is exceeded."""

    allowed_at: Instant = Field(description="When the next request is allowed; also in seconds in `Retry-After`.")


_KINDS: dict[int, tuple[type[ProblemDetails], str]] = {
    400: (ProblemDetails, "The request is malformed."),
    401: (ProblemDetails, "The token is missing or invalid."),
    403: (ForbiddenDetails, "Not allowed for this user or token."),
    404: (ProblemDetails, "The object does not exist, or you may not see it."),
    406: (ProblemDetails, "None of the formats in `Accept` is available."),
    408: (ProblemDetails, "The body arrived too slowly, or took too long."),
    409: (ConflictDetails, "Not possible in the object's current state."),
    410: (ProblemDetails, "It was deleted, or cannot be continued."),
    412: (ProblemDetails, "The version of the tus protocol is not supported; see `Tus-Version`."),
    413: (ProblemDetails, "The upload is larger than allowed."),
    415: (ProblemDetails, "The body has the wrong media type."),
    416: (ProblemDetails, "The range is not in the file, whose size is in `Content-Range`."),
    422: (UnprocessableDetails, "Form fields or the uploaded archive are invalid."),
    423: (ProblemDetails, "Another request is sending this upload."),
    429: (LimitedDetails, "A quota or rate limit is exceeded; see `allowed_at` and `Retry-After`."),
    503: (ProblemDetails, "The server is busy. Try again after `Retry-After`."),
    507: (ProblemDetails, "The server's disk is full."),
}


ERROR_MODELS = tuple(sorted({ProblemDetails.__name__, *(model.__name__ for model, _ in _KINDS.values())}))
ERROR_CODE = {"$ref": "#/components/schemas/ErrorCode"}
# Of errors that are not those of services.
_OTHER_CODES = frozenset({"bad_request", "internal_error", "method_not_allowed", "not_found", "unavailable"})


def error_codes() -> list[str]:
    """Return the codes of all errors, in alphabetical order."""
    return sorted(_OTHER_CODES | {kind.code for kind in _kinds_of(ServiceError)})


def _kinds_of(kind: type[ServiceError]) -> Iterator[type[ServiceError]]:
    yield kind
    for narrower in kind.__subclasses__():
        if narrower.__module__.startswith("vocboard."):
            yield from _kinds_of(narrower)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of an operation that may return these errors."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        model, description = _KINDS[status]
        reference = {"$ref": f"#/components/schemas/{model.__name__}"}
        described[status] = {
            "model": model,
            "description": description,
            "content": {MEDIA_TYPE: {"schema": reference}},
        }
    return described
