"""What `vocboard validate` finds in each upload, costs and touches: `python -m tests.hostile.measure [UPLOAD...]`.

Each is read in a process of its own, forked from one that has everything imported, as the server's checks run in
processes of their own. Printed as JSON lines: processor seconds, mebibytes of memory beyond those at rest, every
path that was opened for writing, made, renamed or removed, every connection and every process that was started, and
the problems.
"""

import contextlib
import gc
import io
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import PIL.PngImagePlugin  # noqa: F401  # so that no measurement begins with importing it

import vocboard.commands.validate  # noqa: F401
from tests.hostile.folder import EDITIONS, Upload, public, uploads
from vocboard.commands.main import main as run

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
        status: of the command.
        problems: as it prints them.
    """

    name: str
    cpu: float
    memory: float
    touched: list[str]
    status: int
    problems: list[dict[str, Any]]


def measure(upload: Upload, image_sets: Path) -> Cost:
    """Read an upload in this process, which should do nothing else afterwards.

    Args:
        image_sets: file of the edition's, as a server hands them out.
    """
    touched: list[str] = []
    sys.dont_write_bytecode = True  # of modules that it imports
    sys.addaudithook(_watch(touched))
    memory, cpu = _resident(), _processor_seconds()
    status, printed = _validate(upload, image_sets)
    cpu, memory = _processor_seconds() - cpu, _most_resident() - memory
    problems = json.loads(printed)["problems"]
    return Cost(str(upload), round(cpu, 3), round(memory / _MIB, 1), touched, status, problems)


def _validate(upload: Upload, image_sets: Path) -> tuple[int, str]:
    edition = str(EDITIONS[upload.edition] or upload.edition)
    command = ["validate", edition, str(upload.path), "--image-sets", str(image_sets), "--json"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        return run(command), printed.getvalue()


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
    """Bytes of this process in memory; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _most_resident() -> int:
    """Most bytes that were in memory at once since the process began; a child of fork begins with none of its own."""
    if sys.platform != "linux":
        return 0
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def in_own_processes(chosen: Sequence[Upload]) -> list[Cost]:
    """Measure uploads one after the other, each in a child of this process, which must have no threads."""
    costs = []
    with tempfile.TemporaryDirectory() as directory:
        image_sets = {edition: Path(directory) / f"{edition}.json" for edition in EDITIONS}
        for edition, file in image_sets.items():
            file.write_text(public(edition).to_json())
        for upload in {upload.edition: upload for upload in uploads() if upload.is_accepted}.values():
            _validate(upload, image_sets[upload.edition])  # imports what each child would
        gc.freeze()  # collecting it in each child would copy it there
        for upload in chosen:
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                _report_and_exit(upload, image_sets[upload.edition], writing)
            os.close(writing)
            with open(reading, encoding="utf-8") as result:
                text = result.read()
            _, status = os.waitpid(child, 0)
            if status != 0:
                raise RuntimeError(f"{upload}: the process that read it ended with status {status}")
            costs.append(Cost(**json.loads(text)))
    return costs


def _report_and_exit(upload: Upload, image_sets: Path, writing: int) -> None:
    status = 1
    try:
        with open(writing, "w", encoding="utf-8") as result:
            result.write(json.dumps(asdict(measure(upload, image_sets))))
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
