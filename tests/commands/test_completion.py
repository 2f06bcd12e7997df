"""`vocboard completion`, as shells use it, and the list of commands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vocboard.commands.main import COMMANDS, SERVER_COMMANDS, main

PROGRAMS = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("vocboard who", {"whoami"}),
        ("vocboard leaderboard --f", {"--format"}),
        ("vocboard leaderboard --format ", {"table", "json", "csv", "latex"}),
        ("vocboard admin create-ch", {"create-challenge"}),
        ("vocboard import --dry", {"--dry-run"}),
    ],
)
def test_bash_completes(line: str, expected: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The shell's own functions ask the program, as after the Tab key."""
    bash = shutil.which("bash")
    assert bash is not None
    assert main(["completion", "bash"]) == 0
    script = f"""
        {capsys.readouterr().out}
        COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9
        words=($COMP_LINE); [[ $COMP_LINE == *' ' ]] && words+=('')
        COMP_WORDS=("${{words[@]}}"); COMP_CWORD=$((${{#words[@]}} - 1))
        _python_argcomplete vocboard "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, timeout=60, env=environment, check=True)
    assert {word.strip() for word in done.stdout.split("\n") if word.strip()} == expected, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "vocboard" in capsys.readouterr().out


def test_the_help_lists_what_participants_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n    {name}" in listed
    for name in SERVER_COMMANDS:
        assert f"\n    {name}" not in listed
    assert f"Commands that run a server: {', '.join(SERVER_COMMANDS)}." in " ".join(listed.split())
