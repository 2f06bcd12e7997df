"""What a participant says of a submission."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.fields import FieldChecks
from evaluator.editions import Competition, Edition, Task, Training

LONGEST_METHOD_NAME = 100
LONGEST_DESCRIPTION = 10_000
LONGEST_CONTRIBUTORS = 1_000
LONGEST_AFFILIATION = 200
LONGEST_TRAINING_STATEMENT = 10_000
LONGEST_ARCHIVE_NAME = 255


@dataclass(frozen=True, slots=True)
class SubmissionForm:
    """The fields that come with an archive, as they were typed.

    Attributes:
        description: of the method.
        training_data: what it was trained on; some competitions ask for it, see `training_statements`.
        segmentation_classes: those entered in the segmentation competitions; None for all.
        archive_name: the name of the uploaded file.
    """

    method_name: str
    description: str = ""
    contributors: str = ""
    affiliation: str = ""
    training_data: str = ""
    segmentation_classes: tuple[str, ...] | None = None
    archive_name: str = ""


def checked(form: SubmissionForm, *, edition: Edition, competitions: Iterable[str] = ()) -> SubmissionForm:
    """Return the form with its white space tidied.

    Args:
        competitions: the keys of those entered; none while the archive has not been read.

    Raises:
        InvalidInputError: with a message for every field that is wrong.
    """
    checks = FieldChecks()
    entered = [edition.competitions[key] for key in competitions]
    tidied = replace(
        form,
        method_name=checks.line("method_name", form.method_name, longest=LONGEST_METHOD_NAME, required=True),
        description=checks.text("method_description", form.description, longest=LONGEST_DESCRIPTION),
        contributors=checks.line("contributors", form.contributors, longest=LONGEST_CONTRIBUTORS),
        affiliation=checks.line("affiliation", form.affiliation, longest=LONGEST_AFFILIATION),
        training_data=checks.text("training_data", form.training_data, longest=LONGEST_TRAINING_STATEMENT),
        archive_name=_shortened(form.archive_name),
    )
    statements = training_statements(entered)
    if statements and not tidied.training_data:
        checks.fail("training_data", " ".join(statements))
    if form.segmentation_classes is not None:
        unknown = [name for name in form.segmentation_classes if name not in edition.classes]
        if unknown or not form.segmentation_classes:
            checks.fail("segmentation_classes", f"Name at least one class out of {', '.join(edition.classes)}.")
    checks.finish()
    return tidied


def training_statements(competitions: Iterable[Competition]) -> list[str]:
    """What entrants to these competitions must say of their training data; empty if nothing.

    Source: VOC document, "Competition rules" and the forms of the evaluation server.
    """
    competitions = tuple(competitions)
    statements = []
    free = [item.key for item in competitions if item.training is Training.ANY]
    if free:
        statements.append(
            f"For {', '.join(free)}, say what the training data was and whether it has images from flickr."
        )
    segmentation = [
        item.key for item in competitions if item.task is Task.SEGMENTATION and item.training is Training.TRAINVAL
    ]
    if segmentation:
        statements.append(
            f"For {', '.join(segmentation)}, say whether segmentations alone were used for training, or also bounding "
            "boxes or any annotation of other images."
        )
    return statements


def _shortened(name: str) -> str:
    """A file's name as the database keeps it: printable, its end kept."""
    printable = "".join(character for character in name if character.isprintable())
    return printable[-LONGEST_ARCHIVE_NAME:]
