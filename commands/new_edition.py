"""`vocboard new-edition`: create a challenge from the answers to a few questions."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE
from vocboard.evaluator.conversion.result_archive import write_results
from vocboard.evaluator.editions import Edition, EditionFileError, Task, image_sets_of, read_text
from vocboard.evaluator.editions.column_names import reserved_name
from vocboard.evaluator.examples.material import ExampleError, read_material
from vocboard.evaluator.examples.run import example_files
from vocboard.evaluator.new_edition import QUESTIONS, Answers, edition_text, write_sample_tree
from vocboard.evaluator.new_edition.answers import Question, listed
from vocboard.evaluator.problems.trees import GroundTruthError
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.tasks.definitions import name_lists
from vocboard.evaluator.whole_output import OutputExistsError, whole_directory

RESULTS = "results.tar.gz"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Ask a few questions, and write an edition file, a sample tree and a sample submission. They "
        "form a working challenge that you can adapt. Press Enter to accept a default. Exit status: 0 written, 2 "
        "usage error."
    )
    parser.add_argument("--output", metavar="DIR", type=Path, default=Path("new-edition"), help="directory to write")
    parser.add_argument(
        "--edition-file", metavar="FILE", type=Path, help="write the samples of this edition file, and ask nothing"
    )
    for question in QUESTIONS:
        name = f"--{question.field.replace('_', '-')}"
        parser.add_argument(name, metavar="TEXT", help=f"{question.text} (instead of asking)")


def run(arguments: argparse.Namespace) -> int:
    """Ask the questions, and write the files."""
    text, file = _given(arguments.edition_file) if arguments.edition_file else _asked(arguments)
    try:
        edition = read_text(text, file)
    except EditionFileError as error:
        what = "this is not" if arguments.edition_file else "these answers do not give"
        raise MisuseError(f"{what} a valid edition\n{error}") from error
    if not arguments.edition_file and (wrong := reserved_name(edition)):
        raise MisuseError(wrong)
    try:
        with whole_directory(arguments.output, "new edition") as directory:
            (directory / file).write_text(text, encoding="utf-8")
            write_sample_tree(edition, directory)
            with Progress("images") as progress:
                _write_sample_submission(edition, directory, progress.advance)
    except OutputExistsError as error:
        raise MisuseError(str(error)) from error
    except (ExampleError, GroundTruthError) as error:  # of the task of an extension
        raise MisuseError(f"no samples can be drawn: {error}") from error
    output, tree = arguments.output, arguments.output / edition.name
    print(f"{output / file}    the edition file; docs/editions/own.md describes its other settings")
    print(f"{tree}    a sample tree, with the sets train, val and {', '.join(image_sets_of(edition))}")
    print(f"{output / RESULTS}    a sample submission, produced by the example methods")
    print(f"Try: vocboard evaluate {output / file} {output / RESULTS} --ground-truth {output}")
    return DONE


def _given(path: Path) -> tuple[str, str]:
    try:
        return path.read_text(encoding="utf-8-sig"), path.name
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"{path}: {error}") from error


def _asked(arguments: argparse.Namespace) -> tuple[str, str]:
    answers = _ask(arguments)
    return edition_text(answers), f"{answers.name.lower()}.toml"


def _ask(arguments: argparse.Namespace) -> Answers:
    answers: dict[str, str] = {}
    for question in QUESTIONS:
        if question.needs_task is None or question.needs_task in listed(answers["tasks"]):
            given = getattr(arguments, question.field)
            answers[question.field] = _answer(question) if given is None else given
            if question.field == "overlap":
                _check_fraction(question, answers[question.field])
            for item in listed(answers[question.field]) if question.choices else ():
                if item not in question.choices:
                    raise MisuseError(f"{question.text}: {item!r} is not one of {', '.join(question.choices)}")
    lists = {key: answers.pop(key) for key in name_lists() if key in answers}
    return Answers(**answers, lists=lists)


def _check_fraction(question: Question, text: str) -> None:
    """Raise an error unless an answer is a fraction.

    Raises:
        MisuseError: it is not.
    """
    try:
        is_fraction = 0 <= float(text) <= 1
    except ValueError:
        is_fraction = False
    if not is_fraction:
        raise MisuseError(f"{question.text}: {text!r} is not a number from 0 to 1")


def _answer(question: Question) -> str:
    print(f"{question.text} [{question.default}]: ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        print(file=sys.stderr)
    return line.strip() or question.default


def _write_sample_submission(edition: Edition, directory: Path, progress: Callable[[int], None]) -> None:
    """Run the example of every task on the edition's own test set."""
    test = image_sets_of(edition)[0]
    files: list[tuple[str, bytes]] = []
    for task in dict.fromkeys(competition.task for competition in edition.competitions.values()):
        material = read_material(directory, edition, Task(task), train="train", test=test, progress=progress)
        files += example_files(material)[1]
    write_results(directory / RESULTS, edition, files, read_image_sets(directory, edition), edition.competitions)
