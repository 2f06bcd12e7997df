"""The ground truth of an edition, in memory and in a file."""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Task
from vocboard.evaluator.ground_truth import columns
from vocboard.evaluator.image_sets import ImageSets, Key
from vocboard.evaluator.tasks.parts import task_classes
from vocboard.evaluator.tasks.truth import Truth, as_bytes, as_text

FORMAT = 2  # version of the file format; increased when older versions cannot read it
READABLE = (1, FORMAT)  # in format 1 label maps were compressed pixels
_ARRAY_SUFFIX = ".npy"  # of the names of arrays in an .npz
_TRUTHS: Mapping[Task, type[Truth]] = task_classes("truth", Truth)


class GroundTruthFileError(Exception):
    """The file is not stored ground truth, or has an unsupported format version."""


@dataclass(frozen=True, eq=False, slots=True)
class GroundTruth:
    """The ground truth needed to score an edition's competitions.

    Attributes:
        edition: name of the edition.
        image_sets: the public part, including tasks without ground truth.
        truths: the secret part, without tasks that have no ground truth in the tree and cannot be scored.
        missing: why tasks of the edition are missing from `truths`, for the organiser.
        sha256: hexadecimal digest of the content, independent of its source; see `columns.digest`.
    """

    edition: str
    image_sets: ImageSets
    truths: Mapping[Key, Truth]
    missing: Mapping[Key, str]
    sha256: str

    @classmethod
    def of(cls, image_sets: ImageSets, truths: Mapping[Key, Truth], missing: Mapping[Key, str]) -> Self:
        """Return ground truth with its digest."""
        return cls(image_sets.edition, image_sets, truths, missing, columns.digest(image_sets, truths))

    def save(self, path: Path) -> None:
        """Write to a file that only this user can read, atomically.

        The file is an .npz without pickled objects, uncompressed for fast loading; label maps are stored as runs.
        """
        arrays: dict[str, NDArray[Any]] = {}
        for key, image_set in self.image_sets.sets.items():
            arrays |= {f"public/{'/'.join(key)}/{name}": a for name, a in columns.of_image_set(image_set).items()}
        for key, truth in self.truths.items():
            arrays |= {f"secret/{'/'.join(key)}/{name}": a for name, a in truth.arrays().items()}
        header = {
            "format": FORMAT,
            "edition": self.edition,
            "sha256": self.sha256,
            "public": list(self.image_sets.sets),
            "secret": list(self.truths),
            "missing": [(*key, reason) for key, reason in self.missing.items()],
        }
        arrays["header"] = as_bytes(json.dumps(header))
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file written by `save`.

        Raises:
            GroundTruthFileError: the file has another format.
            OSError: it cannot be read.
        """
        try:
            with path.open("rb") as stored, zipfile.ZipFile(stored) as file:
                header = json.loads(as_text(_read_array(file, "header")))
                if header["format"] not in READABLE:
                    known = " and ".join(map(str, READABLE))
                    raise GroundTruthFileError(f"{path.name}: format {header['format']}, this version reads {known}")
                names = [name.removesuffix(_ARRAY_SUFFIX) for name in file.namelist()]
                arrays = {name: _read_array(file, name) for name in names if name != "header"}
        except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise GroundTruthFileError(f"{path.name} is not stored ground truth: {error}") from error

        def below(half: str, key: Key) -> dict[str, NDArray[Any]]:
            prefix = f"{half}/{'/'.join(key)}/"
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        public = [(Task(task), image_set) for task, image_set in header["public"]]
        secret = [(Task(task), image_set) for task, image_set in header["secret"]]
        return cls(
            edition=header["edition"],
            image_sets=ImageSets(
                header["edition"], {key: columns.to_image_set(below("public", key)) for key in public}
            ),
            truths={key: _TRUTHS[key[0]].from_arrays(below("secret", key)) for key in secret},
            missing={(Task(task), image_set): reason for task, image_set, reason in header["missing"]},
            sha256=header["sha256"],
        )


def _read_array(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return an array of an .npz, which cannot be written to.

    `numpy.load` copies arrays of an .npz twice, which is a fifth of the time to load ground truth. This one is a view
    of the bytes that were read.
    """
    content = file.read(name + _ARRAY_SUFFIX)
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"{name} is an array of version {version}")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape, order="F" if is_fortran else "C")
