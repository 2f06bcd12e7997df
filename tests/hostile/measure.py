"""What reading each upload costs, and what it touches: `python -m tests.hostile.measure [UPLOAD...]`.

Each is read in a process of its own, forked from one that has everything imported, as the server's checks run in
processes of their own. Printed as JSON lines: processor seconds, mebibytes of memory beyond those at rest, and every
path that was opened for writing, made, renamed or removed, every connection and every process that was started.
"""

import gc
import json
import os
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import PIL.PngImagePlugin  # noqa: F401  # so that no measurement begins with importing it

from tests.hostile.folder import Upload, edition_of, public, uploads
from vocboard.evaluator.reading.results import read_results

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_HARMFUL = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.truncate")
_OUTWARD = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What reading one upload took.

    Attributes:
        cpu: seconds.
        memory: most mebibytes resident at once, beyond those before.
        touched: what was done to files, the network or processes.
        codes: of the problems found.
    """

    name: str
    cpu: float
    memory: float
    touched: list[str]
    codes: list[str]


def measure(upload: Upload) -> Cost:
    """Read an upload in this process, which should do nothing else afterwards."""
    edition, image_sets = edition_of(upload.edition), public(upload.edition)
    touched: list[str] = []
    sys.addaudithook(_watch(touched))
    memory, cpu = _resident(), _processor_seconds()
    problems = read_results(upload.path, edition, image_sets).problems
    cpu, memory = _processor_seconds() - cpu, _most_resident() - memory
    return Cost(str(upload), round(cpu, 3), round(memory / _MIB, 1), touched, [problem.code for problem in problems])


def _watch(touched: list[str]) -> Callable[[str, tuple[object, ...]], None]:
    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
            if writes or (isinstance(flags, int) and flags & _WRITING):
                touched.append(f"{event} {path}")
        elif event in _HARMFUL or event in _OUTWARD:
            touched.append(f"{event} {arguments}")

    return hook


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _most_resident() -> int:
    """Most bytes that were in memory at once since the process began; a child of fork begins with none of its own."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def in_own_processes(chosen: Sequence[Upload]) -> list[Cost]:
    """Measure uploads one after the other, each in a child of this process, which must have no threads."""
    costs = []
    for upload in chosen:
        public(upload.edition)  # once for all of the edition, and not in each child
    gc.freeze()  # collecting it in each child would copy it there
    for upload in chosen:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _report_and_exit(upload, writing)
        os.close(writing)
        with open(reading, encoding="utf-8") as result:
            text = result.read()
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise RuntimeError(f"{upload}: the process that read it ended with status {status}")
        costs.append(Cost(**json.loads(text)))
    return costs


def _report_and_exit(upload: Upload, writing: int) -> None:
    status = 1
    try:
        os.write(writing, json.dumps(asdict(measure(upload))).encode())
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    """Measure the uploads that the command line names, or all."""
    named = sys.argv[1:]
    for cost in in_own_processes([upload for upload in uploads() if not named or upload.path.name in named]):
        print(json.dumps(asdict(cost)), flush=True)


if __name__ == "__main__":
    main()
