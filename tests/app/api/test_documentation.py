"""The OpenAPI document is complete and says what the API does."""

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
        assert operation["security"] == [{"token": []}], name
        of_part_or_unchanged = {"206", "302", "304"}  # or elsewhere
        [success] = [
            response
            for status, response in operation["responses"].items()
            if status < "400" and status not in of_part_or_unchanged
        ]
        assert "content" in success or {"204", "307"} & operation["responses"].keys(), name


def test_errors_are_problem_details(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        errors = {status: response for status, response in operation["responses"].items() if status >= "400"}
        assert "401" in errors, name
        for status, response in errors.items():
            assert set(response["content"]) == {"application/problem+json"}, (name, status)


def test_the_upload_is_described_as_a_form(document: dict[str, Any]) -> None:
    upload = document["paths"]["/api/v1/challenges/{slug}/submissions"]["post"]
    form = upload["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["required"] == ["archive", "method_name"]
    assert form["properties"]["archive"]["format"] == "binary"
    limited = upload["responses"]["429"]["content"]["application/problem+json"]["schema"]["$ref"]
    assert "allowed_at" in document["components"]["schemas"][limited.rpartition("/")[2]]["properties"]
