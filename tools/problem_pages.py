"""Write docs/problems.md out of the catalogue of problems: `python -m tools.problem_pages`.

What each problem says is taken from the folder of wrong uploads (tests/hostile), so that it is what participants get.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

from vocboard.evaluator.problem_catalogue import by_subject
from vocboard.evaluator.problems import Kind

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "problems.md"
UPLOADS = ROOT / "tests" / "hostile"

_MARKS = re.compile(r"[\\*<\[]")
_INTRODUCTION = """\
<!-- Generated from evaluator/problems and evaluator/tasks by `python -m tools.problem_pages`; do not edit. -->
# What can be wrong with an upload

`vocboard validate`, the submit page and the API validate uploads in the same way and return the same list: for each
problem its code, the file, the line (starting at 1), what was found, what is expected, and how to fix it. All
problems are listed at once, at most 20 per file; the others are counted.

An **error** rejects the upload; a rejected upload does not count against the quota. A **warning** does not reject it
and does not change a score, but often points to a mistake. Codes are stable; messages may change.
"""


def page() -> str:
    """Return the whole page."""
    said = _messages()
    return "\n".join((_INTRODUCTION, *_contents(), *_sections(said))).rstrip("\n") + "\n"


def _contents() -> Iterator[str]:
    for title, kinds in by_subject():
        links = " · ".join(f"[`{kind.code}`](#{kind.code})" for kind in kinds)
        yield f"- {title}: {links}"
    yield ""


def _sections(said: Mapping[str, str]) -> Iterator[str]:
    for title, kinds in by_subject():
        yield f"## {title}\n"
        for kind in kinds:
            yield f"### {kind.code}\n"
            yield f"**{kind.title}** ({kind.severity.value}).\n"
            yield f"Example: {_as_it_is(kind.example)}\n"
            yield f"> {_as_it_is(said.get(kind.code) or _template(kind))}\n"


def _messages() -> dict[str, str]:
    """The plainest message of each kind in the folder of wrong uploads: short, without control characters."""
    found: dict[str, str] = {}
    for path in sorted(UPLOADS.glob("*/*.problems.json")):
        for problem in json.loads(path.read_text(encoding="utf-8"))["problems"]:
            message = found.setdefault(problem["code"], problem["message"])
            if _plainness(problem["message"]) < _plainness(message):
                found[problem["code"]] = problem["message"]
    return found


def _plainness(message: str) -> tuple[bool, int]:
    return "\\x" in message, len(message)


def _template(kind: Kind) -> str:
    """The wording with its fields named, for what no small upload can show."""
    wording = f"{kind.found} {kind.remedy}".strip()
    return "".join(text + (f"<{field}>" if field else "") for text, field, _, _ in Formatter().parse(wording))


def _as_it_is(text: str) -> str:
    """Markdown that shows a text as it is; what is between backquotes is code in both."""
    plain_and_code = text.split("`")
    plain_and_code[::2] = (_MARKS.sub(r"\\\g<0>", part) for part in plain_and_code[::2])
    return "`".join(plain_and_code)


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
