"""The program `vocboard`: dispatches to a command, and imports only that command's module."""

import argparse
import errno
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from types import ModuleType

from vocboard.commands.reporting import CLOSED_PIPE, FAILED, INTERRUPTED, LIMITED, MISUSE, TERMINATED, say
from vocboard.evaluator import VERSION, extensions
from vocboard.evaluator.garbage import collection_paused

OFFLINE_COMMANDS = {
    "validate": "check result files offline, as the server does",
    "explain": "explain a problem that validate or a server reports",
    "evaluate": "score result files against a development kit tree",
    "compare": "say which of several methods' scores differ by more than chance",
    "convert": "convert results and ground truth between other formats and VOC's",
    "view": "write an HTML page that shows images, annotations and results",
    "statistics": "count the images and objects of a tree",
    "check": "check your own ground truth, as the server does",
    "example": "train and run a small example method, and write its results",
    "new-edition": "create an edition file, a sample tree and a sample submission",
    "check-edition": "check an edition file, as a server does",
    "schema": "print the JSON Schema of edition files, of problems, or of exported challenges",
    "hash-images": "print hashes of training images from flickr, to declare with a submission",
}
COMMANDS = OFFLINE_COMMANDS | {
    "login": "store a server's address and API token",
    "whoami": "show whose token is used, and what it permits",
    "challenges": "list the challenges of a server",
    "submit": "upload a results archive",
    "status": "show the state of submissions",
    "results": "show the scores of a submission",
    "edit": "change a submission's description, people, links, declarations and private note",
    "publish": "publish a scored submission on the leaderboards",
    "unpublish": "remove a submission from the leaderboards",
    "withdraw": "withdraw a submission, which cannot be undone",
    "download": "save the archive of a submission, or the edition and image sets of a challenge",
    "leaderboard": "show a leaderboard",
    "teams": "show, found, leave and change your team in a challenge",
    "questions": "ask the organisers of a challenge, and read their answers",
    "announcements": "read what the organisers of a challenge announce",
    "notifications": "list what you were told, and choose what you get by email",
    "webhooks": "let the server tell your programs what was scored, published or announced",
    "account": "change your name or affiliation, and download what is stored about you",
    "import": "create a draft challenge from a competition of Codabench, CodaLab or EvalAI",
    "completion": "print a script that completes commands in bash, zsh or fish",
    "demo": "run a complete server on this machine, with sample challenges",
}
SERVER_COMMANDS = {
    "serve": "run the web application",
    "worker": "run a worker that evaluates submissions",
    "beat": "trigger the workers' periodic sweep",
    "health": "check whether a worker or beat is alive",
    "migrate": "migrate the database to the current schema",
    "admin": "manage users, tokens, challenges and ground truth",
}
NEED_SERVER = {*SERVER_COMMANDS, "demo", "import"}  # the packages of vocboard-server
MODULES = {"import": "moving"}  # a module cannot have the name of a keyword
ASKED_BY_SHELL = "_ARGCOMPLETE"  # a shell that asks for completions sets it
_NO_TEXT = "surrogates not allowed"  # by which Python stands for bytes of arguments that it could not decode
_FULL = (errno.ENOSPC, errno.EDQUOT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, and return the exit status."""
    if os.getpid() == 1:
        # The kernel drops a SIGTERM that the first process of a container does not handle. Asked to stop while it
        # starts, a worker would go on until it is killed.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the program that started this one
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if isinstance(sys.stdout, io.TextIOWrapper):  # as stderr: a console or file of Windows may lack a sign of a name
        sys.stdout.reconfigure(errors="backslashreplace")
    # Starting BLAS threads takes a third of numpy's import time, and vocboard's few matrix products are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:] if argv is None else list(argv)
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    is_asked = ASKED_BY_SHELL in os.environ
    is_plain = not is_asked and arguments[:1] == [called]  # and neither help nor a version is wanted
    parser, parsers = _parsers(called if is_plain and called in COMMANDS | SERVER_COMMANDS else None)
    if is_asked:
        importlib.import_module("vocboard.commands.completion").complete(parser, parsers, _import_command)
    if argv is None and called not in {*SERVER_COMMANDS, "demo"}:
        os.environ.setdefault(extensions.VARIABLE, extensions.ALL)  # what servers load, operators choose
    if called not in parsers:
        parser.parse_args(arguments)  # prints usage and exits
        return MISUSE
    try:
        command = _import_command(called, for_good=argv is None)
        command.configure(parsers[called])
        status = int(command.run(parser.parse_args(arguments)))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of our output has closed it
        _discard_output()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None and called in COMMANDS:
            _discard_output()
            say(f"cannot write the output: {error.strerror}")
            return MISUSE
        if (message := _message(error, called)) is None:
            raise
        print(message, file=sys.stderr)
        return _status(error)


def _discard_output() -> None:
    """Discard what could not be written to standard output: Python flushes again on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message(error: Exception, called: str) -> str | None:
    """Return what to tell the user about an error of a command; None if it is one of the program."""
    from vocboard.client.errors import ClientError  # noqa: PLC0415  # seldom needed

    if isinstance(error, ClientError):
        return f"vocboard: {error}"
    if isinstance(error, UnicodeEncodeError) and called not in OFFLINE_COMMANDS and error.reason == _NO_TEXT:
        return f"vocboard: {error.object!r} is not text in the encoding of this system, {sys.getfilesystemencoding()}"
    if isinstance(error, OSError):
        return _message_of_files(error, called)
    if isinstance(error, ValueError) and called in {*SERVER_COMMANDS, "demo"}:
        if wrong := importlib.import_module("vocboard.app.settings").wrong_settings(error):
            lines = (f"vocboard {called}: settings are wrong or missing:", *(f"  {line}" for line in wrong))
            return "\n".join([*lines, "Settings are environment variables; docs/operators.md lists them."])
    elif isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] != "vocboard":
        return (
            f'vocboard {called} needs the server\'s packages: pip install "vocboard[server]"\n'
            "In a checkout: pip install . ./server"
        )
    return None


