"""Whatever a program sends, the API answers as its OpenAPI document says, and never with a fault of its own."""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import negative_data_rejection
from sqlalchemy import update

from tests.app import authorisation_world
from tests.app.authorisation_table import TABLE, Person
from tests.app.authorisation_world import build, meant, using
from tests.app.test_authorisation import send
from tests.support.site import Site, serving
from tests.support.small_world import EDITION
from vocboard.app.challenges.models import ChallengeFile, ChallengePhase
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Submission

# Of each operation, valid and invalid ones, each sent by so many roles; `make test-long` sends them as everybody.
BUDGETS = [(1, 1), pytest.param(25, 5, marks=[pytest.mark.long, pytest.mark.timeout(3_600)])]
RUNS, SCENARIOS, STEPS = 10, 10, 25  # of each role
SECONDS_TO_ANSWER = 30
# Valid by the schema, and refused for what a schema cannot say: invisible characters, an edition that is not there, a
# wrong password, an archive with problems, a key that was used before; larger than this server takes; another ETag.
REFUSED_ANYWAY = ["412", "413", "422"]
UNKNOWN_TUS_VERSION = ["412"]
# Headers of the protocol and of the whole site, which the document does not repeat for each response.
HEADERS_OF_ALL = {
    *("cache-control", "content-encoding", "content-length", "content-type", "date", "server", "transfer-encoding"),
    *("connection", "x-accel-buffering"),  # of streams
    *("content-security-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy"),
    *("referrer-policy", "vary", "x-content-type-options", "x-frame-options"),
}

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")  # parts of uploads
PROTOCOL_HEADERS = ("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade")


ROLES = (Person.VISITOR, Person.OTHER_PARTICIPANT, Person.OWNER, Person.ORGANISER, Person.ADMINISTRATOR)


@dataclass(frozen=True, slots=True)
class World:
    """A running site with what the table of authorisation speaks of.

    Attributes:
        database: a file with everything in it.
    """

    site: Site
    document: dict[str, Any]
    built: authorisation_world.World
    database: Path

    def headers(self, person: Person) -> dict[str, str]:
        """Return what a person's program sends."""
        token = self.built.tokens.get(person)
        return {"Authorization": f"Bearer {token}"} if token else {}

    def known(self, label: str) -> dict[str, str]:
        """Return path parameters of an operation that exist."""
        route = label if label in TABLE else label.rpartition(".")[0]  # in one format
        return meant(self.built, TABLE[route][0].path)

    @contextmanager
    def as_built(self) -> Iterator[None]:
        """Let nothing have happened yet, so that what one operation changes is not there for the next."""
        with TemporaryDirectory() as directory, using(self.site, self.database, Path(directory)):
            yield


