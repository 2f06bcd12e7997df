"""Croissant, CITATION.cff, BibTeX and results for the Hugging Face Hub: valid, and whatever people wrote stays text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest
import yaml

from tests.support.factories import make_challenge, make_file, make_organiser, make_user
from tests.support.markup_attacks import HTML
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.challenges.models import Audience
from vocboard.app.database import now
from vocboard.app.forms import character_error

YAML = (
    "a: b",
    "- c",
    "# d",
    "*e",
    "&f g",
    "!!python/object:os.system h",
    "{i: [",
    "%j",
    "'k",
    '"l\\',
    "yes",
    "~",
    "1e3",
)
BIBTEX = ("}} @misc{evil, note = {x}}", "\\}{", '"#', "a and others", "100% {\\input{/etc/passwd}}", "@string{x}")
HOSTILE = [text for text in (*YAML, *BIBTEX, *HTML[::8]) if character_error(text) is None]
REQUIRED = {"@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "datePublished"}
SHA256 = "a" * 64


@dataclass
class Scene:
    """Challenges whose texts are hostile, each with a published and a private version of a method. Tests only look."""

    client: httpx.Client
    texts: dict[str, str]  # by slug
    methods: dict[str, str]  # their ids, by slug
    hidden: str  # the id of one whose leaderboard cannot be seen yet

    def get(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, (path, answer.text)
        return answer.text


@pytest.fixture(scope="module")
def scene(shared_site: Site) -> Iterator[Scene]:
    texts = {f"hostile-{number}": text for number, text in enumerate(HOSTILE)}
    methods = {}
    with shared_site.writing() as session:
        organiser, owner = make_organiser(session), make_user(session)
        for slug, text in texts.items():
            links = [{"title": text[:100], "url": f"https://data.example/{slug}.zip?a='", "sha256": SHA256, "bytes": 7}]
            links.append({"title": "A page", "url": "https://data.example/"})
            organised_by = f"{text}\nF. Brandt, {text}"
            given = {
                "title": text[:100],
                "summary": text[:200],
                "organised_by": organised_by,
                "citation": text,
                "licence": "CC-BY-4.0",
            }
            challenge = make_challenge(session, organiser=organiser, slug=slug, data_links=links, **given)
            for audience, digit in ((Audience.PUBLIC, "b"), (Audience.ADMITTED, "c")):
                make_file(session, challenge.id, audience=audience, name=text[:100], sha256=digit * 64)
            published = make_scored(session, challenge, owner, text[:100], score=0.123456, published_at=now())
            make_scored(session, challenge, owner, text[:100], score=0.654321)
            methods[slug] = str(published.method_id)
        challenge = make_challenge(session, organiser=organiser, leaderboard_from=now() + timedelta(days=1))
        hidden = str(make_scored(session, challenge, owner, "Hidden", published_at=now()).method_id)
    with shared_site.client() as client:
        yield Scene(client, texts, methods, hidden)


def test_croissant_has_what_the_standard_requires_and_no_file_that_is_not_public(scene: Scene) -> None:
    for slug, text in scene.texts.items():
        found = json.loads(scene.get(f"/challenges/{slug}/croissant.json"))
        assert found.keys() >= REQUIRED
        assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0"
        assert (found["@type"], found["conformsTo"]) == ("sc:Dataset", "http://mlcommons.org/croissant/1.1")
        assert found["name"] == " ".join(text[:100].split())
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["datePublished"])
        files = found["distribution"]
        assert [file["sha256"][0] for file in files] == ["b", "a"], "neither the file for admitted people nor the page"
        assert {file["@id"] for file in files} == {"file-1", "file-2"}
        assert all(file.keys() >= {"name", "contentUrl", "contentSize", "encodingFormat"} for file in files)
        assert [file["encodingFormat"] for file in files] == ["application/zip"] * 2
        assert f'href="/challenges/{slug}/croissant.json"' in scene.get(f"/challenges/{slug}/data")


def test_citations_keep_every_text_as_it_is(scene: Scene) -> None:
    for slug, text in scene.texts.items():
        line = " ".join(text[:100].split())
        for query, title in (("", line), ("?competition=comp1", f"{line}: leaderboard of ")):
            cited = yaml.safe_load(scene.get(f"/challenges/{slug}/CITATION.cff{query}"))
            assert (cited["cff-version"], cited["type"]) == ("1.2.0", "dataset")
            assert cited["title"].startswith(title)
            assert cited["abstract"] == " ".join(text[:200].split())
            assert cited["url"].startswith("http")
            assert all(isinstance(value, str) for author in cited["authors"] for value in author.values())
            assert {"family-names", "given-names", "affiliation"} in [author.keys() for author in cited["authors"]]
            _check_bibtex(scene.get(f"/challenges/{slug}/citation.bib{query}"))


def _check_bibtex(entry: str) -> None:
    """Fail unless this is one entry, which ends where it should."""
    assert re.match(r"@misc\{[a-z0-9-]+,\n", entry)
    depth = 0
    for place, character in enumerate(entry.rstrip()):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth > 0 or "{" not in entry[:place] or place == len(entry.rstrip()) - 1, entry
    assert depth == 0
    assert all(re.match(r"  [a-z]+ = \{.*\},?$", line) for line in entry.rstrip().splitlines()[1:-1])


def test_results_for_the_hub_are_the_published_ones_as_shown(scene: Scene) -> None:
    for slug, method in scene.methods.items():
        [found] = yaml.safe_load(scene.get(f"/methods/{method}/eval-results.yaml"))
        assert found["dataset"] == {"id": f"OWNER/{slug}", "task_id": "comp1"}
        assert found["value"] == 12.35
        assert found["source"]["url"].endswith(f"/methods/{method}")
        assert found["source"]["name"] == " ".join(scene.texts[slug][:100].split())
        assert "not all classes entered" in found["notes"]
    assert scene.client.get(f"/methods/{scene.hidden}/eval-results.yaml").status_code == 404


def test_only_leaderboards_that_there_are_can_be_cited(scene: Scene) -> None:
    for query in ("?competition=comp99", "?competition=comp1&phase=none"):
        assert scene.client.get(f"/challenges/hostile-0/citation.bib{query}").status_code == 404
