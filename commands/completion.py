"""`vocboard completion`: print a script that completes commands, options and files in a shell."""

import argparse
import os
import shlex
from collections.abc import Callable, Mapping
from types import ModuleType

import argcomplete
from argcomplete.shell_integration import shellcode

_LINE = "COMP_LINE"  # in which the shell gives the line
SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=SHELLS)
    parser.epilog = 'For example, put this into ~/.bashrc: eval "$(vocboard completion bash)"'


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(shellcode(["vocboard"], shell=arguments.shell))
    return 0


def complete(
    parser: argparse.ArgumentParser,
    commands: Mapping[str, argparse.ArgumentParser],
    imported: Callable[[str], ModuleType],
) -> None:
    """Answer a shell that asks how its line can go on, and exit. Imports only the module of the line's command."""
    try:
        words = shlex.split(os.environ.get(_LINE, ""))[1:]
    except ValueError:  # an open quotation mark
        words = os.environ[_LINE].split()[1:]
    if (called := next((word for word in words if word in commands), None)) is not None:
        imported(called).configure(commands[called])
    argcomplete.autocomplete(parser)
