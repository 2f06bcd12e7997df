"""Fuzz one reader with atheris: `python -m tests.fuzz READER [SECONDS]`.

Inputs that reach new code are kept in `CORPUS` (default: a directory that is removed), what breaks a promise is written
to `FINDINGS` (default: the current directory). Needs the dependency group `fuzz`.
"""

import argparse
import resource
import sys
import tempfile
from pathlib import Path

SECONDS = 20
SECONDS_FOR_ONE_INPUT = 5
MEMORY_MIB = 1024

# Python modules under the readers, where the fuzzer should see branches too.
INSTRUMENTED = [
    "vocboard.evaluator",
    "tarfile",
    "zipfile",
    "gzip",
    "_compression",
    "PIL.PngImagePlugin",
    "PIL.ImageFile",
]


def main() -> None:
    """Fuzz what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("reader", choices=["archive", "text", "xml", "png"])
    parser.add_argument("seconds", nargs="?", type=int, default=SECONDS)
    parser.add_argument("--corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--findings", type=Path, metavar="FINDINGS", default=Path())
    arguments = parser.parse_args()
    # The peak that the fuzzer compares includes that of the process that started this one.
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1024 * 1024)
    import atheris  # noqa: PLC0415  # only this command needs it

    with atheris.instrument_imports(include=INSTRUMENTED):
        from tests.fuzz.readers import READERS  # noqa: PLC0415
        from tests.fuzz.seeds import MAX_BYTES, SEEDS, WORDS  # noqa: PLC0415

    # The fuzzer ends the process itself, so what is in here is left to the system's cleaning of temporary files.
    scratch = Path(tempfile.mkdtemp(prefix="vocboard-fuzz-"))
    corpus, seeds, words = arguments.corpus or scratch / "corpus", scratch / "seeds", scratch / "words"
    for directory in (corpus, seeds, arguments.findings):
        directory.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[arguments.reader]()):
        (seeds / f"{number:04}").write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS[arguments.reader]))
    options = {
        "max_total_time": arguments.seconds,
        "max_len": MAX_BYTES,
        "timeout": SECONDS_FOR_ONE_INPUT,
        "rss_limit_mb": peak_mib + MEMORY_MIB,
        "dict": words,
        "artifact_prefix": f"{arguments.findings}/{arguments.reader}-",
        "print_final_stats": 1,
    }
    command = [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus), str(seeds)]
    atheris.Setup(command, READERS[arguments.reader])
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
