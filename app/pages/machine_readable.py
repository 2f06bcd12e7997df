"""Challenges and results as programs read them: schema.org, Croissant, and files to cite."""

import json
import uuid
from collections.abc import Sequence
from datetime import date
from functools import partial
from mimetypes import guess_type
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

from fastapi import Query
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from starlette.responses import Response

from vocboard.app.accounts.viewer import Identity
from vocboard.app.challenges import files
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE, Audience, Challenge, ChallengeFile, FileKind
from vocboard.app.challenges.phases import leaderboard_phase, phase_named, phases_of
from vocboard.app.challenges.rules import licence_address
from vocboard.app.database import Database, now
from vocboard.app.errors import NotFoundError
from vocboard.app.leaderboards.citations import Author, Citation, HubResult, eval_results
from vocboard.app.leaderboards.methods import PublishedResult, address, cited_method
from vocboard.app.leaderboards.service import rules_of
from vocboard.app.pages import wording
from vocboard.app.pages.formats import percent, plural
from vocboard.app.submissions import queries
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes

router = Routes()

CROISSANT = "http://mlcommons.org/croissant/1.1"
# The part of the standard's context that is used here. Source: Croissant 1.1, appendix 1.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
}
_OF_BOARD = Query(description="Key of a competition, to cite its leaderboard.")
_OF_PHASE = Query(description="Key of its phase.")


def metadata(challenge: Challenge, cover: ChallengeFile | None, data: Sequence[ChallengeFile], site: str) -> Markup:
    """Return what search engines read of a challenge, as JSON that can stand in a script element.

    Source: schema.org, Dataset; Google Search, structured data of datasets.

    Args:
        data: files to download; those that are not public are left out.
    """
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": challenge.title,
        "description": challenge.summary,
        "url": _address(challenge, site),
        "sameAs": challenge.website,
        "license": licence_address(challenge.licence),
        "citation": challenge.citation,
        "image": f"{site}{address_of_file(challenge, cover)}" if cover is not None else "",
        "creator": list(map(_creator, Author.of(challenge.organised_by, ""))) if challenge.organised_by.strip() else [],
        "distribution": [_download(link) | {"@type": "DataDownload"} for link in _links(challenge, data, site)],
    }
    return htmlsafe_json_dumps({name: value for name, value in found.items() if value})


def croissant(challenge: Challenge, data: Sequence[ChallengeFile], site: str) -> dict[str, Any]:
    """Return the description of a challenge's data as Croissant JSON-LD.

    Without a licence, it is the page of the challenge, where organisers say what the data may be used for. Links
    without a SHA-256 are left out, because they may lead to pages.

    Args:
        data: as `metadata`.
    """
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CROISSANT,
        "name": challenge.title,
        "description": challenge.summary or challenge.title,
        "url": _address(challenge, site),
        "license": licence_address(challenge.licence) or _address(challenge, site),
        "creator": list(map(_creator, Author.of(challenge.organised_by, challenge.title))),
        "datePublished": _published(challenge).isoformat(),
        "sameAs": challenge.website,
        "citeAs": challenge.citation,
        "distribution": [
            {"@type": "cr:FileObject", "@id": f"file-{number}", **_download(link), "encodingFormat": _media_type(link)}
            for number, link in enumerate(_links(challenge, data, site), 1)
            if link["sha256"]
        ],
    }
    return {name: value for name, value in found.items() if value}


def address_of_file(challenge: Challenge, file: ChallengeFile) -> str:
    """Return where a file of a challenge can be downloaded."""
    return f"/api/v1/challenges/{challenge.slug}/files/{file.id}"


