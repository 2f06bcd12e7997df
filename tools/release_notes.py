"""Print the section of CHANGELOG.md about a version, for a release; `.github/workflows/release.yml` runs it.

Usage: python tools/release_notes.py v1.2.0

The version has to be that of the package, in both distributions, and its section has to have a date.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes_of(changelog: str, version: str) -> str:
    """Return the section of a version.

    Raises:
        ValueError: there is none, or it has no date.

    >>> notes_of("# Changelog\\n\\n## 1.1.0 (2026-12-01)\\n\\n- New.\\n\\n## 1.0.0 (2026-01-01)\\n", "1.1.0")
    '- New.'
    """
    found = re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no section '## {version} (YYYY-MM-DD)'")
    return found[1].strip()


def main(tag: str) -> int:
    """Print the notes of a tag; return the exit status."""
    version = tag.removeprefix("v")
    built = re.search(r'^VERSION = "(.+)"$', (ROOT / "evaluator" / "version.py").read_text(encoding="utf-8"), re.M)
    server = tomllib.loads((ROOT / "server" / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    if built is None or built[1] != version or f"vocboard=={version}" not in server:
        print(f"{tag} is not the version in evaluator/version.py and server/pyproject.toml", file=sys.stderr)
        return 1
    try:
        print(notes_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
