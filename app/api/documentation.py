"""The OpenAPI document of the API, with what FastAPI does not find out by itself."""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from vocboard.app.accounts.models import Scope
from vocboard.app.api.problems import ERROR_CODE, ERROR_MODELS, error_codes, problem_responses
from vocboard.app.submissions.idempotency import MAX_KEY_LENGTH
from vocboard.app.web import idempotency, preconditions
from vocboard.app.web.cookies import SESSION
from vocboard.app.web.csrf import HEADER, SAFE_METHODS
from vocboard.app.web.dependencies import services_of_application
from vocboard.app.web.identity import reader, scope_of
from vocboard.app.web.problem_details import MEDIA_TYPE
from vocboard.app.web.rate_limit_headers import POLICY, STANDING

DESCRIPTION = """\
Everything that the pages of this server do.

Requests have a token from the *Account* page in the header `Authorization: Bearer vocb_…`. What everybody may read
needs none. Scripts of the site's pages use the browser's session instead.

Unknown parameters and fields are errors, and values are not converted: send `1`, not `"1"`. Times are in UTC, scores
are fractions, ids are opaque. Errors are problem details (RFC 9457); programs decide by their `code`.

New paths, parameters, fields of responses, values of enumerations and error codes may be added at any time. See
[Changes](/docs/api#changes)."""

_SCOPES = {
    Scope.READ: "read your submissions, results and account",
    Scope.SUBMIT: "submit, change and publish your submissions, and change your account",
    Scope.ORGANISE: "organise challenges and administer the server, as far as your account may",
}
LOCATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"$ref": "#/components/headers/Location"}}},
}
_HEADERS = {
    "Location": ("Path of what was created.", {"type": "string", "format": "uri-reference"}),
    "Request": ("Id of the request in the server's log: give it when you report an error.", {"type": "string"}),
    "RetryAfter": ("Seconds to wait before the next request.", {"type": "integer", "minimum": 0}),
    "Link": ("Addresses of the pages `first`, `prev`, `next` and `last`, of those that there are.", {"type": "string"}),
    "Tag": ("Strong tag of the content, for `If-Match` when you change it.", {"type": "string"}),
    "Authenticate": ("`Bearer`, the kind of token that the API takes.", {"type": "string"}),
}
_OPTIONAL_HEADERS = {
    "Replayed": ("`true` if this is the answer to an earlier request with the same key.", {"type": "string"}),
    "RetryAfterInUse": ("With the code `idempotency_key_in_use`: seconds to wait.", {"type": "integer", "minimum": 0}),
    "Accept-Ranges": ("`bytes`: parts can be requested with `Range`.", {"type": "string"}),
    "RateLimitPolicy": (
        "The limits that the request counts against: at most `q` in any `w` seconds; of bytes with `qu`.",
        {"type": "string", "examples": ['"questions_by_person";q=10;w=3600']},
    ),
    "RateLimit": (
        "What is left of each: `r`, and some more in `t` seconds. `Retry-After` goes before it.",
        {"type": "string", "examples": ['"questions_by_person";r=9;t=3600']},
    ),
    "Content-Disposition": ("Name for the file.", {"type": "string"}),
    "Content-Range": ("Which part of how many bytes it is.", {"type": "string"}),
    "ETag": ("Tag of the content, for `If-None-Match`.", {"type": "string"}),
    "Last-Modified": ("When the file was stored.", {"type": "string"}),
    "Repr-Digest": ("SHA-256 of the whole file (RFC 9530).", {"type": "string"}),
    "Tus-Resumable": ("Version of the tus protocol.", {"type": "string"}),
    "Tus-Version": ("Versions of the tus protocol that the server supports.", {"type": "string"}),
    "Upload-Expires": ("When an unfinished upload is deleted.", {"type": "string"}),
    "Upload-Length": ("Size of the whole archive in bytes.", {"type": "integer", "minimum": 1}),
    "Upload-Metadata": ("As it was sent.", {"type": "string"}),
    "Upload-Offset": ("Bytes received: where the next part begins.", {"type": "integer", "minimum": 0}),
}
_OF_UPLOADS = ("Upload-Expires", "Upload-Length", "Upload-Metadata", "Upload-Offset")
_IDEMPOTENCY_KEY = {
    "name": idempotency.HEADER,
    "in": "header",
    "required": False,
    "description": "A random value that you choose, such as a UUID. A request that is repeated with its key "
    "within 24 hours gets the same answer, and nothing is done again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH, "pattern": idempotency.KEY_PATTERN},
}
_IF_MATCH = {
    "name": preconditions.HEADER,
    "in": "header",
    "required": False,
    "description": "The `ETag` of what you change, as you have read it. If it has changed since, the answer is 412 and "
    "nothing is changed. Needs the scope `read`, too.",
    "schema": {"type": "string"},
}
_EVENTS = "text/event-stream"
# Headers of every response with a status.
_OF_STATUS = {
    "401": ("WWW-Authenticate", "Authenticate"),
    "429": ("Retry-After", "RetryAfter"),
    "503": ("Retry-After", "RetryAfter"),
}
_REQUEST = ("X-Request-Id", "Request")
_NAME_OF_PAGE = re.compile(r"ItemPage[_\[](\w+?)[_\]]")
# Formats that a file extension in the path chooses, beside JSON.
_FORMATS = {"csv": "text/csv", "svg": "image/svg+xml", "tex": "application/x-tex"}


