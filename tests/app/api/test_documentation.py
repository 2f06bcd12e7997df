"""The OpenAPI document is complete and says what the API does."""

import re
from typing import Any

import pytest

from vocboard.app.main import create_app
from vocboard.app.settings import Settings


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return create_app(Settings(data_directory=tmp_path_factory.mktemp("data"))).openapi()


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_only_the_api_is_in_it(document: dict[str, Any]) -> None:
    assert all(path.startswith("/api/v1/") for path in document["paths"])


def test_operations_have_their_own_names_descriptions_and_answers(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(names)) == len(names)
    for name, operation in operations(document):
        assert operation["description"], name
        of_part_or_unchanged = {"206", "302", "304"}  # or elsewhere
        assert all("X-Request-Id" in response["headers"] for response in operation["responses"].values()), name
        [success] = [
            response
            for status, response in operation["responses"].items()
            if status < "400" and status not in of_part_or_unchanged
        ]
        assert "content" in success or {"204", "307"} & operation["responses"].keys(), name


def test_generators_of_clients_can_name_all(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert [name for name in schemas if not re.fullmatch("([A-Z][a-z]+)+", name)] == []
    assert {name: schema["title"] for name, schema in schemas.items() if schema["title"] != name} == {}
    for name, schema in schemas.items():  # a variable for the class, and one for the field
        assert re.sub("(?<!^)([A-Z])", r"_\1", name).lower() not in schema.get("properties", {}), name
    for name, operation in operations(document):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {"schema": {}})
        assert "anyOf" not in body["schema"], f"{name} takes something without a name"


def test_errors_are_problem_details(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        errors = {status: response for status, response in operation["responses"].items() if status >= "400"}
        assert "401" in errors, name
        for status, response in errors.items():
            assert set(response["content"]) == {"application/problem+json"}, (name, status)


def test_who_may_do_what_and_with_which_token(document: dict[str, Any]) -> None:
    paths = document["paths"]
    by_session: dict[str, list[str]] = {"session": []}
    assert paths["/api/v1/challenges"]["get"]["security"] == [{}, {"token": ["read"]}, by_session]
    assert paths["/api/v1/challenges"]["post"]["security"] == [{"token": ["organise"]}, by_session | {"csrf": []}]
    assert paths["/api/v1/me"]["get"]["security"] == [{"token": []}, by_session]
    schemes = document["components"]["securitySchemes"]
    assert {name: (scheme.get("in"), scheme.get("name")) for name, scheme in schemes.items()} == {
        "token": (None, None),
        "session": ("cookie", "vocboard_session"),
        "csrf": ("header", "X-CSRF-Token"),
    }


def test_each_path_of_data_has_one_media_type(document: dict[str, Any]) -> None:
    several = {
        name
        for name, operation in operations(document)
        if len(operation["responses"].get("200", {}).get("content", {})) > 1
    }
    assert several == {"GET /api/v1/challenges/{slug}/files/{file_id}"}, "files are of any type"
    as_table = document["paths"]["/api/v1/challenges/{slug}/leaderboards/{competition}.csv"]["get"]
    assert as_table["operationId"] == "leaderboard_csv"
    assert set(as_table["responses"]["200"]["content"]) == {"text/csv"}


# What they contain depends on the event, on the table, and on the task.
OPEN_OBJECTS = {"LoggedEvent.details", "export_account", "Diagnosis.exact"}


def test_objects_have_properties(document: dict[str, Any]) -> None:
    def without(schema: Any, place: str) -> set[str]:
        if isinstance(schema, list):
            return {found for one in schema for found in without(one, place)}
        if not isinstance(schema, dict):
            return set()
        is_open = schema.get("type") == "object" and schema.get("additionalProperties", True) is True
        inner = {found for one in schema.values() for found in without(one, place)}
        return inner | ({place} if is_open and "properties" not in schema else set())

    found = {
        place
        for name, schema in document["components"]["schemas"].items()
        for field, given in schema.get("properties", {}).items()
        for place in without(given, f"{name}.{field}")
    }
    for _, operation in operations(document):
        found |= without([operation["responses"], operation.get("requestBody")], operation["operationId"])
    assert found == OPEN_OBJECTS


def test_error_codes_are_an_enumeration(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert {"not_found", "malformed_json", "incomplete_entry", "unavailable"} <= set(schemas["ErrorCode"]["enum"])
    models = [name for name, schema in schemas.items() if "code" in schema.get("properties", {}) and "Details" in name]
    assert len(models) > 3
    assert {schemas[name]["properties"]["code"]["$ref"] for name in models} == {"#/components/schemas/ErrorCode"}


def test_the_upload_is_described_as_a_form(document: dict[str, Any]) -> None:
    upload = document["paths"]["/api/v1/challenges/{slug}/submissions"]["post"]
    form = upload["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["required"] == ["method_name"]
    assert form["properties"]["archive"]["format"] == "binary"
    limited = upload["responses"]["429"]["content"]["application/problem+json"]["schema"]["$ref"]
    assert "allowed_at" in document["components"]["schemas"][limited.rpartition("/")[2]]["properties"]
