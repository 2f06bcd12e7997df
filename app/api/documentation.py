"""The OpenAPI document of the API, with what FastAPI does not find out by itself."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from vocboard.app.web.problem_details import MEDIA_TYPE


def upload_form(
    properties: Mapping[str, Any], *, required: list[str], others: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the `openapi_extra` of an operation that reads a form while it arrives.

    Args:
        others: schema of fields with other names; by default there are none.
    """
    schema = {"type": "object", "required": required, "properties": properties}
    if others is not None:
        schema["additionalProperties"] = others
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def file_responses(*media_types: str, **schema: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of an operation that can return files of these types.

    Args:
        schema: what is said of them beside their being strings.
    """
    content = {media_type: {"schema": {"type": "string", **schema}} for media_type in media_types}
    return {200: {"content": content}}


ELSEWHERE: dict[int | str, dict[str, Any]] = {
    302: {"description": "Where to download it, within five minutes: some sites have another server for that."}
}


def operation_name(route: APIRoute) -> str:
    """Return an operation's id in the document, used by generated clients: the handler's name."""
    return route.name


def install(application: FastAPI) -> None:
    """Describe error responses as problem details in the OpenAPI document."""
    plain = application.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for operations in document["paths"].values():
            for operation in operations.values():
                for status, response in operation["responses"].items():
                    if status >= "4" and MEDIA_TYPE in response.get("content", {}):
                        response["content"] = {MEDIA_TYPE: response["content"][MEDIA_TYPE]}
        return document

    application.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it
