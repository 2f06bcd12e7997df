"""`vocboard explain`: explain a problem of result files."""

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from vocboard.client.errors import MisuseError
from vocboard.commands.explanations import page_of_server
from vocboard.commands.problem_text import explanation
from vocboard.commands.reporting import DONE, print_json
from vocboard.evaluator.problem_catalogue import CATALOGUE, by_subject
from vocboard.evaluator.problems import Kind, Severity

_PAGE = Path(__file__).parents[1] / "docs" / "problems.md"
_ESCAPED = re.compile(r"\\([\\*<\[])")
_WIDEST = 100  # columns of the terminal
_MEANING = {
    Severity.ERROR: "An error rejects the upload, which uses no quota.",
    Severity.WARNING: "A warning neither rejects the upload nor changes a score, but often points to a mistake.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    codes = parser.add_argument(
        "code", nargs="?", metavar="CODE", help="code of a problem, such as unknown_image; without it, list all codes"
    )
    codes.completer = lambda **_: CATALOGUE  # type: ignore[attr-defined]  # argcomplete's
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Explain one problem, or list all."""
    if arguments.code is None:
        if arguments.json:
            print_json({"problems": [_document(kind) for _, kinds in by_subject() for kind in kinds]})
        else:
            print("\n".join(_list()))
        return DONE
    kind = _kind(arguments.code)
    if arguments.json:
        print_json(_document(kind))
    else:
        print("\n".join(_lines(kind)))
    return DONE


def _kind(typed: str) -> Kind:
    code = typed.strip("[] ").lower()
    if code in CATALOGUE:
        return CATALOGUE[code]
    close = get_close_matches(code, CATALOGUE, n=3)
    guess = f"did you mean {' or '.join(close)}? " if close else ""
    raise MisuseError(f"there is no problem with the code {typed!r}; {guess}`vocboard explain` lists all codes")


def _document(kind: Kind) -> Mapping[str, Any]:
    page = page_of_server()
    return {
        "code": kind.code,
        "severity": kind.severity.value,
        "title": kind.title,
        "message": _message(kind.code),
        "example": kind.example,
        "documentation": None if page is None else explanation(kind.code, page),
    }


def _message(code: str) -> str:
    """Return what a problem says, from the documentation: it has the message of a real upload for almost every code."""
    section = _PAGE.read_text(encoding="utf-8").partition(f"\n### {code}\n")[2].partition("\n#")[0]
    quoted = next((line for line in section.splitlines() if line.startswith("> ")), "> ")
    return _ESCAPED.sub(r"\1", quoted.removeprefix("> "))


def _lines(kind: Kind) -> Iterator[str]:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    yield f"{kind.severity.value}: {kind.title} [{kind.code}]"
    for label, text in (("Example", kind.example), ("Message", _message(kind.code))):
        yield ""
        yield textwrap.fill(
            f"{label}: {text}", width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    yield ""
    yield textwrap.fill(_MEANING[kind.severity], width)
    page = page_of_server()
    if page is not None:
        yield f"See {explanation(kind.code, page)}"


def _list() -> Iterator[str]:
    longest = max(map(len, CATALOGUE))
    for title, kinds in by_subject():
        yield f"{title}:"
        for kind in kinds:
            yield f"  {kind.code:<{longest}}  {kind.severity.value:<7}  {kind.title}"
        yield ""
    yield "`vocboard explain CODE` explains one of them."
