"""A whole installation as docker-compose.yml describes it, its services run as local processes.

PostgreSQL and Redis are real, with the file's passwords and the roles that its script makes.
"""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from psycopg import sql
from sqlalchemy.engine import URL

from tests.support.compose import ROOT, Service, local_environment, running, services
from tests.support.postgres import PostgresServer, conninfo, find_binaries, postgres_server
from tests.support.processes import UnavailableError, free_port
from tests.support.redis_server import redis_server
from tests.support.site import UNVERIFIED
from tools import deploy_env

HOST = "voc.example.org"
ROLES_SCRIPT = ROOT / "deploy" / "postgres" / "roles.sql"
ROLES = ("vocboard_owner", "vocboard_web", "vocboard_worker", "vocboard_mail")
DATABASE = "vocboard"
PORT_IN_CONTAINER = "8000"
SECONDS_TO_START = 60.0


@dataclass(frozen=True)
class Installation:
    """A running installation.

    Attributes:
        url: where the web process listens on this machine, in plain HTTP.
        headers: what the proxy adds to a request, so that it counts as one over TLS for the installation's host.
        services: the services of the file by name.
        environments: the environment of each of our processes, as run here.
        volumes: the directory of each volume.
        admin_url: its database, as PostgreSQL's administrator.
        directory: where each process's `<name>.log` is.
        processes: those that run, by service.
    """

    url: str
    headers: Mapping[str, str]
    services: Mapping[str, Service]
    environments: Mapping[str, dict[str, str]]
    volumes: Mapping[str, Path]
    admin_url: URL
    directory: Path
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def client(self) -> httpx.Client:
        """Return an HTTP client that speaks to the web process as the proxy does."""
        headers = dict(self.headers)
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=30, verify=UNVERIFIED)

    def log(self, name: str) -> str:
        """Return what one of the processes has said."""
        file = self.directory / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""


@contextlib.contextmanager
def installed(
    directory: Path, *, faster: Mapping[str, str] | None = None, mail: str = "", programs: Path | None = None
) -> Iterator[Installation]:
    """Run migrate to its end, then web, worker and beat until the block ends; the mail service if there is mail.

    Args:
        directory: an empty one, for volumes and logs.
        faster: settings beside those of the file, to wait for less.
        mail: the URL of a mail server.
        programs: the directory of the program `vocboard`; by default that of this Python.

    Raises:
        UnavailableError: there is no PostgreSQL or no Redis on this machine.
        AssertionError: a process does not start; with what it said.
    """
    assert deploy_env.main([HOST, "internal"], directory) == 0
    variables = dict(line.split("=", 1) for line in (directory / ".env").read_text().splitlines())
    variables["VOCBOARD_MAIL_URL"] = mail
    at_work = ("worker", "beat", "mail") if mail else ("worker", "beat")
    composed = services(variables)
    volumes = {name: directory / name for name in ("archives", "truth-inbox", "truth")}
    for volume in volumes.values():
        volume.mkdir(mode=0o700)
    broker_password = variables["VOCBOARD_REDIS_PASSWORD"]
    with postgres_server() as postgres, redis_server(broker_password) as broker, roles(postgres, variables) as database:
        addresses = {
            "@postgres:5432": f"@{database.host}:{database.port}",
            f"redis://:{broker_password}@redis:6379": broker,
        }
        environments = {
            name: {**local_environment(composed[name], volumes=volumes, addresses=addresses), **(faster or {})}
            for name in ("migrate", "web", *at_work)
        }
        port = free_port()
        installation = Installation(
            url=f"http://127.0.0.1:{port}",
            headers={
                "Host": HOST,
                "X-Forwarded-Proto": "https",
                "X-Forwarded-For": "203.0.113.7",
                "X-Vocboard-Proxy": variables["VOCBOARD_PROXY_SECRET"],
            },
            services=composed,
            environments=environments,
            volumes=volumes,
            admin_url=database,
            directory=directory,
        )
        with running(composed["migrate"], environments["migrate"], directory, programs=programs) as migrate:
            assert migrate.wait(SECONDS_TO_START) == 0, installation.log("migrate")
        with contextlib.ExitStack() as stack:
            for name in at_work:
                installation.processes[name] = stack.enter_context(
                    running(composed[name], environments[name], directory, programs=programs)
                )
            on_port = {PORT_IN_CONTAINER: str(port), "0.0.0.0": "127.0.0.1"}
            web = stack.enter_context(
                running(composed["web"], environments["web"], directory, replacing=on_port, programs=programs)
            )
            installation.processes["web"] = web
            wait_until_ready(installation, web)
            yield installation


def wait_until_ready(installation: Installation, web: "subprocess.Popen[bytes]") -> None:
    """Wait until the web process says that it can do its work, and the worker takes ground truth in."""
    deadline = time.monotonic() + SECONDS_TO_START
    with installation.client() as client:
        while True:
            with contextlib.suppress(httpx.TransportError):
                if client.get("/readyz").status_code == httpx.codes.OK and any(
                    installation.volumes["truth-inbox"].iterdir()
                ):
                    return
            assert web.poll() is None, installation.log("web")
            assert time.monotonic() < deadline, installation.log("web") + installation.log("worker")
            time.sleep(0.1)


@contextlib.contextmanager
def roles(server: PostgresServer, variables: Mapping[str, str]) -> Iterator[URL]:
    """Make the database and the roles by the script that the PostgreSQL container runs on its new volume.

    Args:
        server: where; a role belongs to a whole server.
        variables: the roles' passwords, as the container gets them.

    Yields:
        The database, as the server's administrator.

    Raises:
        UnavailableError: there is no psql on this machine.
    """
    database = server.admin_url.set(database=DATABASE)
    remove_roles(server, database)  # a server given by address may have seen a run that was killed
    run_roles_script(server, variables)
    try:
        yield database
    finally:
        remove_roles(server, database)


def run_roles_script(server: PostgresServer, variables: Mapping[str, str]) -> None:
    """Run the script that makes database and roles, as the PostgreSQL container does."""
    arguments = ["--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-f", str(ROLES_SCRIPT), conninfo(server.admin_url)]
    done = subprocess.run(
        [find_psql(), *arguments],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def remove_roles(server: PostgresServer, database: URL) -> None:
    """Undo what the script has done."""
    server.drop_database(database)
    for role in ROLES:
        server.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


def find_psql() -> str:
    """Return PostgreSQL's client: the one beside the server's programs, or that of the PATH."""
    with contextlib.suppress(UnavailableError):
        if (beside := find_binaries() / "psql").exists():
            return str(beside)
    if on_path := shutil.which("psql"):
        return on_path
    raise UnavailableError("no psql: install a PostgreSQL client")