@pytest.fixture(scope="module")
def world(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("site")
    database = shutil.copy(sqlite_template, directory / "vocboard.sqlite")
    settings_ = Settings(
        data_directory=directory / "data", database_url=f"sqlite:///{database}", uploads_per_hour=100_000
    )
    with serving(settings_) as site:
        with site.writing() as session:
            built = build(session)
            store = site.application.state.services.store
            with store.receive(limit=100) as content:
                content.write(b"content")
                content.finish()
                stored = {"sha256": store.keep(content), "byte_count": content.size}
            session.execute(update(ChallengeFile).values(stored))
            archive = {"archive_sha256": stored["sha256"], "archive_bytes": stored["byte_count"]}
            session.execute(update(Submission).values(archive))
            session.execute(update(ChallengePhase).values(quota_count=1_000))
        site.database.close()  # writes everything into the one file
        yield World(site, site.application.openapi(), built, Path(shutil.copy(database, directory / "built.sqlite")))


def schema_of(world: World) -> Any:
    schema = schemathesis.openapi.from_dict(world.document)
    schema.config.update(base_url=world.site.url)
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
        with world.as_built():
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
    if exists and is_valid:
        case.path_parameters.update(world.known(case.operation.label))
    if isinstance(case.body, dict) and not case.meta.is_negative_at(ParameterLocation.BODY):
        if exists:
            case.body = printable(case.body)
        if case.body.get("edition"):
            case.body["edition"] = EDITION
    # The HTTP server rejects made-up values of these headers before the API sees the request.
    for name in [name for name in case.headers or () if name.lower() in PROTOCOL_HEADERS]:
        del case.headers[name]


def may_be_valid(case: Any) -> bool:
    """Whether a form has null or a number in place of a text: it is sent as the text that it looks like."""
    elsewhere = {ParameterLocation.PATH, ParameterLocation.QUERY}
    if case.media_type != "multipart/form-data" or any(map(case.meta.is_negative_at, elsewhere)):
        return False
    fields = case.operation.definition.raw["requestBody"]["content"][case.media_type]["schema"]["properties"]
    texts = {
        name
        for name, field in fields.items()
        if field.get("type") == "string" and not {"enum", "format"} & field.keys()
    }
    return isinstance(case.body, dict) and any(
        name in texts and (value is None or isinstance(value, bool | int | float)) for name, value in case.body.items()
    )


def printable(value: Any) -> Any:
    """Return a body without invisible characters, of which every text is refused."""
    match value:
        case str():
            return "".join(one if one.isprintable() else "x" for one in value)
        case dict():
            return {name: printable(one) for name, one in value.items()}
        case list():
            return [printable(one) for one in value]
    return value


def headers_are_documented(_: Any, response: Any, case: Any) -> None:
    require_documented_headers(case.operation, response)


def require_documented_headers(operation: Any, response: Any) -> None:
    described = operation.definition.raw["responses"].get(str(response.status_code), {}).get("headers", {})
    known = HEADERS_OF_ALL | {name.lower() for name in described}
    assert response.headers.keys() <= known, f"undocumented: {sorted(response.headers.keys() - known)}"


def check(operation: Any, mode: GenerationMode, world: World, examples: int, asking: int) -> None:
    """Call an operation with made-up arguments, and with those that exist."""

    @settings(
        max_examples=examples,
        derandomize=examples == 1,  # other requests each time are for `make test-long`
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=mode),
        exists=st.booleans(),
        roles=st.permutations(ROLES),
    )
    def answers_as_documented(case: Any, exists: bool, roles: list[Person]) -> None:
        prepare(case, world, exists=exists)
        for role in roles[:asking]:
            headers = world.headers(role)
            response = case.call(headers=headers, timeout=SECONDS_TO_ANSWER)
            case.validate_response(
                response,
                headers=headers,
                additional_checks=[headers_are_documented],
                excluded_checks=[negative_data_rejection] if may_be_valid(case) else [],
            )

    answers_as_documented()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_what_the_table_of_authorisation_asks_is_answered_as_documented(world: World) -> None:
    """Nearly every operation does what it is there for, which made-up requests seldom reach."""
    schema = schema_of(world)
    for operation in (result.ok() for result in schema.get_all_operations()):
        for rule in TABLE.get(operation.label, ()):
            with world.as_built():
                for person in sorted(Person, key=lambda person: person in rule.allowed):  # those refused first
                    with world.site.client(world.built.tokens.get(person)) as client:
                        response = send(client, world.built, operation.label, rule)
                    responses = operation.definition.raw["responses"]
                    assert str(response.status_code) in responses, (operation.label, person, response.text)
                    operation.validate_response(response)
                    require_documented_headers(operation, response)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("role", ROLES)
def test_what_one_answer_gives_to_the_next_request_is_as_documented(world: World, role: Person) -> None:
    headers = world.headers(role)
    seen = Counter[bool]()
    found: list[str] = []

    class Life(schema_of(world).as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            self.world = world.as_built()
            self.world.__enter__()

        def teardown(self) -> None:
            self.world.__exit__(None, None, None)

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
