"""Pack what operators need to start a release with Docker: docker-compose.yml with its published images, and deploy/.

Usage: python3 tools/compose_files.py NAME VERSION FILE

NAME is that of the images in their registry, such as ghcr.io/lab/vocboard; the proxy's ends in `-proxy`. FILE becomes a
.tar.gz with one directory.
"""

import io
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = (("image: vocboard\n", "build: .\n", ""), ("image: vocboard-proxy\n", "build: deploy/proxy\n", "-proxy"))
LEFT_OUT = ("deploy/proxy", "deploy/kubernetes", "deploy/systemd")


def main(name: str, version: str, file: str) -> int:
    """Write the file; return the exit status."""
    composed = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    for image, build, suffix in IMAGES:
        lines = composed.splitlines(keepends=True)
        number = next(number for number, line in enumerate(lines) if line.lstrip() == image)
        if lines[number + 1].lstrip() != build:
            raise ValueError(f"docker-compose.yml does not build {image.strip()} in the line below it")
        indent = lines[number].removesuffix(image)
        lines[number : number + 2] = [f"{indent}image: {name}{suffix}:{version}\n"]
        composed = "".join(lines)
    composed = composed.replace("make deploy-env writes", "deploy_env.py writes")
    directory = f"vocboard-{version}"
    with tarfile.open(file, "w:gz") as archive:
        entry = tarfile.TarInfo(f"{directory}/docker-compose.yml")
        entry.size, entry.mode = len(content := composed.encode()), 0o644
        archive.addfile(entry, io.BytesIO(content))
        archive.add(ROOT / "tools" / "deploy_env.py", f"{directory}/deploy_env.py")
        archive.add(
            ROOT / "deploy", f"{directory}/deploy", filter=lambda one: None if one.name.endswith(LEFT_OUT) else one
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