@router.get("/challenges/{slug}/croissant.json")
def croissant_file(database: DatabaseDep, settings: SettingsDep, identity: CurrentIdentity, slug: str) -> Response:
    """The data of a challenge as Croissant."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, identity.user)
        data = files.files_of(session, challenge.id, FileKind.DATA)
        found = croissant(challenge, data, settings.public_url)
    content = json.dumps(found, ensure_ascii=False, indent=2)
    return Response(content, media_type=f'application/ld+json; profile="{CROISSANT}"')


@router.get("/challenges/{slug}/CITATION.cff")
def citation_file(
    database: DatabaseDep,
    settings: SettingsDep,
    identity: CurrentIdentity,
    slug: str,
    competition: Annotated[str | None, _OF_BOARD] = None,
    phase: Annotated[str | None, _OF_PHASE] = None,
) -> Response:
    """How to cite a challenge or one of its leaderboards, as Citation File Format."""
    found = _citation(database, identity, settings.public_url, slug, competition, phase)
    return _attachment(found.cff(), "application/yaml", "CITATION.cff")


@router.get("/challenges/{slug}/citation.bib")
def bibtex_file(
    database: DatabaseDep,
    settings: SettingsDep,
    identity: CurrentIdentity,
    slug: str,
    competition: Annotated[str | None, _OF_BOARD] = None,
    phase: Annotated[str | None, _OF_PHASE] = None,
) -> Response:
    """How to cite a challenge or one of its leaderboards, as BibTeX."""
    found = _citation(database, identity, settings.public_url, slug, competition, phase)
    return _attachment(found.bibtex() + "\n", "application/x-bibtex", f"{found.key}.bib")


@router.get("/methods/{method_id}/eval-results.yaml")
def eval_results_file(
    database: DatabaseDep, settings: SettingsDep, identity: CurrentIdentity, method_id: uuid.UUID
) -> Response:
    """The published results of a method, for its repository on the Hugging Face Hub."""
    with database.reading() as session:
        cited = cited_method(session, method_id, identity.user, site=settings.public_url)
        if not cited.published:
            raise NotFoundError("None of the method's results is published.")
        challenge = cited.method.challenge
        content = eval_results(
            [_hub_result(one) for one in cited.results if one.mean is not None],
            challenge=challenge.slug,
            challenge_title=challenge.title,
            address=address(settings.public_url, method_id),
        )
    return _attachment(content, "application/yaml", f"{challenge.slug}.yaml")


def _citation(
    database: Database, identity: Identity, site: str, slug: str, competition: str | None, phase_key: str | None
) -> Citation:
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, identity.user)
    authors = Author.of(challenge.organised_by, challenge.title)
    whole = _address(challenge, site)
    published = _published(challenge)
    if competition is None:
        return Citation(challenge.slug, challenge.title, authors, challenge.summary, published, whole)
    phase = leaderboard_phase(challenge, now()) if phase_key is None else phase_named(challenge, phase_key)
    rules = rules_of(challenge, phase, competition)
    of_phase = f", {phase.title}" if len(phases_of(challenge)) > 1 else ""
    name = competition if phase.key == MAIN_PHASE else f"{phase.key}-{competition}"
    return Citation(
        f"{challenge.slug}-{name}",
        f"{challenge.title}: leaderboard of {wording.competition_title(rules)}{of_phase}",
        authors,
        challenge.summary,
        published,
        f"{whole}/leaderboards/{competition}?{urlencode({'phase': phase.key})}",
    )


def _hub_result(one: PublishedResult) -> HubResult:
    phase, key = queries.phase_of(one.submission), one.competition.key
    notes = [
        f"{wording.competition_title(one.competition)}: mean {wording.short_metric(one.metric)} in per cent over "
        f"{plural(one.mean_over, 'class', 'classes')}",
        *([] if one.is_complete else ["not all classes entered"]),
        *([] if phase.key == MAIN_PHASE else [phase.title]),
        *([] if one.imported is None else [f"scores {one.imported.text}"]),
    ]
    return HubResult(
        task_id=key if phase.key == MAIN_PHASE else f"{phase.key}-{key}",
        percent=percent(one.mean, one.submission.challenge.decimals),
        submitted_at=one.submission.created_at,
        notes="; ".join(notes),
    )


def _address(challenge: Challenge, site: str) -> str:
    return f"{site}/challenges/{challenge.slug}"


def _published(challenge: Challenge) -> date:
    return (challenge.main_phase.opens_at or challenge.created_at).date()


def _creator(one: Author) -> dict[str, Any]:
    """Return who organises a challenge: a person if there is an affiliation."""
    if not one.affiliation:
        return {"@type": "Organization", "name": one.name}
    return {"@type": "Person", "name": one.name, "affiliation": {"@type": "Organization", "name": one.affiliation}}


def _links(challenge: Challenge, data: Sequence[ChallengeFile], site: str) -> list[dict[str, Any]]:
    """Return the public files of a challenge, and its links to data elsewhere."""
    public = [file for file in data if file.audience is Audience.PUBLIC]
    return [*map(partial(_as_link, challenge, site), public), *challenge.data_links]


def _as_link(challenge: Challenge, site: str, file: ChallengeFile) -> dict[str, Any]:
    address_here = site + address_of_file(challenge, file)
    return {
        "title": file.label,
        "url": address_here,
        "bytes": file.byte_count,
        "sha256": file.sha256,
        "media_type": file.media_type,
    }


def _download(link: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": link["title"],
        "contentUrl": link["url"],
        **({"contentSize": f"{link['bytes']} B"} if link["bytes"] is not None else {}),
        **({"sha256": link["sha256"]} if link["sha256"] else {}),
    }


def _media_type(link: dict[str, Any]) -> str:
    return link.get("media_type") or guess_type(urlsplit(link["url"]).path)[0] or "application/octet-stream"


def _attachment(content: str, media_type: str, name: str) -> Response:
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})
