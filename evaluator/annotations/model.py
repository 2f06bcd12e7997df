"""What an annotation says of one image, whatever format it is written in."""

from collections.abc import Mapping
from dataclasses import dataclass

Box = tuple[float, float, float, float]  # left, top, right, bottom; see `boxes`


@dataclass(frozen=True, slots=True)
class AnnotatedPart:
    """A part of a person: its type and box."""

    name: str
    box: Box


@dataclass(frozen=True, slots=True)
class AnnotatedObject:
    """One object of an image.

    Attributes:
        box: of a person of whom there is only a point (VOC2012's boxless actions) that pixel.
        difficult: False where the file says nothing, as in the action images.
        parts: of a person whose layout is annotated.
        actions: flag by action, of a person whose actions are annotated; None for everything else.
    """

    name: str
    box: Box
    difficult: bool = False
    parts: tuple[AnnotatedPart, ...] = ()
    actions: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """One image.

    Attributes:
        size: width and height in pixels; None where the file doesn't say.
        objects: in the order of the file; the object index of result files counts them all, from 1.
    """

    size: tuple[int, int] | None
    objects: tuple[AnnotatedObject, ...]


class AnnotationError(Exception):
    """An annotation file is wrong.

    Attributes:
        errors: line (1-based; None for the whole file) and what is wrong there; all of them.
    """

    def __init__(self, errors: list[tuple[int | None, str]]) -> None:
        super().__init__("; ".join(message for _, message in errors))
        self.errors = errors


def text_lines(data: bytes) -> list[str]:
    """Return the lines of an annotation that is plain text.

    Raises:
        AnnotationError: it is not.
    """
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise AnnotationError([(None, f"is not a UTF-8 text file (byte {error.start})")]) from error
