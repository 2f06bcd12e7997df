"""Every route of the application, asked by everyone: the table of authorisation holds, and leaves no route out."""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import URL, create_engine, select
from starlette.routing import Mount, Route

from tests.app.authorisation_table import DRAFT, PUBLIC, SIGNED_IN, TABLE, Person, Rule
from tests.app.authorisation_world import SECRET, SHOWN_SCORE, World, build, meant, using
from tests.support.browsing import from_here
from tests.support.factories import make_token
from tests.support.site import Site, serving
from vocboard.app.accounts.models import Role, Scope, User
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.models import Admission, Challenge, Visibility
from vocboard.app.database import Base, Database, now
from vocboard.app.intake.models import Upload
from vocboard.app.settings import Settings
from vocboard.app.web import cookies, csrf

MOUNTED = {"/static"}  # files of ours, the same for everyone
# Forms of pages that do not lead to another page: a file to save, a part of the form for its script, the list with what
# was refused, and what mail programs send (RFC 8058, section 3.1).
NO_REDIRECT = {
    "POST /organise/{slug}/export",
    "POST /challenges/{slug}/submit/check",
    "POST /organise/{slug}/submissions/actions",
    "POST /unsubscribe",
}
ABOUT_ONESELF = {"GET /api/v1/me", "GET /api/v1/account/export"}
VISITOR = "v" * 43  # cookie of a browser without a session
REFUSED = frozenset({401, 403, 404})
CHANGING_BY_THEMSELVES = {"last_used_at"}  # columns
# As whom a token without the scope `organise` acts.
AS_PARTICIPANT = dict.fromkeys(
    (Person.OTHER_ORGANISER, Person.ORGANISER, Person.SECOND_ORGANISER, Person.ADMINISTRATOR), Person.OTHER_PARTICIPANT
)
OUTSIDERS = {Person.VISITOR, Person.OTHER_PARTICIPANT, Person.OTHER_ORGANISER}  # to all that is not published
OF_PUBLIC_CHALLENGE = {"public-challenge", "published", "private", "rescore"}  # names of the table
CASES = [(route, number) for route, rules in TABLE.items() for number in range(len(rules))]


