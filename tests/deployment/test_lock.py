"""The lock files name every package by version and hash, fit what pyproject.toml asks for, and name no place."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import other_pythons, pin_images

ROOT = Path(__file__).parents[2]
SERVER, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
LOCKED = re.compile(
    r"^(?P<requirement>[A-Za-z0-9._-]+==[^\\]+?) \\$(?P<hashes>(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)", re.M
)


def locked(file: Path) -> dict[str, list[Requirement]]:
    """Return the locked versions of each package; a package may have one for each range of Python versions."""
    found: dict[str, list[Requirement]] = {}
    for match in LOCKED.finditer(file.read_text()):
        requirement = Requirement(match["requirement"])
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def asked_for(file: Path) -> list[Requirement]:
    """Return what both pyproject.toml ask for in the installation that a lock file is for."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    server = tomllib.loads((ROOT / "server" / "pyproject.toml").read_text())
    texts = [*content["project"]["dependencies"], *server["project"]["dependencies"]]
    texts += content["dependency-groups"]["build"]
    texts += (
        [*content["dependency-groups"]["dev"], *content["dependency-groups"]["fuzz"]] if file == DEVELOPMENT else []
    )
    requirements = [Requirement(text) for text in texts if isinstance(text, str)]  # the others include a group
    return [requirement for requirement in requirements if requirement.name != "vocboard"]


@pytest.mark.parametrize("file", [SERVER, DEVELOPMENT], ids=lambda file: file.name)
def test_fits_what_the_project_asks_for(file: Path) -> None:
    packages = locked(file)
    for requirement in asked_for(file):
        versions = packages.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement} is not in {file.name}: make lock"
        for version in versions:
            (pin,) = version.specifier
            assert pin.version in requirement.specifier, f"{version} is not {requirement}: make lock"


@pytest.mark.parametrize("file", [SERVER, DEVELOPMENT], ids=lambda file: file.name)
def test_has_nothing_but_hashed_packages(file: Path) -> None:
    rest = LOCKED.sub("", file.read_text())
    assert [line for line in rest.splitlines() if line and not line.startswith("#")] == []
    assert not re.search(r"://|--index|--find-links|--extra|file:", file.read_text())


def test_development_has_all_that_the_server_has() -> None:
    server, development = locked(SERVER), locked(DEVELOPMENT)
    assert {name: sorted(map(str, pins)) for name, pins in server.items()} == {
        name: sorted(map(str, pins)) for name, pins in development.items() if name in server
    }
    assert len(server) > 30


def test_images_and_actions_can_only_be_those_that_were_reviewed() -> None:
    digest = f"sha256:{'0' * 64}"
    for name in pin_images.FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        # With their registry: Podman looks for no other name.
        images = [one for one in re.findall(r"^(?:FROM|\s+image:) (\S+)", text, re.M) if not one.startswith("vocboard")]
        assert [one for one in images if not re.fullmatch(r"[\w-]+\.[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", one)] == []
        pinned = pin_images.pinned(text, lambda _image: digest)
        assert re.findall(r"sha256:[0-9a-f]{64}", pinned) == [digest] * len(images)
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    actions = [one for file in workflows for one in re.findall(r"uses: (\S+)", file.read_text(encoding="utf-8"))]
    assert actions
    assert [one for one in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one)] == []


def test_a_python_for_which_packages_cannot_be_installed_is_named_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(other_pythons, "interpreters", lambda: iter([("3.14", Path("python3.14"))]))
    monkeypatch.setattr(other_pythons, "install", lambda *_: False)
    assert other_pythons.main([]) == 0
    assert capsys.readouterr().out.endswith("Left out, because packages could not be installed: Python 3.14\n")
