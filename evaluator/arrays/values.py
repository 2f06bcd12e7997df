"""Converts single values to arrays of known type and shape, and reports problems."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.problems import Kind, counted, quoted
from vocboard.evaluator.result_files.fields import image_problem
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.rules import Limits

Shape = tuple[int | None, ...]  # None for any length
_MAX_REASON_LENGTH = 200
_NAMED_KEYS = 5


class Values:
    """Reads the values of one place, for example of one class; invalid values are reported and returned as None."""

    def __init__(self, report: FileReport, limits: Limits) -> None:
        """Take the report of the place."""
        self.report = report
        self._limits = limits

    def numbers(self, value: object, name: str, shape: Shape) -> NDArray[np.float64] | None:
        """Return an array of finite numbers.

        Args:
            value: anything that NumPy can convert.
            name: for messages.
            shape: expected; a single number, of shape (), is returned as an array of shape (1,).
        """
        array = self._array(value, name, shape, "iuf", "numbers")
        if array is None:
            return None
        found = array.astype(np.float64)
        whole = self.none_wrong(~np.isfinite(found), found, kinds.NOT_FINITE, name, "value") and self.none_wrong(
            np.abs(found) > self._limits.absolute_number,
            found,
            kinds.NUMBER_OUT_OF_RANGE,
            name,
            "number",
            limit=self._limits.absolute_number,
        )
        return found if whole else None

    def scores(
        self, value: object, shape: Shape, allowed: tuple[float, float] | None, name: str = "scores"
    ) -> NDArray[np.float64] | None:
        """Return scores, within the edition's range if it has one."""
        found = self.numbers(value, name, shape)
        if found is None or allowed is None:
            return found
        least, greatest = allowed
        wrong = (found < least) | (found > greatest)
        kind = kinds.SCORE_OUT_OF_RANGE
        return found if self.none_wrong(wrong, found, kind, name, "score", least=least, greatest=greatest) else None

    def integers(self, value: object, name: str, shape: Shape) -> NDArray[np.int64] | None:
        """Return an array of whole numbers; see `numbers`."""
        array = self._array(value, name, shape, "iu", "whole numbers")
        return None if array is None else array.astype(np.int64)

    def texts(self, value: object, name: str, length: int | None = None) -> list[str] | None:
        """Return a list of strings."""
        array = self._array(value, name, (length,), "UO", "texts")
        if array is None:
            return None
        found: list[Any] = array.tolist()
        others = [type(each).__name__ for each in found if not isinstance(each, str)]
        if others:
            self.report.add(kinds.WRONG_TYPE, name=name, found=f"objects such as {others[0]}", expected="texts")
            return None
        return found

    def images(
        self, value: object, items: Items, length: int | None = None, name: str = "images"
    ) -> NDArray[np.int32] | None:
        """Return (n,) positions of images by their identifiers."""
        if kind_of(value) in "iuf":
            first = next(iter(items.images.listed()), None)
            example = f", such as {quoted(first)}" if first else ""
            self.report.add(kinds.NUMBERS_AS_IMAGES, name=name, example=example)
            return None
        names = self.texts(value, name, length)
        if names is None:
            return None
        positions = items.images.positions(names)
        if positions is None:
            unknown = list(dict.fromkeys(name for name in names if items.images.position(name) is None))
            self.unknown_images(unknown, items)
        return positions

    def unknown_images(self, names: Sequence[str], items: Items) -> None:
        """Report identifiers that are not in the image set, each kind of error once."""
        by_kind: dict[Kind, list[str]] = {}
        for name in names:
            by_kind.setdefault(image_problem(name, items)[0], []).append(name)
        for kind, of_kind in by_kind.items():
            if len(of_kind) > 1:
                self.report.add(
                    kinds.UNKNOWN_IMAGES,
                    name="images",
                    count=counted(len(of_kind), "identifier") + " like the following",
                    message=kind.at(**_called(image_problem(of_kind[0], items)[1])).message,
                )
            else:
                self.report.add(kind, **image_problem(of_kind[0], items)[1])

    def none_wrong(
        self, wrong: NDArray[np.bool_], values: NDArray[Any], kind: Kind, name: str, noun: str, **more: Any
    ) -> bool:
        """Report values of one kind together, with their number and the first; tell whether there is none.

        Args:
            noun: what one value is called, and where it is not that with an `s`, what several are: `index/indices`.
        """
        count = int(np.count_nonzero(wrong))
        if count:
            place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            first = int(place[0]) if len(place) == 1 else tuple(map(int, place))
            self.report.add(
                kind, name=name, count=counted(count, *noun.split("/")), found=values[place], first=first, **more
            )
        return not count

    def wrong_structure(self, value: object, expected: str) -> None:
        """Report an unexpected structure."""
        self.report.add(kinds.WRONG_STRUCTURE, found=described(value), expected=expected)

    def has_keys(self, value: Mapping[str, object], *needed: str) -> bool:
        """Return whether a mapping has all required keys, and report missing ones."""
        missing = [key for key in needed if key not in value]
        if missing:
            found = _keys(value) if value else "no key"
            names, is_missing = ", ".join(map(repr, missing)), "is" if len(missing) == 1 else "are"
            self.report.add(kinds.MISSING_KEYS, missing=names, is_missing=is_missing, found=found)
        return not missing

    def array(self, value: object, name: str) -> NDArray[Any] | None:
        """Return an array of any shape and type."""
        try:
            array = as_array(value)
        except Exception as error:  # `__array__` of other libraries can raise anything
            reason = " ".join(str(error).split())[:_MAX_REASON_LENGTH].rstrip(".")
            if "bfloat16" in reason.lower():  # NumPy has no such type
                reason += "; give x.float()"
            self.report.add(kinds.NOT_AN_ARRAY, name=name, reason=reason)
            return None
        masked = int(np.count_nonzero(np.ma.getmaskarray(value))) if isinstance(value, np.ma.MaskedArray) else 0
        if masked:
            is_masked = "is" if masked == 1 else "are"
            self.report.add(kinds.MASKED, name=name, count=counted(masked, "value"), is_masked=is_masked)
            return None
        return array

    def _array(self, value: object, name: str, shape: Shape, types: str, expected: str) -> NDArray[Any] | None:
        array = self.array(value, name)
        if array is None:
            return None
        wanted = f"({', '.join('n' if side is None else str(side) for side in shape)}{',' * (len(shape) == 1)})"
        if shape == (None, None):
            wanted = "(height, width)"
        if not array.size and array.ndim <= len(shape) and all(side in (None, 0) for side in shape[:1]):
            return np.empty([side or 0 for side in shape], dtype={"i": np.int64, "U": np.str_}.get(types[0], float))
        if array.ndim != len(shape) or any(s is not None and s != f for s, f in zip(shape, array.shape, strict=True)):
            self.report.add(kinds.WRONG_SHAPE, name=name, found=array.shape, expected=wanted)
            return None
        if array.dtype.kind not in types:
            self.report.add(kinds.WRONG_TYPE, name=name, found=array.dtype.name, expected=expected)
            return None
        return np.atleast_1d(array)


