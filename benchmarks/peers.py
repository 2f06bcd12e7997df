"""Peers, from the dependency group `bench`: into a directory of their own, so that no lock has to hold them."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def install(cache: Path) -> tuple[Path, list[str]]:
    """Install the peers; return where they are, and who could not be installed and why."""
    directory = cache / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
    directory.mkdir(parents=True, exist_ok=True)
    missing = []
    for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["bench"]:
        stamp = directory / f".{requirement}"
        if stamp.exists():
            continue
        # Without dependencies: all that they need of others is numpy, and that is ours.
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        command += ["--upgrade", "--no-deps", "--only-binary", ":all:", "--target", str(directory), requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            missing.append(f"{requirement}: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
        else:
            stamp.touch()
    return directory, missing