def upload_form(
    properties: Mapping[str, Any], *, required: list[str], others: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the `openapi_extra` of an operation that reads a form while it arrives.

    Args:
        others: schema of fields with other names; by default there are none.
    """
    schema = {"type": "object", "required": required, "properties": properties, "additionalProperties": others or False}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def file_responses(*media_types: str, **schema: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of an operation that can return files of these types.

    Args:
        schema: what is said of them beside their being strings.
    """
    content = {media_type: {"schema": {"type": "string", **schema}} for media_type in media_types}
    return {200: {"content": content}}


AS_FILE: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"Content-Disposition": {"$ref": "#/components/headers/Content-Disposition"}}},
}
ELSEWHERE: dict[int | str, dict[str, Any]] = {
    302: {"description": "Where to download it, within five minutes: some sites have another server for that."}
}

UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it, as it says with `If-None-Match`."}
}


def install(application: FastAPI) -> None:
    """Complete the OpenAPI document of an application."""
    plain = application.openapi

    def openapi() -> dict[str, Any]:
        if application.openapi_schema is None:
            document = plain()
            _complete(document, application)
            # Names of generic models, such as `ItemPage_Team_` with the title `ItemPage[Team]`: TeamPage.
            application.openapi_schema = json.loads(_NAME_OF_PAGE.sub(r"\1Page", json.dumps(document)))
        return plain()

    application.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it


