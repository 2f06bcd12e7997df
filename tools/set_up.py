"""Make `.venv` and install the locked packages and vocboard itself into it; do nothing when that is done.

Usage: python3 tools/set_up.py server|development

Needs Python 3.11 or newer and nothing else: no package is installed that the lock file does not name with its hash.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / "installed"
LOCK_FILES = {"server": ROOT / "requirements.lock", "development": ROOT / "requirements-dev.lock"}
OLDEST_PYTHON = (3, 11)


def main() -> int:
    """Set up what the command line asks for; return the exit status."""
    if sys.version_info < OLDEST_PYTHON:
        print(f"vocboard needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.12 ...")
        return 1
    kind = sys.argv[1]
    with one_at_a_time():
        if not works(PYTHON):
            print(f"Making {ENVIRONMENT} with Python {sys.version.split()[0]}", flush=True)
            venv.create(ENVIRONMENT, clear=True, symlinks=True)
        if stamp(kind) in installed():
            return 0
        try:
            install(kind)
        except subprocess.CalledProcessError as error:
            print(f"Could not install: {' '.join(map(str, error.cmd))}", file=sys.stderr)
            return 1
    return 0


def install(kind: str) -> None:
    """Install the packages of the lock file, then vocboard in place, with the build tools that the lock names."""
    if not works(PYTHON, "-m", "pip"):
        add_pip()
    print(f"Installing the packages of {LOCK_FILES[kind].name} (once, about half a minute)", flush=True)
    pip("--require-hashes", "--no-deps", "-r", str(LOCK_FILES[kind]))
    pip("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    # What is installed for development serves the server too.
    STAMP.write_text("".join(f"{stamp(name)}\n" for name in ("server", kind)))


def add_pip() -> None:
    """Install pip in the environment, from Debian's package where Python comes without it."""
    if works(PYTHON, "-m", "ensurepip"):
        return
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    print(f"This Python comes without pip; installing Debian's package {package}", flush=True)
    if not (install_debian_package(package) and works(PYTHON, "-m", "ensurepip")):
        sys.exit(f"This Python has no pip. Install it, on Debian and Ubuntu with: sudo apt-get install {package}")


def install_debian_package(package: str) -> bool:
    """Install a package of the system as root, without asking; return whether that was possible."""
    if shutil.which("apt-get") is None:
        return False
    as_root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    command = [*as_root, "apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", package]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:  # no sudo
        return False


def pip(*arguments: str) -> None:
    """Run `pip install` in the environment."""
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *arguments]
    subprocess.run(command, cwd=ROOT, check=True)


def works(python: Path, *arguments: str) -> bool:
    """Tell whether a Python, or a module in it, runs at all."""
    if not python.exists():
        return False
    command = [str(python), *(arguments or ("-c", ""))]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def stamp(kind: str) -> str:
    """Return what identifies a finished installation: its kind and a hash of all that decides on its content."""
    decisive = (*LOCK_FILES.values(), ROOT / "pyproject.toml", ROOT / "evaluator" / "version.py")
    return f"{kind} {hashlib.sha256(b''.join(path.read_bytes() for path in decisive)).hexdigest()} {ROOT}"


def installed() -> list[str]:
    """Return the stamps of the installations that are finished."""
    return STAMP.read_text().splitlines() if STAMP.exists() else []


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other process is setting up this checkout."""
    directory = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


if __name__ == "__main__":
    sys.exit(main())
