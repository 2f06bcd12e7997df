"""The content of an annotation, independent of its format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Box = tuple[float, float, float, float]  # left, top, right, bottom; see `boxes`


class AnnotatedPart(NamedTuple):
    """A part of a person: its type and box."""

    name: str
    box: Box


class AnnotatedObject(NamedTuple):  # made several times as fast as a frozen dataclass
    """One object of an image.

    Attributes:
        box: for people with only a point (VOC2012's boxless actions), that pixel.
        difficult: False if the file does not say, as in the action images.
        truncated: cut off by the edge of the image or another object; None if the file does not say. Only metrics of
            some objects depend on it (`evaluator.tasks.detection.subsets`).
        occluded: partly hidden by another object; None if the file does not say. As above.
        view: from which side it is seen, for example `Frontal`; empty if the file does not say. As above.
        parts: for people whose layout is annotated.
        actions: flags by action, for people whose actions are annotated; otherwise None.
    """

    name: str
    box: Box
    difficult: bool = False
    truncated: bool | None = None
    occluded: bool | None = None
    view: str = ""
    parts: tuple[AnnotatedPart, ...] = ()
    actions: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """One image.

    Attributes:
        size: width and height in pixels; None if the file does not say.
        objects: in the order of the file; object indices in result files count all of them, from 1.
    """

    size: tuple[int, int] | None
    objects: tuple[AnnotatedObject, ...]


class AnnotationError(Exception):
    """An annotation file is invalid.

    Attributes:
        errors: all errors, each with its line (1-based; None for the whole file).
    """

    def __init__(self, errors: list[tuple[int | None, str]]) -> None:
        super().__init__("; ".join(message for _, message in errors))
        self.errors = errors


def text_lines(data: bytes) -> list[str]:
    """Return the lines of a text annotation.

    Raises:
        AnnotationError: it is not plain text.
    """
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise AnnotationError([(None, f"is not a UTF-8 text file (byte {error.start})")]) from error
