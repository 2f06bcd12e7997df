"""The catalogue of all problems of uploads.

The problems that any task may have are in `evaluator/problems/`, those of one task in its folder; documentation is
generated from both. No wording may hold anything derived from the ground truth.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vocboard.evaluator.problems import Kind, archives, boxes, files, items, server
from vocboard.evaluator.problems import text_files as lines
from vocboard.evaluator.problems.registry import KINDS
from vocboard.evaluator.tasks.parts import task_modules

CATALOGUE: Mapping[str, Kind] = MappingProxyType(KINDS)  # by code

MODULES = (  # in the order of the documentation
    archives,
    files,
    lines,
    items,
    boxes,
    *task_modules("problems").values(),
    server,
)


def by_subject() -> Iterator[tuple[str, list[Kind]]]:
    """Yield the subjects with their kinds of problems, in the order of the documentation."""
    for module in MODULES:
        own = {value.code for value in vars(module).values() if isinstance(value, Kind)}
        title = (module.__doc__ or "").strip().splitlines()[0].rstrip(".")
        yield title, [kind for code, kind in CATALOGUE.items() if code in own]
