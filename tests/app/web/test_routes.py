"""Routes find out about their handlers when these are needed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI, Query
from fastapi.routing import APIRoute

from vocboard.app.web.preconditions import readers
from vocboard.app.web.routes import Routes


@pytest.fixture
def router() -> Routes:
    router = Routes("/numbers", include_in_schema=True)

    @router.get("/{number}/half")
    def half(number: int, digits: Annotated[int, Query(le=3)] = 0) -> float:
        return round(number / 2, digits)

    @router.post("/{number}/double")
    def double(number: int) -> int:
        return 2 * number

    return router


def get(application: FastAPI, path: str, **query: int) -> httpx.Response:
    async def response() -> httpx.Response:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.get(path, params=query)

    return asyncio.run(response())


def is_analysed(route: object) -> bool:
    return "dependant" in vars(route)


def test_a_handler_is_analysed_with_the_first_request_to_it(router: Routes) -> None:
    application = FastAPI()
    application.router.routes.extend(router.routes)
    half, double = router.routes
    assert readers(router.routes) == {}
    assert get(application, "/numbers/5/other").status_code == 404
    assert get(application, "/numbers/5/double").status_code == 405
    assert [is_analysed(half), is_analysed(double)] == [False, False]
    assert get(application, "/numbers/5/half", digits=1).json() == 2.5
    assert [is_analysed(half), is_analysed(double)] == [True, False]
    assert get(application, "/numbers/5/half", digits=4).status_code == 422
    document = get(application, "/openapi.json").json()
    assert document["paths"].keys() == {"/numbers/{number}/half", "/numbers/{number}/double"}
    assert is_analysed(double)


def test_what_a_route_does_not_have_is_missing_before_and_after(router: Routes) -> None:
    for route in router.routes:
        for _ in range(2):
            with pytest.raises(AttributeError, match="no_such"):
                route.no_such  # type: ignore[attr-defined]  # noqa: B018


def test_threads_that_ask_at_once_get_the_whole_route(router: Routes) -> None:
    route = router.routes[0]
    assert isinstance(route, APIRoute)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: (route.app, route.dependant.query_params[0].name), range(64)))
    assert all(callable(app) and name == "digits" for app, name in found)
