"""What the image build sees of a checkout, and what it installs from that.

Source: https://docs.docker.com/build/concepts/context/#dockerignore-files and the rules of Go's `filepath.Match`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.run_files import made_once

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Rule:
    """One line of `.dockerignore`; of all lines that match a path, the last one decides."""

    pattern: re.Pattern[str]
    includes: bool

    @classmethod
    def parse(cls, line: str) -> "Rule":
        """Return what a line means.

        >>> Rule.parse("!app/").includes, bool(Rule.parse("**/__pycache__/").pattern.fullmatch("a/b/__pycache__"))
        (True, True)
        """
        includes = line.startswith("!")
        text = line.removeprefix("!").strip().strip("/")
        translated = re.sub(
            r"\*\*/?|\*|\?|[^*?]+",
            lambda match: {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(match[0], re.escape(match[0])),
            text,
        )
        return cls(re.compile(translated), includes)

    def matches(self, path: str) -> bool:
        """Whether the line speaks of a path, or of a directory above it."""
        parts = path.split("/")
        return any(self.pattern.fullmatch("/".join(parts[:count])) for count in range(1, len(parts) + 1))


def context_files(root: Path = ROOT) -> Iterator[Path]:
    """Yield the files, relative to the checkout, that the build can copy."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [Rule.parse(line) for line in lines if line.strip() and not line.startswith("#")]

    def is_included(path: str) -> bool:
        decided = True
        for rule in rules:
            if rule.matches(path):
                decided = rule.includes
        return decided

    for top in sorted(root.iterdir()):
        if not is_included(top.name):
            continue  # none of our lines includes a part of a directory that is left out as a whole
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            relative = path.relative_to(root)
            if (path.is_symlink() or path.is_file()) and is_included(relative.as_posix()):
                yield relative


@dataclass(frozen=True)
class Installed:
    """What the image has: a Python environment with vocboard out of its wheels, and the packages that it needs.

    Attributes:
        directory: the environment's.
        wheels: what was installed into it.
    """

    directory: Path
    wheels: Sequence[Path]

    def run(
        self, command: Sequence[str], *, environment: Mapping[str, str], directory: Path, text: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment with these variables and no others, and with `text` as its input."""
        return subprocess.run(
            [str(self.directory / "bin" / command[0]), *command[1:]],
            cwd=directory,
            env={"PATH": os.environ["PATH"], **environment},
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def run_all(
        self, commands: Sequence[Sequence[str]], *, environment: Mapping[str, str], directory: Path
    ) -> list[str]:
        """Run commands of vocboard, which succeed, in one process: importing takes a second; return their output."""
        done = self.run(["python", "-c", RUN], environment=environment, directory=directory, text=json.dumps(commands))
        assert done.returncode == 0, done.stdout + done.stderr
        ran: list[str] = json.loads(done.stdout)
        return ran


# Runs commands of vocboard.
RUN = """
import contextlib, io, json, sys
from vocboard.commands.main import main

def ran(command):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            status = main(command)
        except SystemExit as ended:  # with --help, or for an argument that there is not
            status = ended.code
    return said.getvalue() if status == 0 else sys.exit(f"{command}: {status}: {said.getvalue()}")

print(json.dumps([ran(command) for command in json.load(sys.stdin)]))
"""
PIP = (sys.executable, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check")
OFFLINE = ("--no-deps", "--no-index")


def wheels() -> tuple[Path, Path]:
    """Return the wheels vocboard and vocboard-server, which a run builds once from what the image build sees."""
    participants, servers = sorted((made_once("wheels", _build) / "wheels").iterdir())
    return participants, servers


def _build(directory: Path) -> None:
    context = directory / "context"
    for relative in context_files():
        target = context / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / relative, target, follow_symlinks=False)  # as COPY does
    options = ["-w", str(directory / "wheels"), str(context), str(context / "server")]
    subprocess.run([*PIP, "wheel", *OFFLINE, "--no-build-isolation", *options], check=True, cwd=directory)


def install_as_image(directory: Path) -> Installed:
    """Install the wheels into a new environment, as the Dockerfile does.

    The packages that it needs are those of the environment that the tests run in, without vocboard's own code.
    """
    environment = directory / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    install = [*PIP, "--python", str(python), "install", *OFFLINE]
    subprocess.run([*install, *map(str, wheels())], check=True, cwd=directory)
    # A directory named in a .pth file is searched for packages; .pth files in it, as that of this checkout, are not.
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(environment, wheels())