def _complete(document: dict[str, Any], application: FastAPI) -> None:
    components = document["components"]
    components["securitySchemes"] = _security_schemes(application, components["securitySchemes"])
    components["headers"] = {
        name: {"description": description, "required": True, "schema": schema}
        for name, (description, schema) in _HEADERS.items()
    } | {
        name: {"description": description, "required": False, "schema": schema}
        for name, (description, schema) in _OPTIONAL_HEADERS.items()
    }
    components["schemas"]["ErrorCode"] = {
        "type": "string",
        "enum": error_codes(),
        "title": "ErrorCode",
        "description": "Stable codes of errors. New ones may be added.",
    }
    for model in ERROR_MODELS:
        components["schemas"][model]["properties"]["code"] = ERROR_CODE
    tagged = preconditions.readers(application.routes)
    routes = {
        (route.path, method): route
        for route in application.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    for path, operations in list(document["paths"].items()):
        for method, operation in operations.items():
            route = routes[path, method.upper()]
            bodies = operation.get("requestBody", {}).get("content", {}).values()
            for described in (*operation.get("parameters", ()), *bodies):
                _without_null(described)
            operation["security"] = _security(route.dependant, safe=method.upper() in SAFE_METHODS)
            takes_key = idempotency.takes_key(route)
            if takes_key:
                operation["parameters"] = [*operation.get("parameters", []), _IDEMPOTENCY_KEY]
            if route.endpoint in tagged:
                _add_tag(operation, method.upper())
            _complete_responses(operation, path, method.upper(), takes_key=takes_key)
        _split_formats(document["paths"], path, operations)
    document["paths"] = dict(sorted(document["paths"].items()))
    used = json.dumps(document)  # the schemas of formats are not, once the formats are paths
    for name in [name for name in components["schemas"] if f'"#/components/schemas/{name}"' not in used]:
        del components["schemas"][name]


def _security_schemes(application: FastAPI, found: dict[str, Any]) -> dict[str, Any]:
    scopes = "\n".join(f"- `{scope}`: {text}" for scope, text in _SCOPES.items())
    found["token"]["description"] += f"\n\nEach has some of these scopes; operations say which they need:\n\n{scopes}"
    cookie = SESSION.name(services_of_application(application).settings)
    return {
        **found,
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": cookie,
            "description": "The session of a browser that has signed in, for scripts of the site's pages. It has all "
            "scopes.",
        },
        "csrf": {
            "type": "apiKey",
            "in": "header",
            "name": HEADER,
            "description": "With a session, requests that change something also need this: the value of the field "
            "`csrf_token` in the forms of the site's pages.",
        },
    }


def _calls(dependant: Dependant) -> Iterator[Any]:
    yield dependant.call
    for needed in dependant.dependencies:
        yield from _calls(needed)


def _security(dependant: Dependant, *, safe: bool) -> list[dict[str, list[str]]]:
    calls = set(_calls(dependant))
    scopes = [scope for call in calls if (scope := scope_of(call)) is not None]
    if reader in calls:
        scopes.append(Scope.READ)
    token = {"token": sorted({str(scope) for scope in scopes})}
    session: dict[str, list[str]] = {"session": []} if safe else {"session": [], "csrf": []}
    return [*([{}] if reader in calls and len(scopes) == 1 else []), token, session]


def _without_null(described: dict[str, Any]) -> None:
    """Say of an optional parameter or body that it can be left out, which is all: no header or query is `null`."""
    alternatives = described["schema"].pop("anyOf", None)
    if alternatives:
        [schema] = [one for one in alternatives if one != {"type": "null"}]
        described["schema"].update(schema)


def _add_tag(operation: dict[str, Any], method: str) -> None:
    if method == "GET":
        operation["responses"]["200"]["headers"] = {"ETag": {"$ref": "#/components/headers/Tag"}}
    elif method in preconditions.CHANGING:
        operation["parameters"] = [*operation.get("parameters", []), _IF_MATCH]
        [failed] = problem_responses(412).values()
        described = {"description": "It is no longer as it was with this ETag. Get it again."}
        operation["responses"]["412"] = {"content": failed["content"]} | described


