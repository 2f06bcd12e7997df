"""What the image has inside: everything, so that each command of the documentation runs there."""

import json
import os
import re
import shlex
import signal
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import small_world
from tests.support.image import ROOT, Installed, Rule, context_files, install_as_image
from vocboard.commands.main import main
from vocboard.evaluator.editions import load
from vocboard.evaluator.version import VERSION

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "editions").glob("*.md")))
COMMAND = re.compile(r"^(?:    |\$ )?(?:docker compose (?:run --rm|exec) \w+ )?(vocboard [a-z].*)$", re.M)
INLINE_COMMAND = re.compile(r"`(vocboard [a-z][^`\n]*)`")
FENCED = re.compile(r"^```.*?^```", re.M | re.S)


def documented() -> Iterator[tuple[str, str]]:
    """Yield the commands of the documentation, each with its page: those in blocks of code and in running text."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^    .*$", text, re.M) + FENCED.findall(text))
        blocks = re.sub(r"\\\n\s*", "", blocks)  # a command may go on in the next line
        for command in sorted({*COMMAND.findall(blocks), *INLINE_COMMAND.findall(text)}):
            yield page.relative_to(ROOT).as_posix(), command


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install_as_image(tmp_path_factory.mktemp("image"))


def test_reads_the_rules_as_the_engine_does() -> None:
    rule = Rule.parse("app/*.py")
    assert rule.matches("app/main.py")
    assert not rule.matches("app/pages/forms.py")
    assert Rule.parse("app/").matches("app/pages/forms.py")
    assert not Rule.parse("app/").matches("application/forms.py")


def test_build_sees_no_data_no_secrets_and_no_history() -> None:
    seen = {path.as_posix() for path in context_files()}
    assert {"app/main.py", "client/__init__.py", "src/vocboard/app", "requirements.lock", "pyproject.toml"} <= seen
    assert {"server/pyproject.toml", "server/LICENSE", "server/src"} <= seen
    assert not any(path.startswith((".", "tests/", "demo-data/", "benchmarks/")) for path in seen)
    assert not any("__pycache__" in path for path in seen)


def test_documentation_names_commands() -> None:
    assert {"vocboard serve", "vocboard validate VOC2012 results.tar.gz --image-sets VOCdevkit/VOC2012"} <= {
        command for _, command in documented()
    }
    assert len(set(documented())) > 25


EMAIL, TREE, RESULTS = "ada@example.org", "tree.tar", "results.tar"
# From an empty database to people and tokens, as docs/operators.md tells.
OPERATORS = (
    ("migrate",),
    ("admin", "create-user", EMAIL, "--name", "Ada Organiser", "--role", "organiser"),
    ("admin", "set-role", EMAIL, "administrator"),
    ("admin", "create-token", EMAIL, "--scope", "organise"),
    ("admin", "list-users", "--json"),
    ("admin", "create-challenge", "voc", "--organiser", EMAIL, "--title", "VOC", "--edition", "VOC2007"),
    ("admin", "disable-user", EMAIL),
    ("admin", "enable-user", EMAIL),
    ("admin", "reset-password", EMAIL),
)
VALIDATE = ("validate", load("VOC2007").name, RESULTS, "--image-sets", TREE)
EVALUATE = ("evaluate", load("VOC2007").name, RESULTS, "--ground-truth", TREE, "--json")


@pytest.fixture(scope="module")
def said(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], str]:
    """Run commands of operators and participants, and the help of each that is documented; return what they say."""
    directory = tmp_path_factory.mktemp("commands")
    (directory / "data").mkdir()
    (directory / RESULTS).write_bytes(small_world.results_archive())
    (directory / TREE).write_bytes(small_world.ground_truth_archive())
    names = sorted({name_of(command) for _, command in documented()})
    commands = (*OPERATORS, VALIDATE, EVALUATE, *((*name, "--help") for name in names))
    environment = {"VOCBOARD_DATA_DIRECTORY": str(directory / "data")}
    return dict(zip(commands, installed.run_all(commands, environment=environment, directory=directory), strict=True))


def test_the_program_is_there(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(["vocboard", "--help"], environment={}, directory=tmp_path)
    assert done.stdout.startswith("usage: vocboard")


def test_every_documented_command_is_there_with_its_options(said: dict[tuple[str, ...], str]) -> None:
    wrong = []
    for page, command in documented():
        known = re.findall(r"--[a-z-]+", said[*name_of(command), "--help"])
        options = {word.partition("=")[0] for word in shlex.split(command, comments=True) if word.startswith("--")}
        unknown = options - {"--help", *known}
        wrong += [f"{page}: {command}: there is no {', '.join(unknown)}"] if unknown else []
    assert wrong == []


WITH_SUBCOMMANDS = {"account", "admin", "announcements", "health", "notifications", "questions", "teams"}


def name_of(command: str) -> tuple[str, ...]:
    """Return the words that name a command, such as `admin create-user`, without the program."""
    _, *words = shlex.split(command, comments=True)
    return tuple(words[: 2 if words[0] in WITH_SUBCOMMANDS and len(words) > 1 and words[1][0] != "-" else 1])


def test_operators_commands_run(said: dict[tuple[str, ...], str]) -> None:
    _, password, _, token, users, *_, other_password = map(said.__getitem__, OPERATORS)
    assert len(password.strip()) >= 16
    assert token.strip()
    [listed] = json.loads(users)
    assert (listed["email"], listed["role"]) == (EMAIL, "administrator")
    assert other_password.strip() != password.strip()


def test_participants_commands_run(said: dict[tuple[str, ...], str]) -> None:
    mean = json.loads(said[EVALUATE])["competitions"]["comp3"]["mean"]
    assert mean == pytest.approx(small_world.MEAN_AP, abs=1e-12)


def test_the_wheels_have_the_packages_whole_and_nothing_else(installed: Installed) -> None:
    names = [name for file in installed.wheels for name in zipfile.ZipFile(file).namelist()]
    code = [name for name in names if name.startswith("vocboard/")]
    others = set(names) - set(code)
    assert {name.partition("/")[0].partition("-")[2] for name in others} == {f"{VERSION}.dist-info"}
    assert sorted(code) == sorted(f"vocboard/{path}" for path in files_of_the_packages())  # each in one of the wheels


def test_the_two_wheels_are_of_one_version_and_licence() -> None:
    project = tomllib.loads((ROOT / "server" / "pyproject.toml").read_text())["project"]
    assert f"vocboard=={VERSION}" in project["dependencies"]
    assert (ROOT / "server" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def files_of_the_packages() -> Iterator[str]:
    """Yield the files that a clone has below src/vocboard, where the top-level packages are symbolic links."""
    source = ROOT / "src" / "vocboard"
    links = {path.resolve().relative_to(ROOT).as_posix(): path.name for path in source.iterdir() if path.is_symlink()}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "src/vocboard", *links],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        top, _, rest = name.partition("/")
        if top in links:
            yield f"{links[top]}/{rest}"
        elif not (ROOT / name).is_symlink():
            yield name.removeprefix("src/vocboard/")


PROJECT = {
    "app.py": "import client\nimport evaluator\n\nNAMES = ['my app', client.NAME, evaluator.NAME]\n",
    "client/__init__.py": "NAME = 'my client'\n",
    "evaluator/__init__.py": "NAME = 'my evaluator'\n",
    "evaluator/rules.py": "raise ImportError('not your evaluator')\n",
    "commands/__init__.py": "raise ImportError('not your commands')\n",
    "migrations/env.py": "raise ImportError('not your migrations')\n",
    "templates/sign_in.html": "my page",
    "main.py": """
