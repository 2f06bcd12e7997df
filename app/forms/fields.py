"""Checks of form fields that report all errors at once."""

from vocboard.app.errors import InvalidInputError
from vocboard.app.forms.characters import character_error, tidied


class FieldChecks:
    """Collects the errors of one form.

    >>> checks = FieldChecks()
    >>> checks.line("title", "  VOC  2007 ", max_length=20)
    'VOC 2007'
    >>> checks.line("name", " ", max_length=20, required=True)
    ''
    >>> checks.messages
    {'name': 'Required.'}
    """

    def __init__(self) -> None:
        self.messages: dict[str, str] = {}

    def fail(self, field: str, message: str) -> None:
        """Record an error of a field; only the first one is kept."""
        self.messages.setdefault(field, message)

    def line(self, field: str, value: str, *, max_length: int, required: bool = False) -> str:
        """Return a line of text with normalised white space; record an error if it is missing, too long or invalid."""
        return self._check(field, " ".join(tidied(value).split()), max_length, required, allowed="")

    def text(self, field: str, value: str, *, max_length: int, required: bool = False) -> str:
        """Return text of several lines, with `\\n` line ends, or note what is wrong with it."""
        unified = tidied(value).replace("\r\n", "\n").replace("\r", "\n").strip()
        return self._check(field, unified, max_length, required, allowed="\n\t")

    def finish(self) -> None:
        """Raise `InvalidInputError` if there are errors."""
        if self.messages:
            raise InvalidInputError(self.messages)

    def _check(self, field: str, value: str, max_length: int, required: bool, *, allowed: str) -> str:
        if required and not value:
            self.fail(field, "Required.")
        elif len(value) > max_length:
            self.fail(field, f"Use at most {max_length} characters; this has {len(value)}.")
        elif message := character_error(value, allowed=allowed):
            self.fail(field, message)
        return value
