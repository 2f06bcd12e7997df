"""The GitHub Action's steps as GitHub runs them, in bash with inputs as variables; `pipx` and `gh` are stand-ins."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.board import Board
from tests.support.unpacking import unpack

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
pytestmark = pytest.mark.usefixtures("own_settings")


def programs(directory: Path) -> str:
    """Return a PATH on which `pipx` does nothing, and `gh` writes what it is called with and the comment."""
    directory.mkdir()
    (directory / "pipx").write_text("#!/bin/sh\n")
    (directory / "gh").write_text('#!/bin/sh\necho "$@" > "$RUNNER_TEMP/called"\n')
    for program in directory.iterdir():
        program.chmod(0o755)
    return os.pathsep.join([str(directory), str(Path(sys.executable).parent), os.environ["PATH"]])


def run_step(
    step: dict[str, Any], inputs: dict[str, str], runner: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    def given(expression: re.Match[str]) -> str:
        name = expression[1].removeprefix("inputs.")
        return inputs.get(name, str(ACTION["inputs"][name].get("default", "")))

    variables = {name: re.sub(r"\$\{\{ (\S+) \}\}", given, text) for name, text in step.get("env", {}).items()}
    script = f"enable -n mapfile readarray\n{step['run']}"  # bash 3.2 of macOS has neither
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, env={**os.environ, **runner, **variables}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("is_valid", [True, False])
def test_validates_submits_and_comments(board: Board, archive: Path, tmp_path: Path, is_valid: bool) -> None:
    results = tmp_path / "results"
    unpack(archive, results)
    if not is_valid:
        next(results.rglob("comp3_*.txt")).write_text("nonsense\n")
    inputs = {
        "edition": "VOC2012",
        "results": str(results),
        "image-sets": str(board.tree),
        "server": board.url,
        "challenge": "voc",
        "token": board.token(),
        "method": "From | a tag",
        "options": "--training-data=trainval only\n--accept-warnings\n--publish\n",
    }
    runner = {
        "PATH": programs(tmp_path / "programs"),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_REPOSITORY": "lab/results",
        "GITHUB_SHA": "1234abcd",
    }
    install, validate, submit, comment = ACTION["runs"]["steps"]
    # Otherwise GitHub would run neither the submission nor the comment after problems that `validate` finds.
    assert (validate["if"], submit["if"]) == (
        "github.ref_type != 'tag' || inputs.challenge == ''",
        "github.ref_type == 'tag' && inputs.challenge != ''",
    )
    assert run_step(install, inputs, runner).returncode == 0
    assert run_step(validate, inputs, runner).returncode == (0 if is_valid else 1)
    submitted = run_step(submit, inputs, runner)
    assert submitted.returncode == (0 if is_valid else 1), submitted.stdout + submitted.stderr
    assert run_step(comment, inputs, runner).returncode == 0
    report = (tmp_path / "vocboard.md").read_text(encoding="utf-8")
    assert (tmp_path / "summary").read_text(encoding="utf-8") == report
    called = (tmp_path / "called").read_text()
    assert called == f"api repos/lab/results/commits/1234abcd/comments --field body=@{tmp_path}/vocboard.md\n"
    if is_valid:
        assert report.startswith(rf"**[From \| a tag]({board.url}/submissions/")
        # Twelve images are too few for intervals.
        rows = re.findall(r"\| (comp\d) \| Average precision \| [\d.]+ \| \u2013 \| \d+ of \d+ \|\n", report)
        assert rows == ["comp1", "comp3"]
    else:
        assert "**Refused; no quota was used.**" in report
        assert "    error: " in report
