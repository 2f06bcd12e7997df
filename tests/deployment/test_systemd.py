"""The units of deploy/systemd run what docker-compose.yml runs, and systemd takes them with all that shuts them in."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from configparser import RawConfigParser
from pathlib import Path, PurePosixPath

import pytest
import yaml

from tests.support.compose import COMPOSE_FILE, ROOT, Service, service

DIRECTORY = ROOT / "deploy" / "systemd"
UNITS = {path.stem.removeprefix("vocboard-"): path for path in DIRECTORY.glob("*.service")}
MOST_EXPOSED = 20  # tenths, as `systemd-analyze security` counts: what it calls OK; 96 without any of it
WRITES = {
    "web": {"archives", "truth-inbox"},
    "worker": {"truth-inbox", "truth"},
}


@pytest.fixture(scope="module")
def composed() -> Mapping[str, Service]:
    content = yaml.safe_load(COMPOSE_FILE.read_text())
    return {name: service(name, given, {}) for name, given in content["services"].items()}


def keys(unit: Path) -> Mapping[str, str]:
    parser = RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as configparser says: keep upper case
    parser.read_string(unit.read_text())
    return parser["Service"]


def command(unit: Path) -> list[str]:
    program, *arguments = shlex.split(keys(unit)["ExecStart"])
    assert program == "/opt/vocboard/bin/vocboard"
    return arguments


def test_each_service_of_ours_has_a_unit_with_the_same_command(composed: Mapping[str, Service]) -> None:
    assert set(UNITS) == {name for name, one in composed.items() if one.keys.get("image") == "vocboard"} - {"backup"}
    for name, unit in UNITS.items():
        inside = [{"0.0.0.0": "127.0.0.1"}.get(argument, argument) for argument in composed[name].command]
        assert ["vocboard", *command(unit)] == inside


def test_each_writes_what_is_its_own(composed: Mapping[str, Service]) -> None:
    for name, unit in UNITS.items():
        paths = [PurePosixPath(path) for path in keys(unit).get("ReadWritePaths", "").split()]
        assert {path.name for path in paths} == WRITES.get(name, set())
        assert {mount.source for mount in composed[name].mounts if not mount.read_only} == WRITES.get(name, set())
        assert all(path.parent == PurePosixPath("/var/lib/vocboard") for path in paths)
        assert "InaccessiblePaths" in keys(unit) or name == "worker"
    users = {name: keys(unit).get("User") for name, unit in UNITS.items() if "User" in keys(unit)}
    assert users == {"web": "vocboard-web", "worker": "vocboard-worker"}
    for user in users.values():
        assert re.search(rf"^u {user} -:vocboard ", (DIRECTORY / "sysusers.conf").read_text(), re.M)
        assert f" {user} vocboard " in (DIRECTORY / "tmpfiles.conf").read_text()
    # Only what sends email reaches more than this machine.
    assert [name for name, unit in UNITS.items() if keys(unit).get("IPAddressDeny") != "any"] == ["mail"]


def test_a_worker_may_finish_an_evaluation(composed: Mapping[str, Service]) -> None:
    assert keys(UNITS["worker"])["TimeoutStopSec"] == "35min"
    assert composed["worker"].keys["stop_grace_period"] == "${VOCBOARD_WORKER_STOP_GRACE:-35m}"


def test_systemd_takes_the_units_and_calls_them_little_exposed(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd on this machine")
    units = shutil.copytree(DIRECTORY, tmp_path / "units")
    for unit in units.glob("*.service"):
        unit.write_text(unit.read_text().replace("/opt/vocboard/bin/vocboard", sys.executable))
    paths = sorted(map(str, units.glob("*.service")))
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{units}:"}
    for arguments in (
        ["verify", "--man=no"],
        ["security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}"],
    ):
        done = subprocess.run(
            ["systemd-analyze", *arguments, *paths], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