@pytest.fixture(scope="module")
def built(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    """Give the world and the file of its database."""
    file = tmp_path_factory.mktemp("world") / "world.sqlite"
    shutil.copy(sqlite_template, file)
    with closing(Database(f"sqlite:///{file}")) as database, database.writing() as session:
        return build(session), file


@pytest.fixture(scope="module")
def shared_site(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a site that begins with an empty database: without archives, it would take those of a world for lost."""
    directory = tmp_path_factory.mktemp("authorisation")
    database = shutil.copy(sqlite_template, directory / "vocboard.sqlite")
    settings = Settings(
        data_directory=directory,
        database_url=f"sqlite:///{database}",
        security_contact="mailto:security@lab.example",
    )
    with serving(settings) as running:
        yield running


@pytest.fixture(scope="module")
def read_content(
    shared_site: Site, built: tuple[World, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Let the site have a world that is only read, and give what fingerprints its database."""
    with (
        using(shared_site, built[1], tmp_path_factory.mktemp("read")),
        closing(Content(shared_site.database.engine.url)) as fingerprint,
    ):
        yield fingerprint


@pytest.fixture
def site(shared_site: Site, built: tuple[World, Path], tmp_path: Path) -> Iterator[Site]:
    """Give a site with a world in which nothing has happened yet."""
    with using(shared_site, built[1], tmp_path):
        yield shared_site


@pytest.fixture
def world(built: tuple[World, Path]) -> World:
    """Give what is on the site."""
    return built[0]


@pytest.fixture
def content(site: Site, world: World) -> Iterator[Callable[[], str]]:
    """Give what fingerprints the world's database."""
    with closing(Content(site.database.engine.url)) as fingerprint:
        yield fingerprint


def test_every_route_has_a_rule(site: Site) -> None:
    routes = site.application.routes
    assert {route.path for route in routes if isinstance(route, Mount)} == MOUNTED
    known = [route for route in routes if isinstance(route, Route)]
    assert len(known) == len(routes) - len(MOUNTED), "routes of another kind, such as of an included router"
    assert {f"{method} {one.path}" for one in known for method in (one.methods or set()) - {"HEAD"}} == set(TABLE)


def test_rules_of_the_api_name_a_scope() -> None:
    needing_none = {
        "GET /api/v1/me",
        "GET /api/v1/openapi.json",
        "OPTIONS /api/v1/uploads",
    }
    for route, rules in TABLE.items():
        if " /api/v1/" in route and route not in needing_none:
            assert all(rule.scope is not None for rule in rules), route


@pytest.mark.parametrize(("route", "number"), CASES)
def test_the_rule_holds(
    shared_site: Site, world: World, request: pytest.FixtureRequest, route: str, number: int
) -> None:
    site, rule = shared_site, TABLE[route][number]
    content = request.getfixturevalue("read_content" if route.startswith("GET ") else "content")
    before = content()
    for person in sorted(Person, key=lambda person: person in rule.allowed):  # those refused first
        response = ask(site, world, person, route, rule)
        assert response.status_code < 500, (person, response.text[:2000])
        assert is_refused(response, route) == (person not in rule.allowed), (person, response.status_code)
        if person not in rule.allowed or person in OUTSIDERS:
            assert SECRET not in response.text, person
        if person not in rule.allowed and rule.hidden and not needs_sign_in(response):
            forbidden = response.status_code == 403 and lacks_scope(person, rule, route)
            assert response.status_code == 404 or forbidden, (person, response.status_code)
        if person in rule.allowed and route.startswith("POST /") and " /api/" not in route and route not in NO_REDIRECT:
            # 422, 409 and 429: the form is shown again with what is wrong.
            assert response.status_code == 303 or response.status_code >= 400, (person, response.status_code)
        if person not in rule.allowed or route.startswith("GET "):
            assert content() == before, f"{person} has changed something"


def test_the_owner_sees_what_others_are_searched_for(site: Site, world: World) -> None:
    for route in ("GET /submissions/{submission_id}", "GET /api/v1/submissions/{submission_id}"):
        rule = next(rule for rule in TABLE[route] if rule.hidden)
        assert SECRET in ask(site, world, Person.OWNER, route, rule).text


# An archived challenge keeps its organisers, who can reopen, export and copy it. Of its rules only texts and visibility
# can change, as in the table's example. Names are those of whole routes, so that others below `/people` are tried, say.
CHANGEABLE_WHEN_ARCHIVED = re.compile(
    r"POST .*/{slug}/(reopen|export|copy|people|invitations)"
    r"|POST /organise/{slug}/people/(invitations/{invitation_id}/withdraw|{user_id}/(remove|hand-over))"
    r"|(PUT|DELETE) .*/{slug}/(owner|organisers/{user_id}|invitations/{invitation_id})"
    r"|POST .*/invitations/{invitation_id}/(accept|decline)"
    r"|(POST|DELETE) .*/anonymous-link(/revoke)?"
    r"|PATCH /api/v1/challenges/{slug}"
    r"|.* (/api/v1/challenges|/organise)/{slug}/webhooks.*"  # addresses of organisers, not of the challenge
)


# What would change nothing in an open challenge, either: the re-score is discarded already, no worker takes ground
# truth, and a public challenge with submissions is no draft.
WITHOUT_EFFECT = re.compile(
    r"POST .*/rescores/{rescore_id}/(apply|discard)|POST /api/v1/challenges/{slug}/ground-truth"
    r"|DELETE /api/v1/challenges/{slug}|POST /organise/{slug}/(delete|open)"
)


@pytest.mark.parametrize("person", [Person.ORGANISER, Person.OWNER])
def test_nothing_changes_in_an_archived_challenge(
    site: Site, world: World, content: Callable[[], str], person: Person
) -> None:
    with site.writing() as session:
        challenge = session.scalars(select(Challenge).where(Challenge.slug == PUBLIC["slug"])).one()
        challenge.archived_at = now()
    before = content()
    for route, rules in TABLE.items():
        if route.startswith("GET ") or CHANGEABLE_WHEN_ARCHIVED.fullmatch(route):
            continue
        for rule in rules:
            if person not in rule.allowed or not OF_PUBLIC_CHALLENGE & {*rule.path.values()}:
                continue
            response = ask(site, world, person, route, rule)
            assert response.status_code < 500, (route, response.text[:2000])
            assert content() == before, route
            if person is Person.ORGANISER and not is_refused(response, route) and not WITHOUT_EFFECT.fullmatch(route):
                assert "archived" in response.text, (route, response.status_code)


# Names of the table that stand for something of the public challenge, which others see if its challenge is not private.
OF_PRIVATE_CHALLENGE = OF_PUBLIC_CHALLENGE | {
    "published-method",
    "private-method",
    "anonymous",
    "join-link",
    "team",
    "upload",
    "public-file",
    "admitted-file",
}
# What shows signed-in people, too, what visitors see.
ONLY_FOR_OPEN_CHALLENGES = re.compile(r".*(/embed|/preview\.png|/feed\.atom|/anonymous/{token}|/methods/{method_id}.*)")


@pytest.mark.parametrize("person", [Person.VISITOR, Person.OTHER_ORGANISER])
def test_who_is_not_admitted_reaches_a_private_challenge_by_no_route(site: Site, world: World, person: Person) -> None:
    """Nor does a list name it."""
    _make_private(site)
    for route, rules in TABLE.items():
        for rule in rules:
            if not {*rule.path.values(), *rule.query.values()} & OF_PRIVATE_CHALLENGE:
                if route.startswith("GET ") and "/docs" not in route and DRAFT["slug"] not in rule.path.values():
                    assert SECRET not in ask(site, world, person, route, rule).text, (route, dict(rule.path))
                continue
            if person is Person.VISITOR and route.startswith("POST /") and " /api/" not in route:
                continue  # forms are for signed-in people
            response = ask(site, world, person, route, rule)
            case = (route, dict(rule.path), response.status_code, response.text[:500])
            assert response.status_code == 404 or (person is Person.VISITOR and needs_sign_in(response)), case
            assert SECRET not in response.text, case


def test_a_person_admitted_to_a_private_challenge_reads_all_of_it(site: Site, world: World) -> None:
    """By domain, once the address is confirmed. Embedding and what is meant for everyone do not exist for anybody."""
    _make_private(site, domains=["lab.example"])
    person = Person.OTHER_PARTICIPANT
    for route, rules in TABLE.items():
        for rule in rules:
            if route.startswith("GET ") and rule.path.get("slug") == PUBLIC["slug"] and person in rule.allowed:
                response = ask(site, world, person, route, rule)
                is_shown = not ONLY_FOR_OPEN_CHALLENGES.fullmatch(route)
                assert is_refused(response, route) != is_shown, (route, dict(rule.path), response.text[:500])
    assert f"Private {SECRET}" in ask(site, world, person, "GET /", Rule(SIGNED_IN)).text
    with site.writing() as session:
        user = session.scalars(select(User).where(User.email == "other-participant@lab.example")).one()
        user.email_confirmed_at = None
    assert is_refused(ask(site, world, person, "GET /challenges/{slug}", Rule(SIGNED_IN, PUBLIC)), "GET")


def _make_private(site: Site, *, domains: Sequence[str] = ("cs.lab.example", "ab.example")) -> None:
    with site.writing() as session:
        challenge = session.scalars(select(Challenge).where(Challenge.slug == PUBLIC["slug"])).one()
        challenge.visibility, challenge.title = Visibility.PRIVATE, f"Private {SECRET}"
        for phase in challenge_queries.challenge_with_phases(session, challenge.id).phases:
            phase.admission, phase.admission_domains = Admission.DOMAIN, list(domains)


@pytest.mark.parametrize("scope", Scope)
def test_a_token_does_only_what_its_scope_says(
    site: Site, world: World, content: Callable[[], str], scope: Scope
) -> None:
    """Every route of the API that needs the scope, with all others and with it alone.

    Asked as every person whom the rule allows it with all scopes.
    """
    tokens = []  # those that do not suffice first
    with site.writing() as session:
        people = {user.email.partition("@")[0].replace("-", " "): user for user in session.scalars(select(User)).all()}
        for scopes, person in product((set(Scope) - {scope}, {scope}), (one for one in Person if one in people)):
            given = scopes - ({Scope.ORGANISE} if people[person].role is Role.PARTICIPANT else set())
            if given:
                tokens.append((given, person, make_token(session, people[person], *given)))
    before = content()
    for route, rules in TABLE.items():
        if " /api/v1/" not in route:
            continue
        for rule, (given, person, token) in product(rules, tokens):
            acting = person if Scope.ORGANISE in given else AS_PARTICIPANT.get(person, person)
            if not (rule.scope is scope or (rule.scope is None and scope in given)):
                continue
            if rule.allowed.isdisjoint({person, acting}) or (given == {Scope.READ} and person in AS_PARTICIPANT):
                continue  # nobody to ask, or what the next test asks
            may = acting in rule.allowed and scope in given
            with site.client(token) as client:
                response = send(client, world, route, rule)
            case = (route, dict(rule.path), person.value, given, response.status_code, response.text[:500])
            assert response.status_code < 500, case
            assert is_refused(response, route) != may, case
            if not may:
                assert SECRET not in response.text, case
                assert content() == before, case
            if Scope.READ not in given and rule.scope is not Scope.ORGANISE:
                assert SHOWN_SCORE not in response.text, case
            before = content() if may and not route.startswith("GET ") else before


def test_organisers_see_no_more_than_participants_without_the_scope(site: Site, world: World) -> None:
    emails = [f"{person.replace(' ', '-')}@lab.example" for person in (*AS_PARTICIPANT, Person.OTHER_PARTICIPANT)]
    with site.writing() as session:
        users = session.scalars(select(User).where(User.email.in_(emails))).all()
        tokens = [make_token(session, user, Scope.READ, Scope.SUBMIT) for user in users]
    for route, rules in TABLE.items():
        if not route.startswith("GET /api/v1/") or route in ABOUT_ONESELF:
            continue
        for rule in (rule for rule in rules if rule.scope is not Scope.ORGANISE):
            seen = set()
            for token in tokens:
                with site.client(token) as client:
                    response = send(client, world, route, rule)
                seen.add((response.status_code, response.text))
            assert len(seen) == 1, (route, dict(rule.path), seen)


def ask(site: Site, world: World, person: Person, route: str, rule: Rule) -> httpx.Response:
    """Send a request as somebody: the API's with a token, the pages' with the cookie and its token for forms.

    The pages themselves are not opened for that: it would take longer than all the rest.
    """
    if " /api/" in route:
        with site.client(world.tokens.get(person)) as client:
            return send(client, world, route, rule)
    with site.client() as client:
        cookie, secret = cookies.VISITOR.base, VISITOR
        if person in world.sessions:
            cookie, secret = cookies.SESSION.base, world.sessions[person]
        client.cookies.set(cookie, secret, domain="127.0.0.1")
        if route.startswith("GET "):
            return send(client, world, route, rule)
        form = {"csrf_token": csrf.form_token(secret, site.settings), **meant(world, rule.form)}
        return send(client, world, route, rule, data=form, headers=from_here(client))


def send(client: httpx.Client, world: World, route: str, rule: Rule, **given: Any) -> httpx.Response:
    method, _, path = route.partition(" ")
    for name, value in meant(world, rule.path).items():
        path = re.sub("{" + name + "(:path)?}", lambda _, value=value: value, path)
    assert "{" not in path, "the rule does not say what the path's fields are"
    body = None if rule.json is None else meant(world, rule.json)
    headers = {**rule.headers, **given.pop("headers", {})}
    return client.request(method, path, json=body, params=meant(world, rule.query) or None, headers=headers, **given)


def is_refused(response: httpx.Response, route: str) -> bool:
    return response.status_code in REFUSED or needs_sign_in(response)


def needs_sign_in(response: httpx.Response) -> bool:
    return response.status_code == 401 or response.headers.get("location", "").startswith("/sign-in?next=")


def lacks_scope(person: Person, rule: Rule, route: str) -> bool:
    """Whether the person cannot even ask: participants have neither the scope to organise nor its pages."""
    may_not_organise = person in {Person.OTHER_PARTICIPANT, Person.OWNER}
    return may_not_organise and (rule.scope is Scope.ORGANISE or " /organise" in route)


# Without what changes with every visit, and without attempts to upload, which all count.
CONTENT = [
    "SELECT {} FROM {} ORDER BY {}".format(
        ", ".join(f'"{column.name}"' for column in table.columns if column.name not in CHANGING_BY_THEMSELVES),
        table.name,
        ", ".join(f'"{column.name}"' for column in table.primary_key),
    )
    for table in Base.metadata.sorted_tables
    if table is not Upload.__table__
]
# What is another after each transaction that writes.
VERSIONS = {"sqlite": "PRAGMA data_version", "postgresql": "SELECT pg_current_snapshot()::text"}


class Content:
    """What is in a database: one fingerprint for all rows."""

    def __init__(self, url: URL) -> None:
        self._engine = create_engine(url, isolation_level="AUTOCOMMIT")
        self._connection = self._engine.connect()
        self._cursor = self._connection.connection.cursor()  # SQLAlchemy's results would take as long again
        self._version: object = None
        self._fingerprint = ""

    def __call__(self) -> str:
        """Return the fingerprint; computed again once another connection has committed a change."""
        version = self._rows(VERSIONS[self._engine.dialect.name])
        if version != self._version:
            self._version, digest = version, hashlib.sha256()
            for query in CONTENT:
                digest.update(f"{query} {self._rows(query)}".encode())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def _rows(self, query: str) -> list[Any]:
        self._cursor.execute(query)
        return self._cursor.fetchall()

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()
