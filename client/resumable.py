"""Sends an archive so that it can be continued after any interruption, by the tus protocol.

Our own client, because tuspy brings a second HTTP library (requests), which would not use this connection's proxy,
certificates, time limits and error messages.

Source: tus resumable upload protocol 1.0.0, with the extension creation.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Connection
from vocboard.client.errors import NetworkError, RefusedError, UnexpectedAnswerError
from vocboard.client.paths import path
from vocboard.client.retry_policy import RetryPolicy
from vocboard.client.terminal import size
from vocboard.client.upload_states import UploadState, UploadStates

PART_BYTES = 16 * 1024 * 1024
PIECE_BYTES = 64 * 1024
MEDIA_TYPE = "application/offset+octet-stream"
PROTOCOL = {"Tus-Resumable": "1.0.0"}
MAX_ATTEMPTS = 3  # of one archive: the server may lose an upload


@dataclass(frozen=True, slots=True)
class UploadListener:
    """Callbacks for the progress of an upload.

    Attributes:
        sent: is given the number of bytes that the server has, or that are on their way to it.
        waiting: is given a sentence when something went wrong and is tried again.
        begun: called once, when the server has agreed to take the archive and before any of it is sent.
        continuing: is given the number of bytes that an earlier upload has left.
    """

    sent: Callable[[int], object] = lambda _: None
    begun: Callable[[], object] = lambda: None
    waiting: Callable[[str], object] = lambda _: None
    continuing: Callable[[int], object] = lambda _: None


def has_begun(connection: Connection, challenge: str, phase: Mapping[str, str], sha256: str) -> bool:
    """Return whether an upload of an archive has begun here and may be continued."""
    states = UploadStates()
    return states.load(_state_file(states, connection, challenge, phase, sha256)) is not None


def _state_file(
    states: UploadStates, connection: Connection, challenge: str, phase: Mapping[str, str], sha256: str
) -> Path:
    return states.path(connection.address, "\n".join((challenge, *phase.values())), sha256)


class ResumableUpload:
    """The upload of one archive to one challenge.

    Attributes:
        was_begun: whether an earlier run has begun it.

    Args of the constructor:
        sha256: of the archive: a file with the same content continues the upload, one that has changed does not.
    """

    def __init__(
        self,
        connection: Connection,
        archive: OutgoingArchive,
        *,
        challenge: str,
        phase: Mapping[str, str] | None = None,
        sha256: str,
        states: UploadStates | None = None,
        listener: UploadListener | None = None,
    ) -> None:
        self._connection = connection
        self._archive = archive
        self._challenge = challenge
        self._phase = phase or {}
        self._states = states or UploadStates()
        self._file = _state_file(self._states, connection, challenge, self._phase, sha256)
        self._listener = listener or UploadListener()
        self._state = self._states.load(self._file)
        self._is_continued = self.was_begun = self._state is not None
        self._has_begun = False

    def send(self) -> str:
        """Send what the server does not have yet, and return the id of the finished upload.

        It goes on after lost connections, restarts of the server and requests to come back later, as long as something
        arrives every few minutes. The state is kept until `forget`.

        Raises:
            ClientError: the server refuses the archive, the file has changed, or the connection does not come back.
        """
        if self._is_continued and self._present().offset == self._archive.size:
            # Without asking for it: a server that has submitted it no longer has it, but knows that it was submitted.
            self._is_continued = False
            self._listener.sent(self._archive.size)
            return self._present().upload_id
        retry_policy = RetryPolicy(self._connection.sleep, self._listener.waiting)
        attempts = 0
        while True:
            try:
                if self._state is None:
                    attempts += 1
                    self._begin()
                return self._send_rest(retry_policy)
            except RefusedError as error:
                if error.status in (404, 410) and self._state is not None and attempts < MAX_ATTEMPTS:
                    self.forget()  # expired, or lost by the server
                elif not retry_policy.waits_for(error):
                    raise
            except NetworkError as error:
                retry_policy.wait(error, self._so_far())

    def _send_rest(self, retry_policy: RetryPolicy) -> str:
        """Send what is missing of the upload, from where the server says, and return its id."""
        state = self._present()
        offset = self._offset(state.upload_id)
        if offset > state.offset:  # of a part whose connection was lost, too
            self._save(replace(state, offset=offset))
            retry_policy.something_arrived()
        if self._is_continued and offset:
            self._listener.continuing(offset)
        self._is_continued = False
        if not self._has_begun:
            self._has_begun = True
            self._listener.begun()
        while offset < self._archive.size:
            offset = self._send_part(state.upload_id, offset)
            self._save(replace(state, offset=offset))
            retry_policy.something_arrived()
        self._listener.sent(offset)
        return state.upload_id

    def forget(self) -> None:
        """Remove the state: the archive was submitted, or has to be sent again."""
        self._state = None
        self._states.remove(self._file)

    def _begin(self) -> None:
        name = base64.b64encode(self._archive.name.encode(errors="replace")).decode()
        answer = self._connection.send(
            "POST",
            "/uploads",
            {"challenge": self._challenge, **self._phase},
            headers={**PROTOCOL, "Upload-Length": str(self._archive.size), "Upload-Metadata": f"filename {name}"},
        )
        upload_id = answer.headers.get("Location", "").rpartition("/")[2]
        if not upload_id:
            raise UnexpectedAnswerError(f"{self._connection.address} did not say where to send the archive")
        state = UploadState(
            upload_id=upload_id,
            offset=0,
            size=self._archive.size,
            archive=str(Path(self._archive.path).absolute()),
            server=self._connection.address,
            challenge=self._challenge,
        )
        self._save(state)

    def _offset(self, upload_id: str) -> int:
        return self._offset_in(self._connection.send("HEAD", path("uploads", upload_id), headers=PROTOCOL).headers)

    def _send_part(self, upload_id: str, offset: int) -> int:
        length = min(PART_BYTES, self._archive.size - offset)
        answer = self._connection.send(
            "PATCH",
            path("uploads", upload_id),
            headers={
                **PROTOCOL,
                "Upload-Offset": str(offset),
                "Content-Type": MEDIA_TYPE,
                "Content-Length": str(length),
            },
            content=self._pieces(offset, length),
        )
        return self._offset_in(answer.headers)

    def _pieces(self, offset: int, length: int) -> Iterator[bytes]:
        self._archive.seek(offset)
        end = offset + length
        while offset < end:
            piece = self._archive.read(min(PIECE_BYTES, end - offset))
            offset += len(piece)
            yield piece
            self._listener.sent(offset)

    def _offset_in(self, headers: Mapping[str, str]) -> int:
        value = headers.get("Upload-Offset", "")
        if not (value.isascii() and value.isdigit()) or int(value) > self._archive.size:
            raise UnexpectedAnswerError(f"{self._connection.address} did not say how much of the archive has arrived")
        return int(value)

    def _save(self, state: UploadState) -> None:
        self._state = state
        self._states.save(self._file, state)

    def _present(self) -> UploadState:
        if self._state is None:
            raise RuntimeError("the upload was not begun")
        return self._state

    def _so_far(self) -> str:
        done = self._state.offset if self._state is not None else 0
        return f"{size(done)} of {size(self._archive.size)} have arrived; run the same command again to continue"
