"""Shared code of all commands: exit statuses, messages on standard error, and JSON on standard output.

Exit statuses: 0 success; 1 the results have problems, or there is no score; 2 usage error; 3 server or network error;
4 a quota or rate limit is used up, so that the same command can succeed later. `main` returns those of errors.
"""

import json
import sys
from typing import Any

DONE, PROBLEMS, MISUSE, FAILED, LIMITED = 0, 1, 2, 3, 4
INTERRUPTED, CLOSED_PIPE, TERMINATED = 130, 141, 143  # the shell's conventions for SIGINT, SIGPIPE and SIGTERM


def say(text: str) -> None:
    """Print a message to standard error."""
    print(f"vocboard: {text}", file=sys.stderr)


def print_json(content: Any) -> None:
    """Print a JSON document in ASCII, so that untrusted text cannot control the terminal.

    Undefined numbers must already be null.
    """
    print(json.dumps(content, indent=2, allow_nan=False))
