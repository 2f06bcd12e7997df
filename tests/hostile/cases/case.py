"""One file of the folder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

EDITION = "VOC2012"


@dataclass(frozen=True, slots=True)
class Case:
    """An upload.

    Attributes:
        name: of its file, in `accept/` or `reject/`.
        about: what it is.
        make: returns its bytes.
        codes: of the problems it has, in their order, one for each run of equal ones.
        is_accepted: whether the server takes it.
        edition: of the challenge it is uploaded to.
    """

    name: str
    about: str
    make: Callable[[], bytes]
    codes: tuple[str, ...]
    is_accepted: bool
    edition: str = EDITION


Cases = Iterator[Case]


def accepted(name: str, about: str, make: Callable[[], bytes], *codes: str, edition: str = EDITION) -> Case:
    """An upload that is taken, with warnings or without."""
    return Case(name, about, make, codes, is_accepted=True, edition=edition)


def rejected(name: str, about: str, make: Callable[[], bytes], *codes: str, edition: str = EDITION) -> Case:
    """An upload that is refused."""
    return Case(name, about, make, codes, is_accepted=False, edition=edition)
