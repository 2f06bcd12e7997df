"""Readers for the annotation formats of the editions."""

from vocboard.evaluator.annotations.model import AnnotatedObject, AnnotatedPart, Annotation, AnnotationError, Box
from vocboard.evaluator.annotations.object_lines import read_lines
from vocboard.evaluator.annotations.pascal_text import read_pascal_text
from vocboard.evaluator.annotations.xml import read_xml

__all__ = [
    "AnnotatedObject",
    "AnnotatedPart",
    "Annotation",
    "AnnotationError",
    "Box",
    "read_lines",
    "read_pascal_text",
    "read_xml",
]
