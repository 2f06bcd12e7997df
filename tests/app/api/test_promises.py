"""What programs rely on stays within version 1: the OpenAPI document of the last release, compared with today's.

`openapi.json` is that document without its texts and errors. To write it for a release:
`.venv/bin/python -m tests.app.api.test_promises`.
"""

import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vocboard.app.main import create_app
from vocboard.app.settings import Settings

RELEASED = Path(__file__).with_name("openapi.json")
TEXTS = frozenset({"description", "summary", "title", "examples", "tags", "info"})
ANNOUNCING = {"Deprecation", "Sunset"}
Document = dict[str, Any]


def todays(directory: Path) -> Document:
    document = create_app(Settings(data_directory=directory)).openapi()
    for operations in document["paths"].values():
        for operation in operations.values():
            for status in [status for status in operation["responses"] if status >= "4"]:
                del operation["responses"][status]  # errors have their codes
    # Names of fields are not texts: those are values of `properties`.
    return dict(_without_texts(document, is_named=False))


def _without_texts(value: Any, *, is_named: bool) -> Any:
    if isinstance(value, list):
        return [_without_texts(one, is_named=False) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_texts(one, is_named=name == "properties" and not is_named)
        for name, one in value.items()
        if is_named or name not in TEXTS
    }


def broken(before: Document, now: Document) -> list[str]:
    """Return what a client that was written for one document can no longer rely on with the other."""
    found = []
    for path, operations in before["paths"].items():
        for method, operation in operations.items():
            place = f"{method.upper()} {path}"
            current = now["paths"].get(path, {}).get(method)
            if current is None:
                found.append(f"{place} is gone")
            else:
                found += _Comparison(before, now).of_operation(operation, current, place)
    return found


def unannounced(document: Document) -> list[str]:
    """Return what is marked as deprecated without the headers that docs/api.md promises."""
    found = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            marked = (operation, *operation.get("parameters", ()))
            headers = [response["headers"].keys() for response in operation["responses"].values()]
            if any(one.get("deprecated") for one in marked) and not all(each >= ANNOUNCING for each in headers):
                found.append(f"{method.upper()} {path} is deprecated without the headers Deprecation and Sunset")
    return found


class _Comparison:
    """Compares the schemas of two documents, each pair once."""

    def __init__(self, before: Document, now: Document) -> None:
        self._before, self._now = before, now
        self._seen = set[tuple[str, bool]]()

    def of_operation(self, before: Document, now: Document, place: str) -> Iterator[str]:
        if before["operationId"] != now["operationId"]:
            yield f"{place} has another operationId"
        for need in before["security"]:
            if need not in now["security"]:
                yield f"{place} does not accept {need}"
        was, is_ = ({(one["in"], one["name"]): one for one in each.get("parameters", ())} for each in (before, now))
        for key, parameter in is_.items():
            where = f"{place} {key[1]}"
            if key in was:
                yield from self.of_schema(was[key]["schema"], parameter["schema"], where, is_sent=True)
            if parameter.get("required") and not was.get(key, {}).get("required"):
                yield f"{where} is required"
        yield from (f"{place} {name} is gone" for _, name in was.keys() - is_.keys())
        sent, taken = (each.get("requestBody", {"content": {}}) for each in (before, now))
        if taken.get("required") and not sent.get("required"):
            yield f"{place} requires a body"
        yield from self._of_content(sent["content"], taken["content"], place, is_sent=True)
        for status, response in before["responses"].items():
            current = now["responses"].get(status)
            if current is None:
                yield f"{place} does not return {status}"
                continue
            yield from self._of_content(
                response.get("content", {}), current.get("content", {}), f"{place} {status}", is_sent=False
            )
            for header in response["headers"].keys() - current["headers"].keys():
                yield f"{place} {status} lacks the header {header}"

    def _of_content(self, before: Document, now: Document, place: str, *, is_sent: bool) -> Iterator[str]:
        for media_type, given in before.items():
            if media_type not in now:
                yield f"{place} has no {media_type}"
            elif "schema" in given:
                yield from self.of_schema(given["schema"], now[media_type]["schema"], place, is_sent=is_sent)

    def of_schema(self, before: Document, now: Document, place: str, *, is_sent: bool) -> Iterator[str]:
        if "$ref" in before and "$ref" in now:
            if (before["$ref"], is_sent) in self._seen:
                return
            self._seen.add((before["$ref"], is_sent))
        before, now = _resolved(before, self._before), _resolved(now, self._now)
        alternatives = ({json.dumps(one, sort_keys=True) for one in each.get("anyOf", ())} for each in (before, now))
        was, is_ = alternatives
        if was - is_ and len(before.get("anyOf", ())) != len(now.get("anyOf", ())):
            yield f"{place} has other alternatives"
        for one, other in zip(before.get("anyOf", ()), now.get("anyOf", ()), strict=False):
            yield from self.of_schema(one, other, place, is_sent=is_sent)
        if before.get("type") != now.get("type"):
            yield f"{place} has another type"
        for value in set(before.get("enum", ())) - set(now.get("enum", before.get("enum", ()))):
            yield f"{place} has no value {value}"
        required = (set(now.get("required", ())), set(before.get("required", ())))
        if is_sent:
            yield from (f"{place}.{name} is required" for name in required[0] - required[1])
        else:
            yield from (f"{place}.{name} can be missing" for name in required[1] - required[0])
        for name, field in before.get("properties", {}).items():
            if name in now.get("properties", {}):
                yield from self.of_schema(field, now["properties"][name], f"{place}.{name}", is_sent=is_sent)
            else:
                yield f"{place}.{name} is gone"
        for part in ("items", "additionalProperties"):
            one, other = before.get(part), now.get(part)
            if isinstance(one, dict) and isinstance(other, dict):
                yield from self.of_schema(one, other, f"{place}.{part}", is_sent=is_sent)


