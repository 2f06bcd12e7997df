"""Activity in an installation: a challenge of VOC2007's size, its participants, and their uploads."""

import http.client
import io
import json
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.datasets.voc2007 import COMPETITIONS, EDITION
from benchmarks.running import Installation
from tests.support.factories import make_challenge, make_organiser, make_token, make_truth, make_user
from vocboard.app.accounts.models import User
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database
from vocboard.app.intake import submitting
from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.app.storage.archives import columns_limit
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions import queue
from vocboard.app.submissions.forms import SubmissionForm
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.stored_results.stored_results import ResultsWriter
from vocboard.worker import ground_truth_files

METHOD, DECLARATIONS = "Method", {"training_data": "Images of our own."}
BOUNDARY = "benchmark"
ANSWER_SECONDS = 300


@dataclass(frozen=True)
class Competition:
    """An open challenge, and a participant."""

    installation: Installation
    database: Database
    challenge: Challenge
    user: User
    token: str
    truth: GroundTruth

    def queue(self, archive: Path, number: int) -> None:
        """Queue the same valid results so many times, all at one moment, as the web process does after its checks."""
        store, classes = archive_store(self.installation.settings), load(EDITION).classes
        content, columns = archive.read_bytes(), self._columns(archive)
        entries = tuple(EnteredCompetition(key, classes) for key in COMPETITIONS)
        report = Report((), entries, has_columns=True)
        with self.database.writing() as session:
            for _ in range(number):
                with store.receive(limit=len(content)) as incoming, store.receive(limit=len(columns)) as read:
                    incoming.write(content)
                    incoming.finish()
                    read.write(columns)
                    read.finish()
                    submitting.submit(
                        session,
                        user=self.user,
                        challenge=self.challenge,
                        form=SubmissionForm(method_name=METHOD, declarations=DECLARATIONS),
                        archive=incoming,
                        report=report,
                        columns=read,
                    )

    def _columns(self, archive: Path) -> bytes:
        """The files that the web process stores for an archive."""
        columns, edition = io.BytesIO(), load(EDITION)
        limit = columns_limit(archive.stat().st_size)
        writer = ResultsWriter(columns.write, edition, self.truth.image_sets, limit=limit)
        read = read_results(archive, edition, self.truth.image_sets, competitions=COMPETITIONS)
        assert read.is_valid
        assert writer.finish(read.results)
        return columns.getvalue()

    def unfinished(self) -> int:
        """How many submissions wait or are being evaluated."""
        with self.database.reading() as session:
            return sum(queue.count(session, state) for state in queue.UNFINISHED)

    def upload(self, archive: Path) -> tuple[int, dict[str, Any]]:
        """Send a file to the challenge; return the answer's status and JSON. The system sends it, next to no Python."""
        fields = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in {"method_name": METHOD, **DECLARATIONS}.items()
        )
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="archive"; filename="{archive.name}"\r\n\r\n'
        body, end = (fields + part).encode(), f"\r\n--{BOUNDARY}--\r\n".encode()
        head = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(len(body) + archive.stat().st_size + len(end)),
        }
        with self._connected() as connection, archive.open("rb") as file:
            connection.putrequest("POST", f"/api/v1/challenges/{self.challenge.slug}/submissions")
            for name, value in head.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            assert isinstance(connection.sock, socket.socket)
            connection.sock.sendfile(file)
            connection.send(end)
            answer = connection.getresponse()
            return answer.status, json.load(answer)

    def states(self, submission_id: uuid.UUID | str) -> Iterator[str]:
        """Poll the API for a submission's state on one connection, as browsers do."""
        with self._connected() as connection:
            while True:
                path = f"/api/v1/submissions/{submission_id}"
                connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
                yield str(json.load(connection.getresponse())["state"])

    @contextmanager
    def _connected(self) -> Iterator[http.client.HTTPConnection]:
        address = urlsplit(self.installation.url)
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=ANSWER_SECONDS)
        try:
            yield connection
        finally:
            connection.close()


@contextmanager
def competing(installation: Installation, truth_file: Path) -> Iterator[Competition]:
    """Make a challenge that is scored against a ground truth, without quota to speak of, and a participant."""
    truth, database = GroundTruth.load(truth_file), Database(installation.settings.database)
    truth.save(ground_truth_files.path_of(installation.settings, truth.sha256))
    with database.writing() as session:
        user, organiser = make_user(session), make_organiser(session)
        challenge = make_challenge(
            session,
            organiser=organiser,
            ready=False,
            edition=EDITION,
            competitions=list(COMPETITIONS),
            quota_count=10_000,
        )
        version = make_truth(session, challenge)
        version.sha256, version.image_sets = truth.sha256, pack_image_sets(truth.image_sets)
        token = make_token(session, user)
    try:
        yield Competition(installation, database, challenge, user, token, truth)
    finally:
        database.close()
