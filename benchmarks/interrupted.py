"""An upload that is interrupted again and again: it continues where it was, and what is stored is the file.

    python -m benchmarks.interrupted [--mebibytes 500] [--embedded]

`vocboard submit` sends an archive through a relay. Meanwhile the client is killed and started again, the network resets
the connection, and all web processes are killed and started again. By default on PostgreSQL and Redis, with several web
processes behind a real Caddy with docker-compose.yml's Caddyfile; with `--embedded`, on SQLite and with one process.

Prints how many bytes were sent again after each. Exit status 1 if they are more than the server may lose: what arrived
since it last recorded the offset if it was killed, otherwise only what was on its way.
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.relay import Relay, relaying
from benchmarks.running import MIB, ROOT, Installation, installed, serving
from tests.support.factories import make_challenge, make_token, make_truth, make_user
from tests.support.installation import HOST
from tests.support.proxy import in_front_of
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.database import Database
from vocboard.app.intake.models import ResumableUpload, Upload
from vocboard.app.intake.parts import RECORDED_EVERY_BYTES
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.models import Submission
from vocboard.client.archive import OutgoingArchive
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.image_sets import ImageSet, ImageSets

SLUG, EDITION = "interrupted", "VOC2007"
WEB_PROCESSES = 2  # as in docker-compose.yml; the embedded set-up has one
ON_ITS_WAY_BYTES = 8 * MIB  # in buffers of the system, and what the protocols add
CONTINUED_FROM_BYTES = 256 * 1024  # more than all requests but those with parts of the archive
DETECTIONS = 10_000  # of a class in an image: the most that are allowed
LINE_BYTES = 46
CLIENT_SECONDS = 1200.0


@dataclass(frozen=True, slots=True)
class Interruption:
    """Interruptions of an upload, and their cost.

    Attributes:
        at: share of the archive that had been sent.
        sent_again: bytes.
        allowed: bytes that may have to be sent again.
    """

    name: str
    at: float
    sent_again: int
    allowed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an upload.

    Attributes:
        byte_count: of the archive.
        sent: bytes that clients have sent, all requests and TLS included.
        seconds: from the first client's start to the last one's end.
        problems: what is wrong with the result.
    """

    byte_count: int
    sent: int
    seconds: float
    interruptions: Sequence[Interruption]
    problems: Sequence[str]

    def rows(self) -> Iterator[str]:
        """Yield the lines of a report."""
        yield f"{self.byte_count / MIB:,.1f} MiB, {self.sent / MIB:,.1f} MiB sent in {self.seconds:,.1f} s"
        for each in self.interruptions:
            sent, allowed = each.sent_again / MIB, each.allowed / MIB
            yield f"  {each.name:<28} at {each.at:4.0%}: {sent:6.2f} MiB sent again (allowed {allowed:.0f})"
        yield from self.problems


@dataclass(frozen=True)
class WebServer:
    """The web processes of an installation."""

    installation: Installation
    processes: int
    running: contextlib.ExitStack

    def start(self) -> None:
        """Start them, and wait until they answer."""
        self.running.enter_context(serving(self.installation, processes=self.processes))

    def restart(self) -> None:
        """Kill them, and start them again."""
        parent = self.installation.processes["serve"]
        for process in (parent, *parent.children(recursive=True)):
            process.kill()
        self.running.close()
        self.start()


