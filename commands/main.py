"""The program `vocboard`: dispatches to a command, and imports only that command's module."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from vocboard.evaluator import VERSION

COMMANDS = {
    "validate": "check result files offline, as the server does",
    "evaluate": "score result files against a development kit tree",
    "compare": "say which of several methods' scores differ by more than chance",
    "convert": "convert results and ground truth between other formats and VOC's",
    "view": "write an HTML page that shows images, annotations and results",
    "statistics": "count the images and objects of a tree",
    "check": "check your own ground truth, as the server does",
    "example": "train and run a small example method, and write its results",
    "new-edition": "create an edition file, a sample tree and a sample submission",
    "hash-images": "print hashes of training images from flickr, to declare with a submission",
    "login": "store a server's address and API token",
    "submit": "upload a results archive",
    "status": "show the state of submissions",
    "results": "show the scores of a submission",
    "leaderboard": "show a leaderboard",
    "demo": "run a complete server on this machine, with a sample challenge",
    "serve": "run the web application",
    "worker": "run a worker that evaluates submissions",
    "beat": "trigger the workers' periodic sweep",
    "health": "check whether a worker or beat is alive",
    "migrate": "migrate the database to the current schema",
    "admin": "manage users, tokens, challenges and ground truth",
}
USAGE_ERROR = 2
STATUS_OF_BROKEN_PIPE = 141  # the shell's convention for SIGPIPE
STATUS_OF_INTERRUPT = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, and return the exit status."""
    # Starting BLAS threads takes a third of numpy's import time, and vocboard's few matrix products are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(
        prog="vocboard", description="A challenge submission server in the tradition of the PASCAL VOC challenges."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s, evaluator {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers = {
        name: commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for name, text in COMMANDS.items()
    }
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    if called not in parsers:
        parser.parse_args(arguments)  # prints usage and exits
        return USAGE_ERROR
    try:
        command = importlib.import_module(f"vocboard.commands.{called.replace('-', '_')}")
        command.configure(parsers[called])
        status = int(command.run(parser.parse_args(arguments)))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again on exit
        return STATUS_OF_BROKEN_PIPE
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return STATUS_OF_INTERRUPT
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "vocboard":
            raise
        print(f'vocboard {called} needs the server\'s packages: pip install "vocboard[server]"', file=sys.stderr)
        return USAGE_ERROR


if __name__ == "__main__":
    sys.exit(main())
