"""What is said about a submission and its method, and changes of that, in the API's format."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from vocboard.client.connection import FieldValue
from vocboard.client.errors import MisuseError

# Names of arguments and options, and of the API.
FIELDS = {
    "method": "method_name",
    "description": "method_description",
    "contributors": "contributors",
    "affiliation": "affiliation",
    "paper_url": "paper_url",
    "code_url": "code_url",
    "note": "note",
    "training_data": "training_data",
    "training_annotation": "training_annotation",
    "flickr_images": "flickr_images",
    "flickr_image_hashes": "flickr_image_hashes",
}


class Changes(TypedDict, total=False):
    """Return the body of a change. None keeps a value; an empty text removes it.

    Attributes:
        method: name of the method, for all of its versions.
        description: description of the method.
        contributors, affiliation: of the authors.
        paper_url, code_url: links to paper and code, for all versions of the method.
        note: private note, which only its owner and the team see.
        training_data: what the method was trained on.
        training_annotation: for segmentation methods: `segmentation_only` or `other_annotation`.
        flickr_images: whether the method was trained on images from flickr: `yes` or `no`.
        flickr_image_hashes: with `yes`, the file that `vocboard hash-images` writes.
        declarations: values by name of those that the edition asks for.
    """

    method: str | None
    description: str | None
    contributors: str | None
    affiliation: str | None
    paper_url: str | None
    code_url: str | None
    note: str | None
    training_data: str | None
    training_annotation: str | None
    flickr_images: str | None
    flickr_image_hashes: str | PathLike[str] | None
    declarations: Mapping[str, str | float] | None


def changes_body(**changes: Unpack[Changes]) -> dict[str, str]:
    """Return the body of a request that changes a submission.

    Raises:
        MisuseError: the file cannot be read.

    >>> changes_body(description="", note=None, paper_url="https://example.org/paper")
    {'method_description': '', 'paper_url': 'https://example.org/paper'}
    >>> changes_body(declarations={"parameters": 25.6})
    {'parameters': '25.6'}
    """
    given: dict[str, Any] = dict(changes)
    declared: Mapping[str, str | float] = given.pop("declarations", None) or {}
    body = {
        FIELDS[name]: _hash_list(value) if name == "flickr_image_hashes" else str(value)
        for name, value in given.items()
        if value is not None
    }
    return body | {name: str(value) for name, value in declared.items()}


def submission_form(
    segmentation_classes: Sequence[str] | None, *, publish: bool, accept_warnings: bool, **said: Unpack[Changes]
) -> dict[str, FieldValue]:
    """Return the form of a new submission. The server has defaults for what is None.

    Raises:
        MisuseError: the file cannot be read.
    """
    form: dict[str, FieldValue] = {**changes_body(**said)}
    if segmentation_classes is not None:
        form["segmentation_classes"] = list(segmentation_classes)
    chosen = {"publish": publish, "accept_warnings": accept_warnings}
    return form | {name: "true" for name, is_chosen in chosen.items() if is_chosen}


def _hash_list(file: str | PathLike[str]) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"cannot read {file}: {error}") from error
