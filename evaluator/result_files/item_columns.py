"""Finds the test items in columns of large files: images, or people by image and object index."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.result_files.fields import MAX_OBJECT_INDEX
from vocboard.evaluator.result_files.items import Items

_made: WeakKeyDictionary[Items, "ItemColumns"] = WeakKeyDictionary()  # built once for all files of a task


def item_columns(items: Items) -> "ItemColumns":
    """The test items as columns."""
    return _made.get(items) or _made.setdefault(items, ItemColumns(items))


class ItemColumns:
    """Finds items by Arrow columns of text.

    Most files list all items in the order of the test set or of the previous file. Such columns are only compared.
    """

    def __init__(self, items: Items):
        """Take the test items; unknown images are numbered in order of appearance."""
        import pyarrow as pa  # noqa: PLC0415  # importing takes a tenth of a second, and few uploads have large files

        self._items = items
        images = items.images.listed() if items.images.is_known else []
        self._images = pa.array(images if _are_single_fields(images) else [], pa.string())
        persons = items.listed_persons
        self._columns: Sequence[Any]  # the previous result; initially the test set
        if persons is None:
            self._columns = (self._images,)
        elif len(self._images):
            image, index = (
                pa.Array.from_buffers(pa.int32(), len(persons), [None, pa.py_buffer(column.copy())])
                for column in persons.T
            )
            self._columns = self._images.take(image), index.cast(pa.string())
        else:
            self._columns = self._images, self._images
        self._positions = np.arange(len(self._columns[0]), dtype=np.int32)

    def positions(self, columns: Sequence[Any]) -> NDArray[np.int32] | None:
        """Return (n,) int32 positions of items, read-only.

        Args:
            columns: text of n images and, for people (who must be known), n object indices.

        Returns:
            None if any is not in the test set, or must be checked line by line.
        """
        if not self._items.images.is_known:
            return self._number(columns[0])
        if len(columns) == len(self._columns) and all(map(_are_equal, columns, self._columns)):
            return self._positions
        found = self._find_image(columns[0]) if len(columns) == 1 else self._find_person(*columns)
        if found is not None:
            self._columns, self._positions = columns, found
        return found

    def _number(self, column: Any) -> NDArray[np.int32] | None:
        encoded = column.dictionary_encode()
        names = encoded.dictionary.to_pylist()
        if not _are_single_fields(names):
            return None
        positions = self._items.images.positions(names)
        return None if positions is None else positions[encoded.indices.to_numpy()]

    def _find_image(self, column: Any) -> NDArray[np.int32] | None:
        from pyarrow import compute  # noqa: PLC0415

        found = compute.index_in(column, self._images)
        if found.null_count:
            return None
        positions: NDArray[np.int32] = found.to_numpy()
        return positions

    def _find_person(self, image_column: Any, object_column: Any) -> NDArray[np.int32] | None:
        image, index = self._find_image(image_column), _object_indices(object_column)
        if image is None or index is None or not len(self._columns[0]):
            return None
        by_key, sorted_keys = self._persons
        key = _person_key(image, index)
        place = np.minimum(np.searchsorted(sorted_keys, key), len(sorted_keys) - 1)
        return by_key[place] if np.array_equal(sorted_keys[place], key) else None

    @cached_property
    def _persons(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the (m,) positions of people by key, and the keys."""
        persons = self._items.listed_persons
        if persons is None:
            raise ValueError("the people are not known")
        key = _person_key(*persons.T)
        by_key = np.argsort(key).astype(np.int32)
        return by_key, key[by_key]


def _are_equal(a: Any, b: Any) -> bool:
    return len(a) == len(b) and bool(a.equals(b))


def _are_single_fields(names: Sequence[str]) -> bool:
    """Whether the line reader would split none of them, which it does at any white space."""
    text = " ".join(names)
    return text.isprintable() and text.count(" ") == len(names) - 1 and all(names)


def _object_indices(column: Any) -> NDArray[np.int64] | None:
    """Return the (n,) numbers in a column, as the line reader parses them; None if it rejects one."""
    from pyarrow import compute  # noqa: PLC0415

    if not compute.all(compute.ascii_is_decimal(column)).as_py():
        return None
    if compute.max(compute.binary_length(column)).as_py() > len(str(MAX_OBJECT_INDEX)):
        return None
    index: NDArray[np.int64] = column.cast("int64").to_numpy()
    return index if index.min() > 0 and index.max() <= MAX_OBJECT_INDEX else None


def _person_key(image: NDArray[np.int32], index: NDArray[np.integer]) -> NDArray[np.int64]:
    return image.astype(np.int64) << 32 | index
