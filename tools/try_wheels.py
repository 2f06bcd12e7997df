"""Install the wheels in new environments of the Python that runs this, and try what participants and operators do.

Usage: python tools/try_wheels.py DIRECTORY [--server]

`pip install vocboard` has at most 15 packages besides it, and 150 MB; `new-edition`, `check-edition`, `validate`,
`evaluate`, `view` and `schema` work. With --server, `pip install vocboard[server]` in another environment runs the
demo, and the participant's `vocboard submit --wait` uploads to it. The demo uses SQLite, or what VOCBOARD_DATABASE_URL
and VOCBOARD_BROKER_URL name (PostgreSQL, empty; Redis). Needs the package registry, and no package.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

PACKAGES, MEGABYTES = 15, 150
SECONDS_TO_FILL = 600  # a demo with all its challenges


class Environment:
    """A Python environment in which vocboard is installed from the wheels and the package registry."""

    def __init__(self, directory: Path, wheels: Path, requirement: str) -> None:
        venv.create(directory, with_pip=True)
        self.directory = directory
        self._programs = directory / ("Scripts" if os.name == "nt" else "bin")
        before = self._packages()
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        self.run("python", *pip, "--only-binary", ":all:", "--find-links", str(wheels.resolve()), requirement)
        self.added = self._packages() - before

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command that runs a program of the environment."""
        return [str(self._programs / program), *arguments]

    def run(self, program: str, *arguments: str, variables: dict[str, str] | None = None) -> str:
        """Run a program to its end, in the directory above the environment; return what it prints.

        Raises:
            SystemExit: its exit status is not 0.
        """
        command = self.command(program, *arguments)
        done = subprocess.run(
            command,
            cwd=self.directory.parent,
            env=os.environ | (variables or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def megabytes(self) -> float:
        """Return the size of the installed packages without pip, which is not ours."""
        files = json.loads(self.run("python", "-c", _FILES))
        return sum(Path(file).stat().st_size for file in files if Path(file).is_file()) / 1e6

    def _packages(self) -> set[str]:
        return set(json.loads(self.run("python", "-c", _PACKAGES)))


_PACKAGES = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
_FILES = (
    "import importlib.metadata as m, json; "
    "print(json.dumps([str(f.locate()) for d in m.distributions() if d.name != 'pip' for f in d.files or ()]))"
)


def try_participant(directory: Path, wheels: Path) -> Environment:
    """Install the participant's part, and run its commands.

    Raises:
        SystemExit: something does not work, or is too large.
    """
    installed = Environment(directory / "participant", wheels, "vocboard")
    dependencies, size = len(installed.added) - 1, installed.megabytes()
    print(f"vocboard needs {dependencies} packages; {size:.0f} MB", flush=True)
    if dependencies > PACKAGES or size > MEGABYTES:
        sys.exit(f"More than {PACKAGES} packages or {MEGABYTES} MB: {', '.join(sorted(installed.added))}")
    edition, results = "mine/roads2026.toml", "mine/results.tar.gz"
    installed.run("vocboard", "new-edition", "--output", "mine")
    installed.run("vocboard", "check-edition", edition)
    installed.run("vocboard", "validate", edition, results, "--image-sets", "mine")
    evaluation = json.loads(installed.run("vocboard", "evaluate", edition, results, "--ground-truth", "mine", "--json"))
    installed.run("vocboard", "view", "mine", "--edition", edition, "--results", results, "--output", "page")
    installed.run("vocboard", "schema", "edition")
    print(f"validate, evaluate and view work: {', '.join(evaluation['competitions'])}", flush=True)
    return installed


def try_server(directory: Path, wheels: Path, participant: Environment) -> None:
    """Install the server's part, run the demo, and submit to it from the participant's environment.

    Raises:
        SystemExit: something does not work.
    """
    server = Environment(directory / "server", wheels, "vocboard[server]")
    print(f"vocboard[server]: {len(server.added) - 1} packages; {server.megabytes():.0f} MB", flush=True)
    data = directory / "demo"
    began = time.monotonic()
    demo = subprocess.Popen(server.command("vocboard", "demo", "--port", "0", "--data", str(data)))
    try:
        while not (data / "demo.json").exists():
            if demo.poll() is not None or time.monotonic() > began + SECONDS_TO_FILL:
                sys.exit(f"The demo does not start; see {data / 'server.log'}")
            time.sleep(0.5)
        print(f"The demo was ready after {time.monotonic() - began:.0f} s", flush=True)
        ready = json.loads((data / "demo.json").read_text(encoding="utf-8"))
        account = {"VOCBOARD_SERVER": ready["url"], "VOCBOARD_TOKEN": ready["participant"]["token"]}
        options = ["--method", "Wheel", "--training-data", "trainval only", "--wait", "--json", "--accept-warnings"]
        results = str(data / "example-results.tar.gz")
        answer = participant.run("vocboard", "submit", "voc2012", results, *options, variables=account)
        if (state := json.loads(answer)["state"]) != "scored":
            sys.exit(f"The submission is {state}")
        print("submit works", flush=True)
    finally:
        demo.terminate()
        demo.wait(60)


def main(arguments: argparse.Namespace) -> int:
    """Try the wheels; return the exit status."""
    print(f"Python {sys.version.split()[0]}", flush=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        participant = try_participant(Path(place), arguments.wheels)
        if arguments.server:
            try_server(Path(place), arguments.wheels, participant)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--server", action="store_true")
    sys.exit(main(parser.parse_args()))
