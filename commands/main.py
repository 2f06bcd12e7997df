"""The program `vocboard`: finds the command that is called, and imports that one alone."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from vocboard.evaluator import VERSION

COMMANDS = {
    "validate": "check result files as the server does, offline",
    "evaluate": "score result files against a development kit tree",
    "convert": "convert results and ground truth of other tools to VOC's formats, and back",
    "view": "write a page to look at images, annotations and results",
    "statistics": "print how many images and objects a tree has",
    "check": "check ground truth of one's own as a server does",
    "example": "train and run a small method for a task, and write its results",
    "new-edition": "write an edition file, a sample tree and a sample submission from a few answers",
    "hash-images": "print the hashes of images from flickr that a method was trained on, to be declared",
    "login": "keep a server's address and an API token on this machine",
    "submit": "upload a results archive and follow it until it is scored",
    "status": "show the state of submissions",
    "results": "show the scores of a submission",
    "leaderboard": "show a leaderboard",
    "demo": "run a whole server on this machine, with a challenge to look at",
    "serve": "run the web application",
    "worker": "run a worker, which evaluates submissions",
    "beat": "wake the workers from time to time",
    "health": "tell whether a worker or beat does its work",
    "migrate": "bring the database to the newest migration",
    "admin": "manage people, tokens, challenges and ground truth",
}
USAGE_ERROR = 2
STATUS_OF_BROKEN_PIPE = 141  # as shells have it for SIGPIPE
STATUS_OF_INTERRUPT = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, and return the exit status."""
    # Ours are no matrices to multiply, and numpy's BLAS spends a third of numpy's import on starting threads for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(
        prog="vocboard", description="A challenge submission server in the tradition of the PASCAL VOC challenges."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s, evaluator {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers = {name: commands.add_parser(name, help=text) for name, text in COMMANDS.items()}
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    if called not in parsers:
        parser.parse_args(arguments)  # explains itself and exits
        return USAGE_ERROR
    try:
        command = importlib.import_module(f"vocboard.commands.{called.replace('-', '_')}")
        command.configure(parsers[called])
        status = int(command.run(parser.parse_args(arguments)))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
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
