"""Pin the images of Dockerfiles and docker-compose.yml by digest: `make pin-images`.

A tag can be moved to another image, a digest cannot. Asks the registries for the current digest of each tag, with
`docker buildx imagetools`, and writes `image:tag@sha256:...`. Dependabot proposes newer ones afterwards.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("Dockerfile", "deploy/proxy/Dockerfile", "docker-compose.yml")
# Images that are built here have no tag.
_IMAGE = re.compile(r"^(?P<before>FROM |\s+image: )(?P<image>[\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s|$)", re.M)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def pinned(text: str, digest_of: Callable[[str], str]) -> str:
    """Return a Dockerfile or compose file with the digest of each image behind its tag.

    >>> print(pinned("FROM python:3.13 AS build\\nFROM build\\n", lambda image: "sha256:" + "0" * 64)[:26])
    FROM python:3.13@sha256:00
    """
    return _IMAGE.sub(lambda found: f"{found['before']}{found['image']}@{digest_of(found['image'])}", text)


def current_digest(image: str) -> str:
    """Ask the registry for the digest of an image's tag, that of all architectures together.

    Raises:
        RuntimeError: the registry cannot be reached, or has no such image.
    """
    command = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not _DIGEST.fullmatch(digest := done.stdout.strip()):
        raise RuntimeError(f"No digest of {image}: {(done.stderr or done.stdout).strip()}")
    return digest


def main() -> int:
    """Pin all of them, or change nothing; return the exit status."""
    try:
        texts = {name: pinned((ROOT / name).read_text(encoding="utf-8"), current_digest) for name in FILES}
    except (OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, text in texts.items():
        (ROOT / name).write_text(text, encoding="utf-8")
    print("Pinned. Look at the change with `git diff`, build and test, then commit it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
