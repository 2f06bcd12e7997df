"""Build the documentation as a site of its own, with search: `make docs`, into .cache/docs/site.

Usage: python -m tools.docs_site

Sphinx reads the pages of docs/ as they are, in the order of the server's /docs, and is installed apart, from the group
`docs` of pyproject.toml. A link that leads nowhere is an error.
"""

import re
import shutil
import subprocess
import sys
import tomllib
import venv
from functools import partial
from pathlib import Path

from vocboard.app.web.guides import DIRECTORY, GROUPS, documents
from vocboard.evaluator import VERSION

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".cache" / "docs"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s][^)\s]*)\)")
CONFIGURATION = f"""
project, release, copyright = "vocboard", "{VERSION}", "vocboard's authors"
html_title = "vocboard {VERSION}"
extensions = ["myst_parser"]
html_theme = "furo"
html_show_sphinx = html_show_sourcelink = html_copy_source = False
myst_heading_anchors = 4  # as GitHub's
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure"]
"""


def main() -> int:
    """Build the site; return the exit status."""
    python = installed()
    source, site = PLACE / "source", PLACE / "site"
    for directory in (source, site):
        shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(DIRECTORY, source)
    for page in source.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(LINK.sub(partial(within, source, page.parent), text), encoding="utf-8")
    (source / "index.md").write_text(front_page(), encoding="utf-8")
    (source / "conf.py").write_text(CONFIGURATION, encoding="utf-8")
    command = [str(python), "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--builder", "html"]
    status = subprocess.run([*command, str(source), str(site)], check=False).returncode
    if status == 0:
        print(f"{site / 'index.html'}")
    return status


def within(source: Path, directory: Path, link: re.Match[str]) -> str:
    """Return a link of a page; only its text if it leads to a page of the server, to a directory, or out of docs/."""
    text, target = link[1], link[2]
    file = (directory / target.partition("#")[0]).resolve()
    is_elsewhere = target.startswith("/") or file.is_dir() or not file.is_relative_to(source)
    return text if is_elsewhere and "://" not in target else link[0]


def installed() -> Path:
    """Return the Python of an environment with Sphinx, which is made if it is not there or of other versions."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    environment, stamp = PLACE / "environment", PLACE / "installed"
    python, wanted = environment / "bin" / "python", "\n".join(groups["docs"])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(environment, clear=True, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *groups["docs"]], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def front_page() -> str:
    """Return a list of what people look for first, with what they find there; then all other pages."""
    lines = [
        "# vocboard",
        "",
        "A challenge submission server in the tradition of the PASCAL VOC evaluation server.",
        "",
    ]
    for title, group in GROUPS.items():
        lines += [
            f"## {title}",
            "",
            *(f"- [{_title(name)}]({_path(name)}): {text}" for name, text in group.items()),
            "",
        ]
        lines += _contents(title, list(group))
    listed = {name for group in GROUPS.values() for name in group}
    return "\n".join([*lines, *_contents("Reference", [name for name in documents() if name not in listed])])


def _contents(title: str, names: list[str]) -> list[str]:
    return ["```{toctree}", ":hidden:", f":caption: {title}", "", *map(_path, names), "```", ""]


def _path(name: str) -> str:
    return documents()[name].relative_to(DIRECTORY).as_posix()


def _title(name: str) -> str:
    text = documents()[name].read_text(encoding="utf-8")
    return next(line for line in text.splitlines() if line.startswith("# ")).removeprefix("# ")


if __name__ == "__main__":
    sys.exit(main())
