"""Dependency groups that no lock has to hold, each installed into a directory of its own: `bench` (peers), `plots`."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TORCH_FOR_PROCESSORS = "https://download.pytorch.org/whl/cpu"  # PyPI's builds for Linux need gigabytes of CUDA


def install(cache: Path, group: str = "bench") -> tuple[Path, list[str]]:
    """Install a group; return where it is, and what could not be installed and why."""
    directory = cache / f"{group}-{sys.version_info.major}.{sys.version_info.minor}"
    directory.mkdir(parents=True, exist_ok=True)
    missing = []
    for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"][group]:
        stamp = directory / f".{requirement}"
        if stamp.exists():
            continue
        # Without dependencies: those that are not ours are in the group themselves.
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        command += ["--upgrade", "--no-deps", "--only-binary", ":all:", "--target", str(directory)]
        if requirement.startswith("torch=="):
            command += ["--extra-index-url", TORCH_FOR_PROCESSORS, "--retries", "1", "--timeout", "10"]
        done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
        if done.returncode:
            missing.append(f"{requirement}: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
        else:
            stamp.touch()
    return directory, missing
