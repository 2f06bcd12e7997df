"""Machine and versions of a measurement."""

import os
import platform
from importlib import metadata
from pathlib import Path

OURS = ("numpy", "pillow", "lxml", "pyarrow")


def cache_directory() -> Path:
    """Where synthetic data, peers and figures are kept; created if missing."""
    directory = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vocboard-benchmarks"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def describe_machine() -> str:
    """Processor, number of them, memory, system, and how busy it is with other things."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} x {_processor()}, {memory:.0f} GiB, {system}; load {os.getloadavg()[0]:.1f}"


def versions(peers: Path) -> str:
    """Versions of what takes part."""
    found = [f"{name} {metadata.version(name)}" for name in OURS]
    found += sorted(f"{each.name} {each.version}" for each in metadata.distributions(path=[str(peers)]))
    return ", ".join(found)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