def _complete_responses(operation: dict[str, Any], path: str, method: str, *, takes_key: bool) -> None:
    responses = operation["responses"]
    general = _general(operation, method, takes_key=takes_key)
    responses.update({str(status): said for status, said in general.items() if str(status) not in responses})
    if "requestBody" not in operation and "/uploads" not in path:
        responses.pop("400", None)
    for status, response in responses.items():
        if status >= "4" and MEDIA_TYPE in response.get("content", {}):
            response["content"] = {MEDIA_TYPE: response["content"][MEDIA_TYPE]}
        named = [_REQUEST, *([_OF_STATUS[status]] if status in _OF_STATUS else [])]
        content = response.get("content", {})
        if _EVENTS in content:
            content[_EVENTS] = _events(content[_EVENTS]["schema"]["$ref"])
        if "ItemPage" in content.get("application/json", {}).get("schema", {}).get("$ref", ""):
            named.append(("Link", "Link"))
        if status.startswith("2") and (takes_key or operation["operationId"] == "create_submission"):
            named.append((idempotency.REPLAYED, "Replayed"))
        if status == "409" and takes_key:
            named.append(("Retry-After", "RetryAfterInUse"))
        named += [(name, name) for name in _of_files(responses, status)]
        if "/uploads" in path:
            says_progress = status < "3" and operation["operationId"] in {"create_upload", "get_upload", "send_part"}
            named += [(name, name) for name in ("Tus-Resumable", *(_OF_UPLOADS if says_progress else ()))]
        if method == "POST" and "429" in responses:
            named += [(POLICY, "RateLimitPolicy"), (STANDING, "RateLimit")]
        if status == "412" and "/uploads" in path:
            named.append(("Tus-Version", "Tus-Version"))
        references = {name: {"$ref": f"#/components/headers/{component}"} for name, component in named}
        response["headers"] = response.get("headers", {}) | references
    operation["responses"] = dict(sorted(responses.items()))


def _events(schema: str) -> dict[str, Any]:
    """Return a stream of events whose data has a schema, as OpenAPI 3.2 says it, which generators for 3.1 pass over."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": {"$ref": schema}}
    event = {"type": "object", "required": ["event", "data"], "properties": {"event": {"type": "string"}, "data": data}}
    return {"schema": {"title": "Events", "description": "A text of events."}, "itemSchema": event}


def _of_files(responses: Mapping[str, Any], status: str) -> Iterator[str]:
    """Return the headers that a response has because of what it sends, or could have sent."""
    if status in {"302", "307"}:
        yield "Location"
    if status in {"200", "206"} and responses[status].get("content", {}).keys() - {"application/json", _EVENTS}:
        yield "Content-Disposition"
    if "302" in responses and status in {"200", "206", "302", "304"}:
        yield "Repr-Digest"
    if "304" in responses and status in {"200", "206", "304"}:
        yield "ETag"
    if "206" in responses and status in {"200", "206"}:
        yield from ("Accept-Ranges", "Last-Modified")
    if status in {"206", "416"}:
        yield "Content-Range"


def _general(operation: Mapping[str, Any], method: str, *, takes_key: bool) -> dict[int | str, dict[str, Any]]:
    """Return the errors that an operation has because of its kind."""
    found = [503]
    if method not in SAFE_METHODS:
        found += [408, 413]
    if "application/json" in operation.get("requestBody", {}).get("content", {}):
        found += [400, 415]
    if takes_key:
        found.append(409)
    described = problem_responses(*found)
    for response in described.values():
        del response["model"]
    return described


def _split_formats(paths: dict[str, Any], path: str, operations: dict[str, Any]) -> None:
    """Describe each format at the path with its file extension; the parameter `format` and `Accept` still work."""
    operation = operations.get("get", {})
    parameters = operation.get("parameters", [])
    if all(one["name"] != "format" for one in parameters):
        return
    operation["parameters"] = [one for one in parameters if one["name"] != "format"]
    content = operation["responses"]["200"]["content"]
    for ending, media_type in _FORMATS.items():
        if media_type in content:
            other = copy.deepcopy(operation)
            other["operationId"] += f"_{ending}"
            other["summary"] += f" as {ending.upper()}"
            other["responses"]["200"]["content"] = {media_type: content[media_type]}
            other["responses"].pop("406", None)
            paths[f"{path}.{ending}"] = {"get": other}
    operation["responses"]["200"]["content"] = {"application/json": content["application/json"]}
    del operation["responses"]["200"]["headers"]["Content-Disposition"]