@dataclass
class Attempt:
    """The client, and all that can happen to it.

    Attributes:
        environment: of the client: its server, token and directories.
        log: file with what the client says.
    """

    server: WebServer
    relay: Relay
    archive: Path
    environment: Mapping[str, str]
    log: Path
    client: subprocess.Popen[bytes] | None = None

    def start_client(self) -> None:
        """Start `vocboard submit`."""
        program = [sys.executable, "-m", "vocboard.commands.main", "submit", SLUG, str(self.archive)]
        with self.log.open("ab") as log:
            self.client = subprocess.Popen(
                [*program, "--method", "Method", "--training-data", "Images of our own.", "--flickr-images", "no"],
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill_client(self) -> None:
        """Kill the client."""
        if self.client is not None:
            self.client.kill()
            self.client.wait()

    def restart_client(self) -> None:
        """Kill the client, and start it again when all that it had sent is on its way."""
        self.kill_client()
        self.relay.release()
        self.relay.wait_until_idle()
        self.start_client()

    def restart_server(self) -> None:
        """Kill all web processes, and start them again."""
        self.server.restart()
        self.relay.reset()


def run(directory: Path, *, byte_count: int, embedded: bool = False) -> Outcome:
    """Upload an archive with all interruptions.

    Args:
        directory: an empty one.
        byte_count: of the archive, about.
        embedded: on SQLite, without a proxy.
    """
    archive = directory / "results.tar"
    make_archive(archive, byte_count)
    settings = directory / "installation"
    settings.mkdir()
    with installed(settings, embedded=embedded) as installation, contextlib.ExitStack() as stack:
        database = Database(installation.settings.database)
        stack.callback(database.close)
        with database.writing() as session:
            make_test_set(session)
            token = make_token(session, make_user(session))
        given = {
            "VOCBOARD_TOKEN": token,
            "XDG_CACHE_HOME": str(directory / "cache"),
            "XDG_CONFIG_HOME": str(directory / "config"),
        }
        server = WebServer(installation, 1 if embedded else WEB_PROCESSES, stack.enter_context(contextlib.ExitStack()))
        server.start()
        if embedded:
            relay = stack.enter_context(relaying(int(installation.url.rpartition(":")[2])))
            given["VOCBOARD_SERVER"] = relay.url
        else:
            proxy = stack.enter_context(in_front_of(installation.url, _caddyfile_variables(installation)))
            relay = stack.enter_context(relaying(proxy.https_port, opens_tunnels=True))
            given |= {
                "VOCBOARD_SERVER": f"https://{HOST}",
                "HTTPS_PROXY": relay.url,
                "SSL_CERT_FILE": str(proxy.authority),
            }
        attempt = Attempt(server, relay, archive, given, directory / "client.log")
        stack.callback(attempt.kill_client)
        return _interrupt(attempt, database)


def make_archive(path: Path, byte_count: int) -> None:
    """Write a tar of valid detections, of about this size."""
    classes = load(EDITION).classes
    images = _images(byte_count)
    random = np.random.default_rng(0)
    numbers = zip(random.random(DETECTIONS).tolist(), random.integers(1, 150, (DETECTIONS, 2)).tolist(), strict=True)
    rest = [
        f" {score:.10f} {left:03d}.25 {top:03d}.25 {left + 100}.5 {top + 100}.5\n" for score, (left, top) in numbers
    ]
    with tarfile.open(path, "w") as archive:
        for name in classes:
            content = "".join(image + line for image in images for line in rest).encode()
            member = tarfile.TarInfo(f"results/{EDITION}/Main/comp4_det_test_{name}.txt")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _interrupt(attempt: Attempt, database: Database) -> Outcome:
    began, size = time.perf_counter(), attempt.archive.stat().st_size
    steps: list[tuple[str, float, int, Callable[[], None]]] = [
        ("client killed", 0.15, 0, attempt.restart_client),
        ("connection reset", 0.35, 0, attempt.relay.reset),
        ("web processes killed", 0.8, RECORDED_EVERY_BYTES, attempt.restart_server),
    ]
    relay, done, offset, sent = attempt.relay, list[Interruption](), 0, 0
    relay.hold_from(int(steps[0][1] * size))
    attempt.start_client()
    for number, (name, at, lost, interrupt) in enumerate(steps):
        relay.wait_until_held()
        interrupt()
        offset, sent = offset + relay.sent - sent, relay.sent
        relay.hold_from(sent + CONTINUED_FROM_BYTES)  # the next part has begun
        relay.wait_until_held()
        continued = _offset(database)
        done.append(Interruption(name, at, max(0, offset - continued), lost + ON_ITS_WAY_BYTES))
        offset, sent = continued, relay.sent
        if number + 1 < len(steps):
            relay.hold_from(sent + max(0, int(steps[number + 1][1] * size) - continued))
    relay.release()
    assert attempt.client is not None
    status = attempt.client.wait(CLIENT_SECONDS)
    seconds = time.perf_counter() - began
    problems = [f"too much was sent again: {each.name}" for each in done if each.sent_again > each.allowed]
    if status:
        problems.append(f"the client ended with status {status}: {attempt.log.read_text(errors='replace')}")
    else:
        problems.extend(_problems(attempt, database))
    return Outcome(size, relay.sent, seconds, done, problems)


def _problems(attempt: Attempt, database: Database) -> Iterator[str]:
    """Compare what is stored with the file."""
    with OutgoingArchive(attempt.archive) as archive:
        sha256 = archive.sha256()
    with database.reading() as session:
        stored = session.scalars(select(Submission.archive_sha256)).all()
        left = session.scalars(select(ResumableUpload.id)).all()
        counted = session.scalars(select(Upload.byte_count)).all()
    if stored != [sha256]:
        yield f"stored: {stored}, sent: {sha256}"
    with archive_store(attempt.server.installation.settings).open(sha256):
        pass  # its content has this hash
    if left:
        yield "the upload is still there"
    if not archive.size <= sum(counted) <= archive.size + MIB:
        yield f"{sum(counted):,} bytes are counted against the daily limit, not {archive.size:,}"


def _offset(database: Database) -> int:
    with database.reading() as session:
        return session.scalars(select(ResumableUpload.received_bytes)).one()


def _images(byte_count: int) -> tuple[str, ...]:
    number = max(1, round(byte_count / (len(load(EDITION).classes) * DETECTIONS * LINE_BYTES)))
    return tuple(f"{image:06d}" for image in range(1, number + 1))


def make_test_set(session: Session) -> None:
    """Make a challenge whose test set has all images that an archive can have."""
    images = _images(512 * MIB)
    found = ImageSet(images, np.tile(np.array([[500, 375]], dtype=np.int32), (len(images), 1)))
    challenge = make_challenge(session, slug=SLUG, edition=EDITION, competitions=["comp4"], ready=False)
    image_sets = ImageSets(EDITION, {(Task.DETECTION, "test"): found})
    make_truth(session, challenge).image_sets = pack_image_sets(image_sets)


def _caddyfile_variables(installation: Installation) -> dict[str, str]:
    return {
        "VOCBOARD_HOST": HOST,
        "VOCBOARD_TLS": "internal",
        "VOCBOARD_PROXY_SECRET": installation.environment["VOCBOARD_PROXY_SECRET"],
    }


def main() -> int:
    """Run it as the command line says, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=500, help="size of the archive (default: %(default)s)")
    parser.add_argument("--embedded", action="store_true", help="on SQLite, without a proxy")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), byte_count=arguments.mebibytes * MIB, embedded=arguments.embedded)
    print("\n".join(outcome.rows()))
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
