"""How methods, challenges and leaderboards are cited: BibTeX, `CITATION.cff`, and results for the Hugging Face Hub.

Sources: Citation File Format 1.2.0; Hugging Face Hub documentation, "Evaluation Results".
"""

import json
import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from vocboard.app.leaderboards.export import escaped

# BibTeX counts braces also after a backslash, so escaped ones must not be in a value.
_UNBALANCED = {r"\{": r"\textbraceleft{}", r"\}": r"\textbraceright{}", r"\textquotedbl{}": "{''}"}
_BETWEEN_NAMES = re.compile(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+")
_KEY_LENGTH = 30  # of the part of a BibTeX key that comes from the name
# Characters that JSON leaves in a text, and that end a line of YAML or are not allowed in it.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True)
class Author:
    """Who organises a challenge: a person with an affiliation, or else a group."""

    name: str
    affiliation: str

    @classmethod
    def of(cls, organised_by: str, title: str) -> "list[Author]":
        """Return the organisers of a challenge, as its lines name them.

        Args:
            title: of the challenge, for one that names none.

        >>> Author.of("F. Brandt, Port Authority\\nRural Robotics", "Harbour")
        [Author(name='F. Brandt', affiliation='Port Authority'), Author(name='Rural Robotics', affiliation='')]
        >>> Author.of("", "Harbour")
        [Author(name='The organisers of Harbour', affiliation='')]
        """
        lines = [line.partition(",") for line in organised_by.splitlines() if line.strip()]
        named = [cls(name.strip(), affiliation.strip()) for name, _, affiliation in lines]
        return [one for one in named if one.name] or [cls(f"The organisers of {title}", "")]


@dataclass(frozen=True, slots=True)
class Citation:
    """A challenge or a leaderboard, to be cited.

    Attributes:
        key: of the BibTeX entry.
        abstract: may be empty.
        published: when submissions opened.
    """

    key: str
    title: str
    authors: Sequence[Author]
    abstract: str
    published: date
    address: str

    def bibtex(self) -> str:
        r"""Return a BibTeX entry.

        >>> one = Citation("harbour", "Boats & buoys", Author.of("Rural Robotics", ""), "", date(2026, 3, 1), "https://x")
        >>> print(one.bibtex())
        @misc{harbour,
          title = {{Boats \& buoys}},
          author = {{Rural Robotics}},
          year = {2026},
          url = {https://x}
        }
        """
        names = [_value(one.name) if one.affiliation else f"{{{_value(one.name)}}}" for one in self.authors]
        fields = {
            "title": f"{{{_value(self.title)}}}",
            "author": " and ".join(names),
            "year": str(self.published.year),
            "url": self.address,
        }
        return _entry(self.key, fields)

    def cff(self) -> str:
        """Return a `CITATION.cff`. Its texts are JSON strings, which YAML reads as they are.

        >>> print(Citation("k", "Boats: a", Author.of("F. Brandt, Port", ""), "", date(2026, 3, 1), "https://x").cff())
        cff-version: 1.2.0
        message: "Please cite it as below."
        type: dataset
        title: "Boats: a"
        authors:
          - family-names: "Brandt"
            given-names: "F."
            affiliation: "Port"
        date-released: "2026-03-01"
        url: "https://x"
        <BLANKLINE>
        """
        lines = ["cff-version: 1.2.0", 'message: "Please cite it as below."', "type: dataset"]
        lines.append(f"title: {_yaml(self.title)}")
        lines += [f"abstract: {_yaml(self.abstract)}"] if self.abstract else []
        lines.append("authors:")
        for one in self.authors:
            given, _, family = one.name.rpartition(" ")
            fields = {"family-names": family, "given-names": given, "affiliation": one.affiliation}
            known = {name: value for name, value in fields.items() if value} if one.affiliation else {"name": one.name}
            lines += [f"{'    ' if at else '  - '}{name}: {_yaml(known[name])}" for at, name in enumerate(known)]
        lines += [f"date-released: {_yaml(self.published.isoformat())}", f"url: {_yaml(self.address)}"]
        return "\n".join([*lines, ""])


@dataclass(frozen=True, slots=True)
class HubResult:
    """A published result of a method, for the Hugging Face Hub.

    Attributes:
        task_id: names the leaderboard.
        percent: the mean, as everyone sees it.
        notes: what the mean is.
    """

    task_id: str
    percent: str
    submitted_at: datetime
    notes: str


def eval_results(results: Sequence[HubResult], *, challenge: str, challenge_title: str, address: str) -> str:
    """Return the file of `.eval_results/` in a model's repository on the Hugging Face Hub.

    The Hub's name of the data set is not known here, so that the owner of the model has to fill it in.

    Args:
        challenge: its short name.
        address: of the method's page.
    """
    lines = [
        "# Save this in the folder .eval_results of the model's repository on the Hugging Face Hub,",
        "# after you have replaced each id by that of the benchmark's data set on the Hub.",
        *([] if results else ["[]"]),
    ]
    for one in results:
        lines += [
            "- dataset:",
            f"    id: {_yaml(f'OWNER/{challenge}')}",
            f"    task_id: {_yaml(one.task_id)}",
            f"  value: {one.percent}",
            f"  date: {_yaml(one.submitted_at.date().isoformat())}",
            "  source:",
            f"    url: {_yaml(address)}",
            f"    name: {_yaml(challenge_title)}",
            f"  notes: {_yaml(one.notes)}",
        ]
    return "\n".join([*lines, ""])


def bibtex(*, method_id: uuid.UUID, method: str, contributors: str, challenge: str, year: int, address: str) -> str:
    r"""Return the BibTeX entry of a method.

    Args:
        contributors: names, separated by commas or "and".
        address: of the method's page.

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
    authors = [name for name in _BETWEEN_NAMES.split(contributors) if name]
    fields = {
        "title": f"{{{_value(method)}}}",
        # "others" is BibTeX's word for "et al."; a method's people may be called so.
        "author": " and ".join(f"{{{_value(name)}}}" if name == "others" else _value(name) for name in authors),
        "year": str(year),
        "howpublished": f"Results of the challenge ``{_value(challenge)}''",
        "url": address,
    }
    return _entry(_method_key(method, year, method_id), fields)


def _entry(key: str, fields: Mapping[str, str]) -> str:
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{key},\n{lines}\n}}"


def _value(text: str) -> str:
    found = escaped(text)
    for what, instead in _UNBALANCED.items():
        found = found.replace(what, instead)
    return found


def _method_key(method: str, year: int, method_id: uuid.UUID) -> str:
    plain = unicodedata.normalize("NFKD", method).encode("ascii", "ignore").decode().lower()
    name = re.sub("[^a-z0-9]", "", plain)[:_KEY_LENGTH] or "method"
    return f"{name}-{year}-{method_id.hex[:8]}"


def _yaml(text: str) -> str:
    r"""Return a text as a scalar of YAML, on one line.

    >>> print(_yaml('a: "b"\n- c'))
    "a: \"b\"\n- c"
    """
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
