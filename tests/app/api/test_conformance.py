"""Whatever a program sends, the API answers as its OpenAPI document says, and never with a fault of its own."""

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import serving
from tests.support.small_world import EDITION, results_of
from vocboard.app.settings import Settings

# Of each operation, valid and invalid ones, each sent by everybody: making one up takes longer.
EXAMPLES = [3, pytest.param(25, marks=[pytest.mark.long, pytest.mark.timeout(1_200)])]
SECONDS_TO_ANSWER = 30
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ENDLESS = "/api/v1/submissions/{submission_id}/events"  # a stream: of a submission that exists it does not end

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")  # parts of uploads
PROTOCOL_HEADERS = ("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade")


@dataclass(frozen=True, slots=True)
class World:
    """A running site with something in it.

    Attributes:
        tokens: of an organiser and a participant, and none.
        known: values of path parameters that exist.
    """

    url: str
    document: dict[str, Any]
    tokens: tuple[str | None, ...]
    known: dict[str, str]


@pytest.fixture(scope="module")
def world(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("site")
    database = shutil.copy(sqlite_template, directory / "vocboard.sqlite")
    settings_ = Settings(
        data_directory=directory / "data", database_url=f"sqlite:///{database}", uploads_per_hour=100_000
    )
    with serving(settings_) as site:
        with site.writing() as session:
            organiser, participant = make_organiser(session), make_user(session)
            waiting = make_user(session, approved=False)
            challenge = make_challenge(session, organiser=organiser, edition=EDITION, quota_count=1_000)
            tokens = {"organiser": make_token(session, organiser), "participant": make_token(session, participant)}
        with site.client(tokens["participant"]) as client:
            answer = upload_results(client, challenge.slug, results_of({"Main/comp1_cls_test_car.txt": ["000001 0.5"]}))
            created = client.post(
                "/api/v1/uploads", params={"challenge": challenge.slug}, headers={"Upload-Length": "100"}
            )
            upload_id = created.headers["Location"].rpartition("/")[2]
            team = client.post(f"/api/v1/challenges/{challenge.slug}/teams", json={"name": "The team"})
            invited = client.post(f"/api/v1/teams/{team.json()['id']}/invitations", json={})
            asked = client.post(f"/api/v1/challenges/{challenge.slug}/questions", json={"text": "Why?"})
        with site.client(tokens["organiser"]) as client:
            path, kit = f"/api/v1/challenges/{challenge.slug}/files", {"file": ("kit.zip", b"kit")}
            said = client.post(
                f"/api/v1/challenges/{challenge.slug}/announcements", json={"title": "New", "text": "Data"}
            )
            file_id = client.post(path, data={"audience": "admitted"}, files=kit).json()["id"]
        assert answer.status_code == 201, answer.text
        known = {
            "slug": challenge.slug,
            "submission_id": answer.json()["id"],
            "competition": "comp1",
            "key": "main",
            "phase": "main",
            "request_id": str(uuid.uuid4()),
            "message_id": str(uuid.uuid4()),
            "number": "1",
            "admission_id": str(uuid.uuid4()),
            "grant_id": str(uuid.uuid4()),
            "registration_id": str(waiting.id),
            "reported_id": str(waiting.id),
            "rescore_id": str(waiting.id),
            "user_id": str(waiting.id),
            "upload_id": upload_id,
            "file_id": file_id,
            "announcement_id": said.json()["id"],
            "question_id": asked.json()["id"],
            "invitation_id": str(waiting.id),
            "team_id": team.json()["id"],
            "token": invited.json()["token"],
        }
        yield World(site.url, site.application.openapi(), (*tokens.values(), None), known)


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
def test_every_operation_answers_as_documented(world: World, mode: GenerationMode, examples: int) -> None:
    schema = schemathesis.openapi.from_dict(world.document)
    schema.config.update(base_url=world.url)
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 20
    if mode is GenerationMode.NEGATIVE:
        operations = [operation for operation in operations if can_be_invalid(world.document, operation)]
    for operation in operations:
        check(operation, mode, world, examples)


def can_be_invalid(document: dict[str, Any], operation: Any) -> bool:
    """Whether there are invalid requests: what visitors may read, by any text in the path, has none."""
    described = document["paths"][operation.path][operation.method]
    takes_any_text = all(
        one["in"] == "path" and one["schema"].keys() <= {"type", "title"} and one["schema"]["type"] == "string"
        for one in described.get("parameters", ())
    )
    return {} not in described["security"] or not takes_any_text


def check(operation: Any, mode: GenerationMode, world: World, examples: int) -> None:
    """Call an operation with made-up arguments, and with those that exist."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), exists=st.booleans())
    def answers_as_documented(case: Any, exists: bool) -> None:
        if exists and operation.path != ENDLESS and case.path_parameters:
            case.path_parameters.update({name: world.known[name] for name in case.path_parameters})
        # The HTTP server rejects made-up values of these headers before the API sees the request.
        for name in [name for name in case.headers or () if name.lower() in PROTOCOL_HEADERS]:
            del case.headers[name]
        for token in world.tokens:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            response = case.call(headers=headers, timeout=SECONDS_TO_ANSWER)
            case.validate_response(response, checks=CHECKS)

    answers_as_documented()
