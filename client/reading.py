"""Reads dataclasses from the server's responses, field by field as their types say. Unknown fields are ignored."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

Content = TypeVar("Content")


def read(kind: type[Content], answer: Mapping[str, Any], **given: object) -> Content:
    """Return an object of a dataclass.

    Args:
        answer: has its fields by name, except for those with a default that older servers do not send.
        given: fields that are called or written otherwise in the response.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: a field is missing or has the wrong type; see
            `answers.understood`.
    """
    for each in fields(kind):  # type: ignore[arg-type]  # a type variable cannot say that it is a dataclass
        has_default = each.default is not MISSING or each.default_factory is not MISSING
        if each.name not in given and (each.name in answer or not has_default):
            given[each.name] = _value(each.type, answer[each.name])
    return kind(**given)


def _value(kind: Any, content: Any) -> Any:
    made_of, of = get_origin(kind), get_args(kind)
    if made_of is UnionType:  # with None
        return None if content is None else _value(of[0], content)
    if made_of in (tuple, frozenset):
        return made_of(_value(of[0], each) for each in content)
    if made_of is Mapping:
        return {str(name): _value(of[1], each) for name, each in content.items()}
    if kind is datetime:
        return datetime.fromisoformat(content)
    return read(kind, content) if isinstance(kind, type) and is_dataclass(kind) else kind(content)
