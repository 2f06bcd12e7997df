"""Run one server for as long as the test run that asked for it lives, then delete its directory.

The test run holds the other end of this process's standard input. However that run ends, killed included, the pipe
closes, and the server goes with it: nothing is left behind to be found by the next run.

Usage: python guard.py DIRECTORY STOP_SIGNAL USER COMMAND [ARGUMENT...]  (USER is empty for the current one)
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

SECONDS_TO_STOP = 10.0


def guard(directory: Path, stop_signal: signal.Signals, user: str, command: list[str]) -> int:
    """Run the command until it ends or standard input closes; then, in the second case, delete the directory."""
    with (directory / "log").open("ab") as log:
        server = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            user=user or None,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
        )
    abandoned = threading.Event()
    threading.Thread(target=stop_when_abandoned, args=(server, stop_signal, abandoned), daemon=True).start()
    status = server.wait()
    if abandoned.is_set():  # a server that ended by itself leaves its log to be read
        shutil.rmtree(directory, ignore_errors=True)
    return status


def stop_when_abandoned(
    server: subprocess.Popen[bytes], stop_signal: signal.Signals, abandoned: threading.Event
) -> None:
    """Wait for standard input to close, then stop the server, at last by force."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    abandoned.set()
    server.send_signal(stop_signal)
    try:
        server.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    sys.exit(guard(Path(sys.argv[1]), signal.Signals(int(sys.argv[2])), sys.argv[3], sys.argv[4:]))
