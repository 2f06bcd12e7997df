"""Which documents and files of docs/ there are, and their addresses on the site.

Only what is listed here is served, so no address can lead out of the directory.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from vocboard.evaluator.problem_catalogue import CATALOGUE
from vocboard.evaluator.problem_groups import ProblemGroup

DIRECTORY = Path(__file__).parents[2] / "docs"
PREFIX = "/docs"
INDEX_FILE = "README.md"  # of a directory: its address is the directory's
# Media types of files that documents show or link.
MEDIA_TYPES = {
    ".ipynb": "application/x-ipynb+json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".toml": "text/plain; charset=utf-8",
    ".webp": "image/webp",
}
# What people look for first, with what they find there; other documents come after these, by title.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Taking part": {
        "five-minutes/participant": "The first commands: check, score, view, submit.",
        "participants": "File formats, uploading, scores, leaderboards and publishing, step by step.",
        "problems": "Every problem of an upload, with an example and how to fix it.",
        "automation": "Checking results before each commit, submitting on a tag, comments with scores.",
        "development-kit": "The program on your own machine: checking, scoring, viewing, conversion, examples.",
        "api": "The REST API: tokens, errors, lists, uploads that are sent again, and what stays as it is.",
        "python": "Scoring arrays, result objects, submitting from scripts.",
        "statistics": "Intervals of scores, and which differences between methods are larger than chance explains.",
    },
    "Running a challenge": {
        "five-minutes/organiser": "The first commands: an edition file, ground truth, a leaderboard.",
        "a-year": "A challenge from the first idea to the archive, with pictures.",
        "organisers": "Challenges, phases, ground truth, quotas, fairness.",
        "detail-levels": "What participants see of a result, and what it reveals about the ground truth.",
        "editions/own": "Your own classes, competitions and metrics, in one file.",
        "moving": "A challenge of Codabench, CodaLab or EvalAI as a draft here.",
        "extensions": "A package of your own that adds a metric or a task.",
    },
    "Running a server": {
        "five-minutes/operator": "The first commands: a server on your own machine.",
        "operators": "Installation, settings, backups, upgrades, protection.",
        "scale": "What things cost, which part of a server is full first, how to size it.",
        "threat-model": "What each party can and cannot do, and the tests of it.",
        "faults": "What was broken on purpose, and what was counted afterwards.",
        "benchmarks": "Time and memory, compared with other tools and with lower bounds.",
    },
}


@cache
def documents() -> Mapping[str, Path]:
    """Return the Markdown files by name: their path in docs/ without suffix, or the path of a directory."""
    found = {}
    for file in sorted(DIRECTORY.rglob("*.md")):
        path = file.relative_to(DIRECTORY)
        name = path.parent if path.name == INDEX_FILE else path.with_suffix("")
        found[name.as_posix()] = file
    return found


@cache
def files() -> Mapping[str, Path]:
    """Return all other files that documents show or link, by their path in docs/."""
    return {
        file.relative_to(DIRECTORY).as_posix(): file
        for file in sorted(DIRECTORY.rglob("*"))
        if file.is_file() and file.suffix in MEDIA_TYPES
    }


def address_of(file: Path) -> str | None:
    """Return the address of a file of docs/; None if the site does not serve it.

    >>> address_of(DIRECTORY / "tasks" / "README.md"), address_of(DIRECTORY.parent / "pyproject.toml")
    ('/docs/tasks', None)
    """
    for name, known in (*documents().items(), *files().items()):
        if known == file:
            return f"{PREFIX}/{name}"
    return None


def address_of_problem(code: str) -> str | None:
    """Return the address of the explanation of a problem of uploads; None for other codes.

    >>> address_of_problem("not_an_archive"), address_of_problem("no_such_code")
    ('/docs/problems#not_an_archive', None)
    """
    return f"{PREFIX}/problems#{code}" if code in CATALOGUE else None


def explained(group: ProblemGroup) -> dict[str, Any]:
    """Return the JSON of a group of problems with the address of their explanation, relative to that of the server."""
    return group.as_json() | {"documentation": address_of_problem(group.code)}
