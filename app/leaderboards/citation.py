"""How to cite a method: a BibTeX entry."""

import re
import unicodedata
import uuid

from vocboard.app.leaderboards.export import escaped

# BibTeX counts braces also after a backslash, so escaped ones must not be in a value.
_UNBALANCED = {r"\{": r"\textbraceleft{}", r"\}": r"\textbraceright{}", r"\textquotedbl{}": "{''}"}
_SEPARATORS = re.compile(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+")
_KEY_LENGTH = 30


def bibtex(
    *, method_id: uuid.UUID, method: str, contributors: str, challenge: str, year: int, address: str, note: str = ""
) -> str:
    r"""Return the entry of a method's page.

    Args:
        contributors: names, separated by commas or "and".
        address: of the page.
        note: what was published.

    >>> print(bibtex(method_id=uuid.UUID(int=0), method="R-CNN {50%}", contributors="A. Turing, G. Hopper and K. J.",
    ...              challenge="Objects & more", year=2026, address="https://voc.example/methods/0"))
    @misc{rcnn50-2026-00000000,
      title = {{R-CNN \textbraceleft{}50\%\textbraceright{}}},
      author = {A. Turing and G. Hopper and K. J.},
      year = {2026},
      howpublished = {Results of the challenge ``Objects \& more''},
      url = {https://voc.example/methods/0}
    }
    """
    authors = [name for name in _SEPARATORS.split(contributors) if name]
    fields = {
        "title": f"{{{_value(method)}}}",
        # "others" is BibTeX's word for "et al."; a method's people may be called so.
        "author": " and ".join(f"{{{_value(name)}}}" if name == "others" else _value(name) for name in authors),
        "year": str(year),
        "howpublished": f"Results of the challenge ``{_value(challenge)}''",
        "note": _value(note),
        "url": address,
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{_key(method, year, method_id)},\n{lines}\n}}"


def _value(text: str) -> str:
    found = escaped(text)
    for what, instead in _UNBALANCED.items():
        found = found.replace(what, instead)
    return found


def _key(method: str, year: int, method_id: uuid.UUID) -> str:
    plain = unicodedata.normalize("NFKD", method).encode("ascii", "ignore").decode().lower()
    name = re.sub("[^a-z0-9]", "", plain)[:_KEY_LENGTH] or "method"
    return f"{name}-{year}-{method_id.hex[:8]}"
