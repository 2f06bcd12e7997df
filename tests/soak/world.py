"""Two machines with a directory each, and what they share: PostgreSQL with a stand-by, Redis, a store, mail, a proxy.

Every connection between them passes a relay, which can be slow, silent or broken.
"""

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from nacl.public import PrivateKey
from pydantic import SecretStr
from sqlalchemy.engine import URL

from benchmarks.relay import Relay, relaying
from tests.soak.postgres_pair import PostgresPair, postgres_pair
from tests.support import forked
from tests.support.backend import kill_group
from tests.support.crashing_servers import CrashingServer, crashing_redis
from tests.support.forked import Forked
from tests.support.installation import HOST
from tests.support.life import eventually, is_served
from tests.support.mail import MailServer, mail_server
from tests.support.processes import free_port
from tests.support.proxy import Proxy, in_front_of
from tests.support.s3_server import KEY, KEY_ID, s3_server, settings_of
from tests.support.services import in_full
from tests.support.working import environment_of
from vocboard import migrations
from vocboard.app.database import Database
from vocboard.app.settings import Environment, Settings
from vocboard.app.storage.s3_objects import Bucket

MACHINES = 2
POSTGRES, REDIS, STORE, MAIL, WEB = "PostgreSQL", "Redis", "store", "mail", "web"
UNLIMITED = 1_000_000


class Processes:
    """Our processes; each can be started again as the container engine would."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._commands: dict[str, tuple[tuple[str, ...], Mapping[str, str]]] = {}
        self._running: dict[str, Forked] = {}

    def start(self, name: str, command: tuple[str, ...] = (), environment: Mapping[str, str] | None = None) -> None:
        """Start `vocboard` with the file of its clock and a command, or as it was started before."""
        self._commands.setdefault(name, (command, environment or {}))
        arguments, variables = self._commands[name]
        with (self.logs / f"{name}.log").open("ab") as log:
            self._running[name] = forked.start(arguments, environment=variables, output=log, program="tests.soak.clock")

    def pid(self, name: str) -> int:
        """The process, which leads a group."""
        return self._running[name].pid

    def kill(self, name: str) -> None:
        """Kill one with its children."""
        kill_group(self._running[name])

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one and its children."""
        os.killpg(self._running[name].pid, number)

    def dead(self) -> list[str]:
        """Those that have ended although nobody killed them."""
        return [name for name, process in self._running.items() if process.poll() is not None]

    def stop(self) -> None:
        """Kill all."""
        for name in self._running:
            self.kill(name)


@dataclass(frozen=True)
class World:
    """All of it.

    Attributes:
        settings: those of a process that reaches the store without a relay.
        clocks: files that say by how many seconds the clock of each machine is wrong.
        relays: of each machine, by what they lead to; `WEB` leads from the proxy to its web process.
        database_url: of the database, with the address of any of the two servers.
    """

    settings: Settings
    processes: Processes
    clocks: tuple[Path, ...]
    relays: tuple[Mapping[str, Relay], ...]
    postgres: PostgresPair
    redis: CrashingServer
    redis_url: str
    mail: MailServer
    proxy: Proxy
    database_url: URL

    @contextlib.contextmanager
    def database(self) -> Iterator[Database]:
        """Open the database without a relay, at the server that is the primary now."""
        address = self.postgres.primary.address.set(database=self.database_url.database)
        with contextlib.closing(Database(in_full(address))) as database:
            yield database

    def relays_to(self, name: str) -> list[Relay]:
        """The relays of all machines to one service."""
        return [relays[name] for relays in self.relays]


@contextlib.contextmanager
def running(directory: Path, *, lease: timedelta) -> Iterator[World]:
    """Run everything until the block ends.

    Raises:
        UnavailableError: PostgreSQL, Redis or Caddy are not there.
    """
    with contextlib.ExitStack() as stack:
        pair = stack.enter_context(postgres_pair())
        redis_url, redis = stack.enter_context(crashing_redis())
        store_url = stack.enter_context(s3_server())
        mail = stack.enter_context(mail_server(directory / "mail"))
        database_url = pair.start()
        migrations.upgrade(in_full(database_url))
        direct = Bucket("s3://soak/prefix", store_url, "us-east-1", KEY_ID, KEY)
        direct.client().create_bucket(Bucket=direct.name)
        key = directory / "worker.private-key"
        key.write_bytes(bytes(PrivateKey.generate()))
        secret_key, proxy_secret = (SecretStr(os.urandom(32).hex()) for _ in range(2))
        ports = {
            POSTGRES: int(database_url.port or 0),
            REDIS: int(urlsplit(redis_url).port or 0),
            STORE: int(urlsplit(store_url).port or 0),
            MAIL: mail.port,
        }
        processes = Processes(directory)
        stack.callback(processes.stop)
        all_relays, all_settings, clocks = [], [], []
        for number in range(MACHINES):
            web = free_port()
            relays = {name: stack.enter_context(relaying(port)) for name, port in {**ports, WEB: web}.items()}
            all_relays.append(relays)
            listening = {name: int(urlsplit(relay.url).port or 0) for name, relay in relays.items()}
            bucket = replace(direct, endpoint=relays[STORE].url)
            settings = Settings(
                environment=Environment.PRODUCTION,
                public_url=f"https://{HOST}",
                data_directory=directory / f"machine-{number}",
                database_url=in_full(database_url.set(port=listening[POSTGRES])),
                broker_url=f"redis://127.0.0.1:{listening[REDIS]}/0",
                mail_url=SecretStr(f"smtp://127.0.0.1:{listening[MAIL]}"),
                truth_key_file=key,
                lease=lease,
                uploads_per_hour=UNLIMITED,
                upload_bytes_per_day=UNLIMITED**2,
                concurrent_uploads_per_address=UNLIMITED,  # everybody comes from this machine
                secret_key=secret_key,
                proxy_secret=proxy_secret,
                **settings_of(bucket),
            )
            settings.data_directory.mkdir()
            all_settings.append(settings)
            clocks.append(directory / f"clock-{number}")
            clocks[-1].write_text("0")
            own = {f"web-{number}": ("serve", "--port", str(web)), f"worker-{number}": ("worker",)}
            if number == 0:
                own |= {"beat": ("beat",), "mail": ("worker", "--only", "mail")}
            for name, command in own.items():
                processes.start(name, (str(clocks[-1]), *command), environment_of(settings))
        for relays in all_relays:
            eventually(partial(is_served, f"{relays[WEB].url}/healthz"))
        variables = {"HOST": HOST, "TLS": "internal", "PROXY_SECRET": proxy_secret.get_secret_value()}
        webs = " ".join(relays[WEB].url for relays in all_relays)
        proxy = stack.enter_context(in_front_of(webs, {f"VOCBOARD_{name}": text for name, text in variables.items()}))
        yield World(
            settings=all_settings[0].model_copy(update=settings_of(direct)),
            processes=processes,
            clocks=tuple(clocks),
            relays=tuple(all_relays),
            postgres=pair,
            redis=redis,
            redis_url=f"{redis_url}/0",
            mail=mail,
            proxy=proxy,
            database_url=database_url,
        )
