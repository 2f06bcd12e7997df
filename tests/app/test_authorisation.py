"""Every route of the application, asked by everyone: the table of authorisation holds, and leaves no route out."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import select

from app.accounts.models import Scope, User
from app.database import Base, Database
from app.security import cookies
from app.settings import Settings
from tests.app.authorisation_table import TABLE, Person, Rule
from tests.app.authorisation_world import SECRET, World, build, token_without
from tests.support.browsing import from_here, token_of
from tests.support.site import Site, serving

MOUNTED = {"/static"}  # files of ours, the same for everyone
REFUSED = frozenset({401, 403, 404})
CHANGING_BY_THEMSELVES = {"last_used_at"}  # columns
CASES = [(route, number) for route, rules in TABLE.items() for number in range(len(rules))]


@pytest.fixture(scope="module")
def site(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("authorisation")
    database = shutil.copy(sqlite_template, directory / "vocboard.sqlite")
    with serving(Settings(data_directory=directory, database_url=f"sqlite:///{database}")) as running:
        yield running


@pytest.fixture(scope="module")
def built(site: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    """Give the world and the file of its database."""
    with site.writing() as session:
        world = build(session)
    site.database.close()  # writes everything into the one file
    file = tmp_path_factory.mktemp("world") / "world.sqlite"
    shutil.copy(str(site.database.engine.url.database), file)
    return world, file


@pytest.fixture
def world(site: Site, built: tuple[World, Path], tmp_path: Path) -> Iterator[World]:
    """Give a world in which nothing has happened yet."""
    given, file = built
    database = Database(f"sqlite:///{shutil.copy(file, tmp_path / 'world.sqlite')}")
    before, site.application.state.database = site.database, database
    yield given
    site.application.state.database = before
    database.close()


def test_every_route_has_a_rule(site: Site) -> None:
    contexts = list(iter_route_contexts(site.application.routes))
    assert {context.path for context in contexts if not context.methods} == MOUNTED
    routes = {
        f"{method} {context.path}" for context in contexts for method in context.methods or () if method != "HEAD"
    }
    assert routes == set(TABLE)


def test_rules_of_the_api_name_a_scope() -> None:
    needing_none = {"GET /api/v1/me", "GET /api/v1/openapi.json"}
    for route, rules in TABLE.items():
        if " /api/v1/" in route and route not in needing_none:
            assert all(rule.scope is not None for rule in rules), route


@pytest.mark.parametrize(("route", "number"), CASES)
def test_the_rule_holds(site: Site, world: World, route: str, number: int) -> None:
    rule = TABLE[route][number]
    before = content(site)
    for person in sorted(Person, key=lambda person: person in rule.allowed):  # those refused first
        response = ask(site, world, person, route, rule)
        assert response.status_code < 500, (person, response.text[:2000])
        assert is_refused(response, route) == (person not in rule.allowed), (person, response.status_code)
        if person not in rule.allowed:
            assert SECRET not in response.text, person
            if rule.hidden and not needs_sign_in(response):
                forbidden = response.status_code == 403 and lacks_scope(person, rule, route)
                assert response.status_code == 404 or forbidden, (person, response.status_code)
        if person not in rule.allowed or route.startswith("GET "):
            assert content(site) == before, f"{person} has changed something"


@pytest.mark.parametrize("person", [Person.VISITOR, Person.OTHER_PARTICIPANT, Person.OTHER_ORGANISER])
def test_no_route_shows_what_is_anothers_unpublished(site: Site, world: World, person: Person) -> None:
    for route, rules in TABLE.items():
        if route == "POST /sign-out":
            continue  # it would leave only visitors to ask the rest
        for rule in rules:
            assert SECRET not in ask(site, world, person, route, rule).text, (route, rule.path)


def test_the_owner_sees_what_others_are_searched_for(site: Site, world: World) -> None:
    for route in ("GET /submissions/{submission_id}", "GET /api/v1/submissions/{submission_id}"):
        rule = next(rule for rule in TABLE[route] if rule.hidden)
        assert SECRET in ask(site, world, Person.OWNER, route, rule).text


@pytest.mark.parametrize("scope", Scope)
def test_a_token_does_only_what_its_scopes_say(site: Site, world: World, scope: Scope) -> None:
    with site.writing() as session:
        tokens = {
            user.email.partition("@")[0].replace("-", " "): token_without(session, user, scope)
            for user in session.scalars(select(User)).all()
        }
    for route, rules in TABLE.items():
        for rule in rules:
            if rule.scope is not scope:
                continue
            for person in rule.allowed - {Person.VISITOR}:
                with site.client(tokens[person]) as client:
                    response = send(client, world, route, rule)
                assert response.status_code == 403, (route, person)


def ask(site: Site, world: World, person: Person, route: str, rule: Rule) -> httpx.Response:
    """Send a request as somebody: the API's with a token, the pages' with the cookie and the token of the forms."""
    if " /api/" in route:
        with site.client(world.tokens.get(person)) as client:
            return send(client, world, route, rule)
    with site.client() as client:
        if person in world.sessions:
            client.cookies.set(cookies.SESSION, world.sessions[person], domain="127.0.0.1")
        if route.startswith("GET "):
            return send(client, world, route, rule)
        token = token_of(client.get("/" if person in world.sessions else "/sign-in"))
        form = {"csrf_token": token, **rule.form}
        return send(client, world, route, rule, data=form, headers=from_here(client))


def send(client: httpx.Client, world: World, route: str, rule: Rule, **given: Any) -> httpx.Response:
    method, _, path = route.partition(" ")
    for name, meant in rule.path.items():
        path = path.replace("{" + name + "}", world.objects.get(meant, meant))
    assert "{" not in path, "the rule does not say what the path's fields are"
    return client.request(method, path, json=rule.json, **given)


def is_refused(response: httpx.Response, route: str) -> bool:
    return response.status_code in REFUSED or needs_sign_in(response)


def needs_sign_in(response: httpx.Response) -> bool:
    return response.status_code == 401 or response.headers.get("location", "").startswith("/sign-in?next=")


def lacks_scope(person: Person, rule: Rule, route: str) -> bool:
    """Whether the person cannot even ask: participants have neither the scope to organise nor its pages."""
    may_not_organise = person in {Person.OTHER_PARTICIPANT, Person.OWNER}
    return may_not_organise and (rule.scope is Scope.ORGANISE or " /organise" in route)


def content(site: Site) -> str:
    """A fingerprint of the database, without what changes with every visit."""
    digest = hashlib.sha256()
    with site.database.reading() as session:
        for table in Base.metadata.sorted_tables:
            columns = [column for column in table.columns if column.name not in CHANGING_BY_THEMSELVES]
            rows = sorted(map(repr, session.execute(select(*columns)).all()))
            digest.update(f"{table.name} {rows}".encode())
    return digest.hexdigest()
