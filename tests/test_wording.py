"""Texts and names use the trade's terms, not private ones.

Each word below was once used here in a sense that newcomers had to learn. If you need one in its ordinary sense, choose
another word, or add the file to `ALLOWED` with the reason.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIRECTORIES = (
    "app", "benchmarks", "client", "commands", "deploy", "docs", "evaluator", "migrations", "templates", "tests",
    "tools", "worker",
)  # fmt: skip
SUFFIXES = {".css", ".html", ".js", ".md", ".py", ".toml", ".txt", ".yml"}
SKIPPED = ("app/static/vendor/", "tests/golden/", "tests/hostile/", "tests/test_wording.py")

INSTEAD = {
    r"troubl\w*": "error, problem, or what has failed",
    r"mend(s|ed|ing)?": "fix, correct",
    r"(door)?bells?|rings?_|nobody rings": "notification, wake-up",
    r"complaints?|complain(s|ed)?": "error, problem",
    r"anew": "again; restart, recreate",
    r"for good": "permanently",
    r"taken? for|takes for": "treated as, considered",
    r"whoever|whomever": "who it is: the user, the caller, an attacker",
    r"one's own": "your own, custom",
    r"shut (somebody|a person) out": "disable the account",
    r"hand(ed|s)?_on|handed on": "pass on",
    r"truth_(inbox|queue)(?!_directory)|stored_truth": "ground_truth_...",
    r"sniff(s|ed|ing)?": "file type detection",
    r"in good order|stands still|stood still": "normally; is paused",
    r"e-mails?": "email, which is not broken after a hyphen",
    r"a second a|a line a|an image a|a class a": "per",
}
ALLOWED = {
    "tests/app/test_forms.py": "the bell is a control character",
    "tests/app/api/test_upload_limits.py": "the bell is a control character",
}


def files() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file that people read."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("*.yml")]
    for directory in DIRECTORIES:
        found += (ROOT / directory).rglob("*")
    for file in sorted(found):
        path = file.relative_to(ROOT).as_posix()
        if file.suffix in SUFFIXES and not path.startswith(SKIPPED) and path not in ALLOWED:
            yield path, file.read_text(encoding="utf-8")


def instead_of(found: str) -> str:
    return next(term for word, term in INSTEAD.items() if re.fullmatch(word, found, re.IGNORECASE))


def test_no_private_terms() -> None:
    private = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}; say {instead_of(match[0])}"
        for path, text in files()
        for match in private.finditer(text)
    ]
    assert not found, "\n".join(found)
