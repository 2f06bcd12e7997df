"""What is measured: each work with its data, our way of doing it, peers and floors."""

from collections.abc import Mapping
from importlib import import_module

from benchmarks.contest import Work

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
    "upload": "uploading",
    "scoring": "scoring",
    "scoring-embedded": "scoring",
    "draining": "draining",
    "board": "board",
    "board-json": "board",
    "growing": "growing",
}
WORKS = tuple(name for name in _MODULES if name != "growing")  # those of `make bench`


def find(name: str) -> Work:
    """Return a work; its module alone is imported, so that no other one's libraries count as its memory."""
    module = import_module(f"benchmarks.works.{_MODULES[name]}")
    return next(work for work in vars(module).values() if isinstance(work, Work) and work.name == name)
