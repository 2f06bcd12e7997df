"""Questions of `vocboard submit` before the upload: missing declarations, and whether classes are left out on purpose.

It asks in a terminal only. Elsewhere, what the server would refuse is an error before the upload.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vocboard.client.answers import Challenge, DeclarationType
from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Connection
from vocboard.client.errors import MisuseError, RefusedError, WarningsNotAcceptedError
from vocboard.client.paths import path
from vocboard.client.terminal import printable
from vocboard.commands.reporting import say

if TYPE_CHECKING:
    from vocboard.evaluator.editions import Edition

ANNOTATIONS = ("segmentation_only", "other_annotation")
QUESTIONS = {
    "training_data": "What was the method trained on?",
    "training_annotation": "Was it trained on segmentations only, or also on boxes or other annotation?",
    "flickr_images": "Was it trained on images from flickr?",
}
CHOICES = {"training_annotation": ANNOTATIONS, "flickr_images": ("no", "yes")}


def in_terminal() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """Ask a question, and return the answer.

    Raises:
        MisuseError: there is none: the input ended.
    """
    print(f"vocboard: {question} ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise MisuseError("nothing was submitted")
    return line.strip()


def confirm(question: str) -> bool:
    """Ask a question whose answer is no by default."""
    return ask(f"{question} [y/N]").lower() in ("y", "yes")


def complete(arguments: argparse.Namespace, connection: Connection, found: Challenge, archive: OutgoingArchive) -> None:
    """Fill in what the competitions in the archive require and the command does not give.

    Raises:
        MisuseError: something required is missing, and there is no terminal to ask in; or the answer is no.
    """
    from vocboard.client.contents import entered  # noqa: PLC0415  # loads numpy, only needed here
    from vocboard.evaluator.reading.completeness import classes_not_entered  # noqa: PLC0415  # as above

    _check_given(arguments, found.declaration_types)
    edition = _edition(connection, arguments.challenge)
    competitions = {} if edition is None else entered(archive.path, edition)
    needed = {
        declaration: [key for key in keys if key in competitions] for declaration, keys in found.declarations.items()
    }
    missing = {
        declaration: keys
        for declaration, keys in needed.items()
        if keys
        and (declaration in QUESTIONS or declaration in found.declaration_types)
        and not _given(arguments, declaration)
    }
    if _given(arguments, "training_data"):  # it also says which annotation was used
        missing.pop("training_annotation", None)
    if in_terminal():
        _ask_for_declarations(arguments, missing, found.declaration_types)
    else:
        _check_declarations(missing, found.declaration_types)
    if _given(arguments, "flickr_images") == "yes" and arguments.flickr_image_hashes is None:
        raise MisuseError(
            "images from flickr have to be listed: run `vocboard hash-images DIRECTORY > FILE`, and run this command "
            "again with --flickr-images yes --flickr-image-hashes FILE"
        )
    if edition is not None:
        _ask_about_classes(classes_not_entered(competitions, edition), edition)


def _edition(connection: Connection, slug: str) -> "Edition | None":
    from vocboard.client.client import EDITION_MEDIA_TYPE  # noqa: PLC0415  # loads numpy, only needed here
    from vocboard.evaluator import editions  # noqa: PLC0415

    try:
        text = connection.get_text(path("challenges", slug, "edition"), accept=EDITION_MEDIA_TYPE)
        return editions.read_text(text, slug)
    except RefusedError:
        return None
    except editions.EditionFileError:
        say(
            "only the server checks what the archive lacks: the edition needs an extension that is not installed here, "
            "or a newer vocboard"
        )
        return None


def _given(arguments: argparse.Namespace, declaration: str) -> str:
    return dict(arguments.declare).get(declaration) or getattr(arguments, declaration, None) or ""


def _ask_for_declarations(
    arguments: argparse.Namespace, missing: Mapping[str, Sequence[str]], types: Mapping[str, DeclarationType]
) -> None:
    for declaration, keys in missing.items():
        if declaration == "training_annotation" and _given(arguments, "training_data"):
            continue
        question = f"{', '.join(map(printable, keys))}: {_question(declaration, types)}"
        while not (answer := ask(question)) or not _is_answer(answer, declaration, types):
            if not answer and declaration not in QUESTIONS and not types[declaration].is_required:
                break
        if answer:
            arguments.declare = [*arguments.declare, (declaration, answer)]


def _question(declaration: str, types: Mapping[str, DeclarationType]) -> str:
    choices = _choices(declaration, types)
    question = QUESTIONS.get(declaration)
    if question is None:
        asked = types[declaration]
        question = f"{printable(asked.title)}{', in ' * bool(asked.unit)}{printable(asked.unit)}?"
        question += "" if asked.is_required else " (Enter to declare it later)"
    return f"{question} [{'/'.join(map(printable, choices))}]" if choices else question


def _check_given(arguments: argparse.Namespace, types: Mapping[str, DeclarationType]) -> None:
    """Check `--declare` before the upload.

    Raises:
        MisuseError: the challenge does not know the declaration, or the value is not of its kind.
    """
    for name, value in arguments.declare:
        if name not in QUESTIONS and name not in types:
            known = ", ".join(map(printable, dict.fromkeys((*types, *QUESTIONS))))
            raise MisuseError(f"the challenge knows no declaration {printable(name)!r}; it knows {known}")
        if value and not _is_answer(value, name, types):
            expected = " or ".join(map(printable, _choices(name, types))) or "a number that is at least 0"
            raise MisuseError(f"--declare {printable(name)}: expected {expected}, not {printable(value)!r}")


def _choices(declaration: str, types: Mapping[str, DeclarationType]) -> tuple[str, ...]:
    return CHOICES.get(declaration, ()) if declaration in QUESTIONS else tuple(types[declaration].choices)


def _is_answer(answer: str, declaration: str, types: Mapping[str, DeclarationType]) -> bool:
    """Whether an answer is of the declaration's kind."""
    choices = _choices(declaration, types)
    if choices or declaration in QUESTIONS or types[declaration].kind != "number":
        return not choices or answer in choices
    try:
        return 0 <= float(answer) < float("inf")
    except ValueError:
        return False