def _message_of_files(error: OSError, called: str) -> str | None:
    if called in OFFLINE_COMMANDS | SERVER_COMMANDS and error.filename is not None:
        is_full = called in OFFLINE_COMMANDS and error.errno in _FULL
        hint = "; nothing was left there; free some space, and try again" if is_full else ""
        return f"vocboard: {error.filename}: {error.strerror}{hint}"
    if called in SERVER_COMMANDS and isinstance(
        error, importlib.import_module("vocboard.app.storage.local_files").StoreUnavailableError
    ):
        return f"vocboard {called}: the store of archives and ground truth cannot be used: {error}"
    return None


def _status(error: Exception) -> int:
    from vocboard.client.errors import ClientError, LimitedError, MisuseError  # noqa: PLC0415  # as above

    if isinstance(error, ClientError) and not isinstance(error, MisuseError):
        return LIMITED if isinstance(error, LimitedError) else FAILED
    return MISUSE


def _parsers(only: str | None) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the program's parser, and those of its commands, without their arguments.

    The commands of servers have no line of their own in the help, so that participants see theirs.

    Args:
        only: a command, whose parser alone is made: those of all take as long as reading a small archive.
    """
    parser = argparse.ArgumentParser(
        prog="vocboard",
        description="A challenge submission server in the tradition of the PASCAL VOC challenges.",
        epilog=f"Commands that run a server: {', '.join(SERVER_COMMANDS)}. See `vocboard COMMAND --help`.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s, evaluator {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers = {
        name: commands.add_parser(name, help=text, description=_sentence(text))
        for name, text in COMMANDS.items()
        if only in {None, name}
    }
    parsers |= {
        name: commands.add_parser(name, description=_sentence(text))
        for name, text in SERVER_COMMANDS.items()
        if only in {None, name}
    }
    return parser, parsers


def _import_command(name: str, *, for_good: bool = False) -> ModuleType:
    """Import a command's module.

    Pauses garbage collection, which would find nothing and take 5 % of the start-up time.

    Args:
        for_good: whether this process runs only the command: existing objects are then never collected.

    Raises:
        ModuleNotFoundError: this is a participant's installation, and the command is one of servers.
    """
    if name in NEED_SERVER and find_spec("vocboard.app") is None:
        raise ModuleNotFoundError(name="vocboard_server")
    with collection_paused():
        module = importlib.import_module(f"vocboard.commands.{MODULES.get(name, name.replace('-', '_'))}")
        if for_good:
            gc.freeze()
        return module


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    sys.exit(main())
