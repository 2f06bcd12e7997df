"""Error responses as the OpenAPI document describes them; `app.web.problem_details` makes them."""

from typing import Any

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.values import Instant
from vocboard.app.web.problem_details import MEDIA_TYPE
from vocboard.evaluator.problems import Severity


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:vocboard:error:not_found"])
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable identifier for programs.", examples=["not_found"])


class UploadProblem(BaseModel):
    """One thing that is wrong with an upload, or worth a warning."""

    code: str = Field(examples=["unknown_image"])
    severity: Severity
    file: str | None = Field(description="The member's name as in the archive; null if the archive itself is meant.")
    line: int | None = Field(description="1-based; null if the whole file is meant.")
    message: str


class UnprocessableDetails(ProblemDetails):
    """Fields of the form, or the uploaded archive, are wrong; all that is wrong is listed."""

    fields: dict[str, str] | None = Field(None, description="Message by field; with code `invalid_input`.")
    problems: list[UploadProblem] | None = Field(None, description="With code `invalid_archive`.")


class LimitedDetails(ProblemDetails):
    """Too often: the quota, or another limit, is used up."""

    allowed_at: Instant = Field(description="When the next is allowed; `Retry-After` has it in seconds.")


_KINDS: dict[int, tuple[type[ProblemDetails], str]] = {
    400: (ProblemDetails, "The request is malformed."),
    401: (ProblemDetails, "No token, or one that is not valid."),
    403: (ProblemDetails, "Not allowed to this person, or to this token."),
    404: (ProblemDetails, "There is no such thing, or it is not yours to see."),
    408: (ProblemDetails, "The body arrived too slowly, or took too long."),
    409: (ProblemDetails, "Not possible in the present state."),
    413: (ProblemDetails, "The upload is larger than allowed."),
    415: (ProblemDetails, "The body is not of the expected kind."),
    422: (UnprocessableDetails, "Fields or the uploaded archive are wrong."),
    429: (LimitedDetails, "Too often; see `allowed_at` and `Retry-After`."),
}


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation that may answer with these errors."""
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
