"""A participant who uploads by the tus protocol, request by request."""

import base64
import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.factories import WEEK, make_challenge, make_token, make_user
from tests.support.site import Site
from tests.support.uploading import RESULTS, count, sending
from vocboard.app.accounts.models import User

NAME = base64.b64encode(b"results.tar.gz").decode()


@dataclass
class Entrant:
    """A participant of a challenge.

    Attributes:
        client: with the participant's token.
    """

    site: Site
    slug: str
    user: User
    client: httpx.Client

    def create(self, size: int = len(RESULTS), **headers: str) -> httpx.Response:
        """Ask to begin an upload."""
        return self.client.post(
            "/api/v1/uploads",
            params={"challenge": self.slug},
            headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Upload-Metadata": f"filename {NAME}"}
            | headers,
        )

    def begun(self, size: int = len(RESULTS)) -> str:
        """Begin an upload, and return its path."""
        answer = self.create(size)
        assert answer.status_code == 201, answer.text
        return str(answer.headers["Location"])

    def finished(self, content: bytes = RESULTS) -> str:
        """Send a whole upload, and return its path."""
        path = self.begun(len(content))
        assert self.send(path, content).status_code == 204
        return path

    def send(self, path: str, content: bytes, offset: int = 0, **headers: str) -> httpx.Response:
        """Send a part."""
        return self.client.patch(
            path,
            content=content,
            headers={
                "Tus-Resumable": "1.0.0",
                "Upload-Offset": str(offset),
                "Content-Type": "application/offset+octet-stream",
            }
            | headers,
        )

    def offset(self, path: str) -> int:
        """Return how many bytes the server says it has."""
        answer = self.client.head(path, headers={"Tus-Resumable": "1.0.0"})
        assert answer.status_code == 200
        return int(answer.headers["Upload-Offset"])

    def check(self, path: str) -> httpx.Response:
        """Have a finished upload checked."""
        return self.client.post(f"{path}/check")

    def submit(self, path: str, *, key: str | None = None, **fields: str) -> httpx.Response:
        """Submit a finished upload, with an idempotency key if one is given."""
        return self.client.post(
            f"/api/v1/challenges/{self.slug}/submissions",
            params={"upload": path.rpartition("/")[2]},
            headers={} if key is None else {"Idempotency-Key": key},
            files={name: (None, value) for name, value in {"method_name": "Method", **fields}.items()},
        )

    def sending(
        self, path: str, begin: bytes, *, length: int, offset: int = 0
    ) -> contextlib.AbstractContextManager[socket.socket]:
        """Announce a part, send its beginning, and give the connection."""
        headers = {
            "Authorization": self.client.headers["Authorization"],
            "Upload-Offset": str(offset),
            "Content-Type": "application/offset+octet-stream",
            "Content-Length": str(length),
        }
        return sending(self.site, path, begin, headers=headers, method="PATCH")

    def files(self) -> list[Path]:
        """Return the files of uploads that are not submitted yet."""
        return [path for path in self.site.settings.data_directory.glob("**/unfinished/*") if path.is_file()]

    def count(self, model: type) -> int:
        """Return the number of rows of a model."""
        return count(self.site, model)


@contextlib.contextmanager
def entering(site: Site) -> Iterator[Entrant]:
    """Give a new participant of a new challenge that takes two submissions a week."""
    with site.writing() as session:
        challenge = make_challenge(
            session,
            edition="VOC2007",
            competitions=["comp1"],
            quota_count=2,
            quota_period_seconds=int(WEEK.total_seconds()),
        )
        user = make_user(session)
        token = make_token(session, user)
    with site.client(token) as client:
        yield Entrant(site, challenge.slug, user, client)