def _check_declarations(missing: Mapping[str, Sequence[str]], types: Mapping[str, DeclarationType]) -> None:
    """Name everything that is missing at once. What may be declared later is only pointed out."""
    later = {"flickr_images", *(name for name, asked in types.items() if not asked.is_required)}
    required = {name: keys for name, keys in missing.items() if name not in later}
    if "training_data" in required:
        required.pop("training_annotation", None)
    if required:
        described = [f"{_option(name)} for {', '.join(map(printable, keys))}" for name, keys in required.items()]
        raise MisuseError(f"the competitions in the archive require declarations; add {' and '.join(described)}")
    for name, keys in missing.items():  # none of them is required
        require = "requires" if len(keys) == 1 else "require"
        say(
            f"{', '.join(map(printable, keys))} {require} {_option(name)}; without it, the result is marked as lacking "
            f"this declaration"
        )


def _option(declaration: str) -> str:
    if declaration not in QUESTIONS:
        return f"--declare {printable(declaration)}=VALUE"
    return "--" + declaration.replace("_", "-")


def _ask_about_classes(missing: Mapping[str, Sequence[str]], edition: "Edition") -> None:
    """Point out classes without a file, and ask in a terminal whether they are left out on purpose."""
    from vocboard.evaluator.reading.completeness import sentence  # noqa: PLC0415  # loads numpy

    if not missing:
        return
    say(printable(sentence(missing, edition)))
    if in_terminal() and not confirm("Submit without them?"):
        raise MisuseError("nothing was submitted; add the missing files, and run the command again")


def accepts_warnings(error: WarningsNotAcceptedError) -> bool:
    """Ask in a terminal whether to submit results of which many seem to be wrong; elsewhere the answer is no."""
    say(printable(str(error)))
    return in_terminal() and confirm("Submit them with these warnings?")
