"""The benchmark cases: each with its data, our implementation, other libraries (peers) and lower bounds (floors)."""

from collections.abc import Mapping
from importlib import import_module

from benchmarks.benchmark import Case

_MODULES: Mapping[str, str] = {
    "detection": "boxes",
    "archive": "boxes",
    "segmentation": "maps",
    "classification": "labels",
    "action": "labels",
    "layout": "labels",
    "tree": "annotations",
    "stored": "annotations",
    "start-up": "start_up",
    "fresh-process": "fresh_process",
    "upload": "uploading",
    "scoring": "scoring",
    "scoring-embedded": "scoring",
    "draining": "draining",
    "board": "board",
    "board-json": "board",
    "bootstrap": "bootstrapping",
    "bootstrap-one": "bootstrapping",
    "bootstrap-many": "bootstrapping",
    "growing": "growing",
}
CASES = tuple(name for name in _MODULES if name != "growing")  # those of `make bench`


def find_case(name: str) -> Case:
    """Return a case. Only its module is imported, so that libraries of other cases do not count as its memory."""
    module = import_module(f"benchmarks.cases.{_MODULES[name]}")
    return next(case for case in vars(module).values() if isinstance(case, Case) and case.name == name)
