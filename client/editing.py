"""What is changed of what a submission says about its method, as the API takes it."""

from os import PathLike
from pathlib import Path

from vocboard.client.errors import MisuseError

# Names of arguments and options, and of the API.
FIELDS = {
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


def editing(**given: str | PathLike[str] | None) -> dict[str, str]:
    """Return the body of a request that changes a submission; None leaves a value as it is.

    Args:
        given: values by the names of `FIELDS`; `flickr_image_hashes` is a file.

    Raises:
        MisuseError: the file cannot be read.

    >>> editing(description="", note=None, paper_url="https://example.org/paper")
    {'method_description': '', 'paper_url': 'https://example.org/paper'}
    """
    changes = {}
    for name, value in given.items():
        if value is None:
            continue
        changes[FIELDS[name]] = hash_list(value) if name == "flickr_image_hashes" else str(value)
    return changes


def hash_list(file: str | PathLike[str]) -> str:
    """Return the list that `vocboard hash-images` has written.

    Raises:
        MisuseError: the file cannot be read.
    """
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"cannot read {file}: {error}") from error
