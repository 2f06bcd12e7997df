"""Shared code of forms: errors and redirects."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from vocboard.app.errors import InvalidArchiveError, InvalidInputError, LimitedError, ServiceError
from vocboard.app.pages.done_messages import DONE

SEE_OTHER = 303


@dataclass(frozen=True, slots=True)
class FormErrors:
    """The errors of a form.

    Attributes:
        wrong: messages by field.
        message: error of the form as a whole.
    """

    status: int = 200
    wrong: dict[str, str] = field(default_factory=dict)
    message: str | None = None

    @classmethod
    def of(cls, error: ServiceError) -> "FormErrors":
        """Convert an exception to the errors of a form."""
        if isinstance(error, InvalidInputError):
            return cls(error.status, error.fields)
        if isinstance(error, InvalidArchiveError):
            return cls(error.status, error.fields)
        if isinstance(error, LimitedError):
            allowed = f"{error.allowed_at:%H:%M} UTC"
            return cls(error.status, message=f"{error} You can try again from {allowed}.")
        return cls(error.status, message=str(error))


NO_ERRORS = FormErrors()


def _text_of_file(field: str) -> Callable[[Request], Awaitable[str]]:
    async def content(request: Request) -> str:
        file = (await request.form()).get(field)
        if not isinstance(file, UploadFile):
            return ""
        read = await file.read()
        await file.close()
        # Invalid UTF-8 becomes a replacement character, which is rejected in all of these files.
        return read.decode("utf-8-sig", errors="replace")

    return content


# The content of a small uploaded file; empty if none was chosen.
UploadedEdition = Annotated[str, Depends(_text_of_file("edition_file"))]
UploadedHashes = Annotated[str, Depends(_text_of_file("flickr_image_hashes"))]


def go_to(address: str, *, done: str | None = None) -> RedirectResponse:
    """Redirect after a form.

    Args:
        done: key of `DONE`: the message on the next page.

    Raises:
        KeyError: there is no such message.
    """
    if done is not None:
        if done not in DONE:
            raise KeyError(done)
        address += ("&" if "?" in address else "?") + urlencode({"done": done})
    return RedirectResponse(address, SEE_OTHER)


def safe_path(wanted: str) -> str:
    """Return an address of this site to go on to; anything else becomes the first page.

    >>> safe_path("/submissions?page=2"), safe_path("https://elsewhere.example"), safe_path("//elsewhere.example")
    ('/submissions?page=2', '/', '/')
    """
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if is_ours else "/"