def _resolved(schema: Document, document: Document) -> Document:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


@pytest.fixture(scope="module")
def released() -> Document:
    return dict(json.loads(RELEASED.read_text()))


def test_what_programs_rely_on_stays(released: Document, tmp_path: Path) -> None:
    today = todays(tmp_path)
    assert broken(released, today) == []
    assert unannounced(today) == []
    today["paths"][CHALLENGES]["post"]["deprecated"] = True
    today["paths"][CHALLENGES]["get"]["parameters"][0]["deprecated"] = True
    assert len(unannounced(today)) == 2
    for response in today["paths"][CHALLENGES]["post"]["responses"].values():
        response["headers"] |= dict.fromkeys(ANNOUNCING)
    assert [one.split()[0] for one in unannounced(today)] == ["GET"]


CHALLENGES = "/api/v1/challenges"


def _without(*path: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        *ways, last = path
        for step in ways:
            document = document[step]
        del document[last]

    return change


def _gone(*path: str, value: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        for step in path:
            document = document[step]
        document.remove(value)  # type: ignore[attr-defined]

    return change


def _schema(name: str, *path: str) -> tuple[str, ...]:
    return ("components", "schemas", name, *path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without("paths", CHALLENGES), f"GET {CHALLENGES} is gone"),
        (_without("paths", CHALLENGES, "post"), f"POST {CHALLENGES} is gone"),
        (_without("paths", CHALLENGES, "post", "responses", "201"), f"POST {CHALLENGES} does not return 201"),
        (_without("paths", CHALLENGES, "post", "responses", "201", "headers", "Location"), "the header Location"),
        (lambda found: found["paths"][CHALLENGES]["get"]["security"].pop(0), f"GET {CHALLENGES} does not accept {{}}"),
        (lambda found: found["paths"][CHALLENGES]["get"]["parameters"].pop(), f"GET {CHALLENGES} per_page is gone"),
        (_without(*_schema("ChallengeSummary", "properties", "slug")), ".slug is gone"),
        (_gone(*_schema("ChallengeSummary", "required"), value="slug"), ".slug can be missing"),
        (_gone(*_schema("Visibility", "enum"), value="public"), "has no value public"),
        (
            lambda found: found["components"]["schemas"]["NewChallenge"]["required"].append("contact"),
            "contact is required",
        ),
        (
            lambda found: found["components"]["schemas"]["Quota"]["properties"]["count"].update(type="string"),
            "quota.count has another type",
        ),
    ],
)
def test_a_broken_promise_is_found(released: Document, change: Callable[[Document], None], told: str) -> None:
    changed = copy.deepcopy(released)
    change(changed)
    assert any(told in each for each in broken(released, changed))
    assert not broken(changed, changed)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        RELEASED.write_text(json.dumps(todays(Path(scratch)), indent=1, sort_keys=True) + "\n")
