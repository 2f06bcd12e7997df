"""`vocboard worker` in which evaluations of some archives break a limit, as `POISON` says of their hashes.

Usage of this module as a program: POISON='{"<sha256>": "memory"}' python -m tests.support.poisoned worker
"""

import functools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from vocboard.app.submissions.models import Uploaded
from vocboard.commands.main import main
from vocboard.worker import columns, evaluation, stored_columns


class Forking:
    """What forks when it is called, in the confined process that reads an archive and cannot import our tests."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        """Be pickled as a function without a module."""
        return eval, ("lambda *_, **__: __import__('os').fork()",)


def poisoned(evaluate: Any, poison: Mapping[str, str], uploaded: Uploaded, *given: Any, **rest: Any) -> Any:
    """Evaluate, or break a limit."""
    match poison.get(uploaded.archive_sha256):
        case "memory":
            np.ones(3 * 1024**3, np.uint8)
        case "time":
            busy_until = time.monotonic() + 2  # longer than the lease
            while time.monotonic() < busy_until:
                pass
            os.read(os.pipe()[0], 1)  # nobody writes to it
        case "fork":
            with patch.object(stored_columns, "CHECK", Forking()):
                return evaluate(uploaded, *given, **rest)
        case "scratch":
            with patch.object(tempfile, "TemporaryFile", lambda: open("/dev/full", "w+b")):
                return evaluate(uploaded, *given, **rest)
    return evaluate(uploaded, *given, **rest)


if __name__ == "__main__":
    with patch.object(
        evaluation, "evaluate", functools.partial(poisoned, columns.evaluate, json.loads(os.environ["POISON"]))
    ):
        sys.exit(main(sys.argv[1:]))
