"""The demo's methods, with different quality, and what their authors declare; the data are in `cast.toml`."""

import tomllib
from pathlib import Path
from typing import Any

from vocboard.commands.demo.methods import Method
from vocboard.evaluator.editions import Training


def _method(row: list[Any]) -> Method:
    name, skill, training, contributors, affiliation, description, *more = row
    entered = frozenset(item for item in more if isinstance(item, list) for item in item)
    figures = next((item for item in more if isinstance(item, dict)), {})
    return Method(name, description, contributors, affiliation, Training(training), skill, entered, figures)


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DECLARATIONS = {Training(kind): fields for kind, fields in _DATA["declarations"].items()}
PUBLISHED, (PRIVATE, WITHDRAWN, EXAMPLE), _OF_EXAMPLES = (
    tuple(map(_method, _DATA[group])) for group in ("published", "participant", "examples")
)
BY_NAME = {method.name: method for method in (*PUBLISHED, PRIVATE, WITHDRAWN, EXAMPLE, *_OF_EXAMPLES)}


def links_of(method: Method) -> dict[str, str]:
    """Return the addresses of a method's paper and code, as fields of a submission; without those that it has not."""
    name = method.name.lower().replace(" ", "-")
    return {
        f"{kind}_url": f"https://{kind}.example.org/{name}"
        for kind, names in _DATA["links"].items()
        if method.name in names
    }