def described(value: object) -> str:
    """Say what a value is.

    >>> described([1, 2]), described({"a": 1})
    ('a list of 2', "a dict with the keys 'a'")
    """
    name = type(value).__name__
    if isinstance(value, Mapping):
        return f"a {name} with the keys {_keys(value)}" if value else f"an empty {name}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"a {name} of {len(value)}"
    return f"a {name}"


def _keys(value: Mapping[Any, object]) -> str:
    """The first keys, and how many more there are."""
    more = len(value) - _NAMED_KEYS
    named = ", ".join(map(repr, islice(value, _NAMED_KEYS)))
    return f"{named} and {more:,} more" if more > 0 else named


def as_array(value: Any) -> NDArray[Any]:
    """Return a value as an array; tensors of PyTorch on any device, also those that require a gradient.

    Raises:
        Exception: it cannot be converted; `__array__` of other libraries can raise anything.
    """
    is_tensor = hasattr(value, "detach") and hasattr(value, "cpu")
    return np.asarray(value.detach().cpu() if is_tensor else value)


def kind_of(value: object) -> str:
    """Return the kind of NumPy type that a value has as an array, such as `f` or `U`; a space if it has none."""
    try:
        array = as_array(value)
    except Exception:  # reported where the value is read
        return " "
    return array.dtype.kind if array.size else " "


def length_of(value: object) -> int | None:
    """Return how many rows a value has as an array; None if it is not an array."""
    try:
        return len(as_array(value))
    except Exception:  # reported where the value is read
        return None


def _called(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value() if callable(value) else value for name, value in found.items()}
