"""A lower bound for reading text: the time of a columnar reader for the same fields, without checks."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Run

PARSE = "pyarrow parses the text"
TEXT, WHOLE, NUMBER = "string", "int32", "float64"  # kinds of fields, in the words of Arrow

_MIN_BLOCK_BYTES, _MAX_BLOCK_BYTES = 128 * 1024, 1024 * 1024


def parsing(pattern: str, fields: Mapping[str, str]) -> Callable[[Path], Run]:
    """Return what prepares parsing all files of a pattern, as fast as we know how.

    From memory and with the system's allocator, as ours does: a new process pays up to twice as much with the default
    one, and for reading from files. In blocks small enough that each processor has one.
    """

    def prepare(directory: Path) -> Run:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import csv  # noqa: PLC0415

        pa.set_memory_pool(pa.system_memory_pool())
        types = {name: pa.type_for_alias(kind) for name, kind in fields.items()}

        def parse(path: Path) -> Any:
            data = path.read_bytes()
            block = len(data) // (os.cpu_count() or 1) + 1
            return csv.read_csv(
                pa.BufferReader(data),
                csv.ReadOptions(
                    column_names=list(types), block_size=min(max(block, _MIN_BLOCK_BYTES), _MAX_BLOCK_BYTES)
                ),
                csv.ParseOptions(delimiter=" ", quote_char=False),
                csv.ConvertOptions(column_types=types, check_utf8=False),
            )

        return lambda: [parse(path) for path in sorted(directory.glob(pattern))]

    return prepare
