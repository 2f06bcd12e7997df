"""Whatever a program sends, the API answers as its OpenAPI document says, and never with a fault of its own."""

import random
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation

from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import serving
from tests.support.small_world import EDITION, results_of
from vocboard.app.accounts.models import Role
from vocboard.app.settings import Settings

# Of each operation, valid and invalid ones, each sent by so many roles: making one up takes longer.
BUDGETS = [(3, 3), pytest.param(25, 5, marks=[pytest.mark.long, pytest.mark.timeout(3_600)])]
RUNS, SCENARIOS, STEPS = 10, 10, 25  # of each role
SECONDS_TO_ANSWER = 30
# Valid by the schema, and refused for what a schema cannot say: invisible characters, an edition that is not there, a
# wrong password, an archive with problems, a key that was used before; larger than this server takes.
REFUSED_ANYWAY = ["413", "422"]
UNKNOWN_TUS_VERSION = ["412"]
ENDLESS = "/api/v1/submissions/{submission_id}/events"  # a stream: of a submission that exists it does not end
# Headers of the protocol and of the whole site, which the document does not repeat for each response.
HEADERS_OF_ALL = {
    *("cache-control", "content-encoding", "content-length", "content-type", "date", "server", "transfer-encoding"),
    *("connection", "x-accel-buffering"),  # of streams
    *("content-security-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy"),
    *("referrer-policy", "vary", "x-content-type-options", "x-frame-options"),
}

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")  # parts of uploads
PROTOCOL_HEADERS = ("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade")


@dataclass(frozen=True, slots=True)
class World:
    """A running site with something in it.

    Attributes:
        tokens: of each role; a visitor has none.
        known: values of path parameters that exist.
    """

    url: str
    document: dict[str, Any]
    tokens: dict[str, str | None]
    known: dict[str, str]


@pytest.fixture(scope="module")
def world(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(sqlite_template, tmp_path_factory.mktemp("site")) as made:
        yield made


@contextmanager
def make_world(sqlite_template: Path, directory: Path) -> Iterator[World]:
    database = shutil.copy(sqlite_template, directory / "vocboard.sqlite")
    settings_ = Settings(
        data_directory=directory / "data", database_url=f"sqlite:///{database}", uploads_per_hour=100_000
    )
    with serving(settings_) as site:
        with site.writing() as session:
            organiser, owner = make_organiser(session), make_user(session)
            waiting = make_user(session, approved=False)
            administrator = make_user(session, role=Role.ADMINISTRATOR)
            challenge = make_challenge(session, organiser=organiser, edition=EDITION, quota_count=1_000)
            people = {"organiser": organiser, "team owner": owner, "administrator": administrator}
            people["participant"] = make_user(session)
            tokens = {role: make_token(session, person) for role, person in people.items()}
        with site.client(tokens["team owner"]) as client:
            answer = upload_results(client, challenge.slug, results_of({"Main/comp1_cls_test_car.txt": ["000001 0.5"]}))
            created = client.post(
                "/api/v1/uploads", params={"challenge": challenge.slug}, headers={"Upload-Length": "100"}
            )
            upload_id = created.headers["Location"].rpartition("/")[2]
            hook = {"url": "https://hooks.example/voc", "events": ["submission.scored"]}
            webhook = client.post("/api/v1/webhooks", json=hook)
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
            "webhook_id": webhook.json()["id"],
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
        yield World(site.url, site.application.openapi(), {**tokens, "visitor": None}, known)


def schema_of(world: World) -> Any:
    schema = schemathesis.openapi.from_dict(world.document)
    schema.config.update(base_url=world.url)
    for expected, others in (
        (schema.config.checks.positive_data_acceptance, REFUSED_ANYWAY),
        (schema.config.checks.negative_data_rejection, UNKNOWN_TUS_VERSION),
    ):
        expected.expected_statuses = [*expected.expected_statuses, *others]
    return schema


@pytest.mark.parametrize(("examples", "roles"), BUDGETS)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
def test_every_operation_answers_as_documented(world: World, mode: GenerationMode, examples: int, roles: int) -> None:
    operations = [result.ok() for result in schema_of(world).get_all_operations()]
    assert len(operations) > 20
    if mode is GenerationMode.NEGATIVE:
        operations = [operation for operation in operations if can_be_invalid(world.document, operation)]
    for operation in operations:
        check(operation, mode, world, examples, roles)


def can_be_invalid(document: dict[str, Any], operation: Any) -> bool:
    """Whether there are invalid requests: what visitors may read, by any text in the path, has none."""
    described = document["paths"][operation.path][operation.method]
    takes_any_text = all(
        one["in"] == "path" and one["schema"].keys() <= {"type", "title"} and one["schema"]["type"] == "string"
        for one in described.get("parameters", ())
    )
    return {} not in described["security"] or not takes_any_text


def prepare(case: Any, world: World, *, exists: bool) -> None:
    """Make a made-up request one that reaches the API, and by choice of what exists."""
    is_valid = not case.meta.is_negative_at(ParameterLocation.PATH)
    if exists and is_valid and case.operation.path != ENDLESS:
        case.path_parameters.update({name: world.known[name] for name in case.path_parameters})
    if (
        isinstance(case.body, dict)
        and case.body.get("edition")
        and not case.meta.is_negative_at(ParameterLocation.BODY)
    ):
        case.body["edition"] = EDITION
    # The HTTP server rejects made-up values of these headers before the API sees the request.
    for name in [name for name in case.headers or () if name.lower() in PROTOCOL_HEADERS]:
        del case.headers[name]


def authorization(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def headers_are_documented(_: Any, response: Any, case: Any) -> None:
    described = case.operation.definition.raw["responses"].get(str(response.status_code), {}).get("headers", {})
    known = HEADERS_OF_ALL | {name.lower() for name in described}
    assert response.headers.keys() <= known, f"undocumented: {sorted(response.headers.keys() - known)}"


def check(operation: Any, mode: GenerationMode, world: World, examples: int, asking: int) -> None:
    """Call an operation with made-up arguments, and with those that exist."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=mode),
        exists=st.booleans(),
        roles=st.permutations(sorted(world.tokens)),
    )
    def answers_as_documented(case: Any, exists: bool, roles: list[str]) -> None:
        prepare(case, world, exists=exists)
        for role in roles[:asking]:
            headers = authorization(world.tokens[role])
            response = case.call(headers=headers, timeout=SECONDS_TO_ANSWER)
            case.validate_response(response, headers=headers, additional_checks=[headers_are_documented])

    answers_as_documented()


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("role", ["visitor", "participant", "team owner", "organiser", "administrator"])
def test_what_one_answer_gives_to_the_next_request_is_as_documented(world: World, role: str) -> None:
    headers = authorization(world.tokens[role])
    seen = Counter[bool]()
    found: list[str] = []

    class Life(schema_of(world).as_state_machine()):  # type: ignore[misc]
        def before_call(self, case: Any) -> None:
            prepare(case, world, exists=random.random() < 0.5)  # which Hypothesis seeds

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": headers, "timeout": SECONDS_TO_ANSWER}

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            seen[response.status_code < 300] += 1
            try:
                super().validate_response(response, case, additional_checks=[headers_are_documented])
            except FailureGroup as failures:  # collected: the server has changed, so none can be repeated
                found.extend(map(str, failures.exceptions))

    for _ in range(RUNS):
        with suppress(Flaky):  # it notices that the server has changed since the scenario before
            Life.run(
                settings=settings(
                    max_examples=SCENARIOS,
                    stateful_step_count=STEPS,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )
            )
    assert not found, "\n".join(found)
    assert seen[True]