import json
import os
from pathlib import Path

import app
import vocboard
from fastapi.testclient import TestClient
from vocboard.app.main import create_app
from vocboard.app.settings import Settings

truth = vocboard.read_ground_truth("tree.tar", "VOC2007")
mean = vocboard.evaluate("results.tar", "VOC2007", truth)["comp3"].mean
settings = Settings()
with TestClient(create_app(settings), base_url="http://127.0.0.1") as browser:
    page = browser.get("/sign-in").text
    guide = [browser.get(f"/docs/{path}").status_code for path in ("problems", "images/year/draft.webp")]
mine = [*app.NAMES, Path("templates/sign_in.html").read_text()]
print(json.dumps({"mine": mine, "mean": mean, "page": page, "guide": guide}))
""",
}


def test_works_next_to_a_project_that_has_packages_of_the_same_names(installed: Installed, tmp_path: Path) -> None:
    for name, content in PROJECT.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    (tmp_path / "results.tar").write_bytes(small_world.results_archive())
    (tmp_path / "tree.tar").write_bytes(small_world.ground_truth_archive())
    (tmp_path / "data").mkdir()
    environment = {"VOCBOARD_DATA_DIRECTORY": str(tmp_path / "data")}
    for command in (["vocboard", "migrate"], ["python", "main.py"]):
        done = installed.run(command, environment=environment, directory=tmp_path)
        assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["mine"] == ["my app", "my client", "my evaluator", "my page"]
    assert printed["mean"] == pytest.approx(small_world.MEAN_AP, abs=1e-12)
    assert "<h1>Sign in</h1>" in printed["page"]
    assert printed["guide"] == [200, 200]


def test_the_first_process_of_a_container_stops_even_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel drops what process 1 has no handler for; Celery's comes after seconds of imports."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    try:
        with pytest.raises(SystemExit):
            main(["--version"])
        assert callable(signal.getsignal(signal.SIGTERM))
        with pytest.raises(SystemExit, match="143"):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
