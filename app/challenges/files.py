"""Files of a challenge that its organisers upload: data to download, a cover, logos, and images of the showcase.

Their contents are in the archive store. `app.intake.organisers` receives them, `app.intake.challenge_files` decides who
may download them.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.ground_truth import test_images
from vocboard.app.challenges.models import Audience, Challenge, ChallengeFile, FileKind
from vocboard.app.challenges.phases import lock_to_change, require_not_archived
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError, TooLargeError
from vocboard.app.forms import FieldChecks, chosen, cleaned, tidied
from vocboard.app.settings import MEBIBYTE
from vocboard.evaluator.byte_sizes import size_text

MAX_FILES = 100  # of a challenge
MAX_SHOWCASE_IMAGES = 12
MAX_NAME_LENGTH, MAX_TITLE_LENGTH = 255, 200
PICTURE_LIMIT_BYTES = 16 * MEBIBYTE  # as uploaded
PICTURE_SIZES: Mapping[FileKind, tuple[int, int]] = {  # at most: width, height in pixels
    FileKind.COVER: (1440, 810),
    FileKind.LOGO: (480, 240),
    FileKind.SHOWCASE: (500, 500),
}
PICTURE_TYPE = "image/webp"  # of all pictures, which are re-encoded
_OTHER_TYPE = "application/octet-stream"
# Only types that browsers do not run as pages; all are sent as attachments anyway.
_TYPES = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".tar": "application/x-tar",
    ".tgz": "application/gzip",
    ".txt": "text/plain",
    ".zip": "application/zip",
}
MEDIA_TYPES = frozenset({PICTURE_TYPE, _OTHER_TYPE, *_TYPES.values()})  # that files can have


@dataclass(frozen=True, slots=True)
class FileDescription:
    """What organisers say of a file, checked.

    Attributes:
        name: of the file, without folders.
        title: may be empty.
    """

    name: str
    title: str
    kind: FileKind
    audience: Audience

    @property
    def media_type(self) -> str:
        """The media type that it is sent as."""
        if self.kind in PICTURE_SIZES:
            return PICTURE_TYPE
        return _TYPES.get(PurePosixPath(self.name).suffix.lower(), _OTHER_TYPE)


def described(*, name: str, title: str, kind: str, audience: str) -> FileDescription:
    """Check what organisers say of a file.

    Args:
        name: of the file, without folders.
        kind, audience: values of `FileKind` and `Audience`; empty for data, and for everyone.

    Raises:
        InvalidInputError: with all errors by field.
    """
    checks = FieldChecks()
    known_name = " ".join(tidied(cleaned(name)).split())
    if known_name in {"", ".", ".."}:
        checks.fail("file", "Rename the file: its name has no visible character, or is “.” or “..”.")
    if len(known_name) > MAX_NAME_LENGTH:
        checks.fail("file", f"Give the file a name of at most {MAX_NAME_LENGTH} characters.")
    found = FileDescription(
        known_name,
        checks.line("title", title, max_length=MAX_TITLE_LENGTH),
        chosen(FileKind, kind or FileKind.DATA, "kind", checks.messages),
        chosen(Audience, audience or Audience.PUBLIC, "audience", checks.messages),
    )
    if found.kind in PICTURE_SIZES and found.audience is not Audience.PUBLIC:
        checks.fail("audience", "Pictures are for everyone who can see the challenge.")
    checks.finish()
    if found.kind in PICTURE_SIZES:
        return replace(found, name=f"{PurePosixPath(known_name).stem[: MAX_NAME_LENGTH - 5]}.webp")
    return found


def files_of(session: Session, challenge_id: uuid.UUID, *kinds: FileKind) -> Sequence[ChallengeFile]:
    """Return the files of a challenge in the order of their upload.

    Args:
        kinds: only these; by default, all.
    """
    query = select(ChallengeFile).where(ChallengeFile.challenge_id == challenge_id)
    query = query.where(ChallengeFile.kind.in_(kinds)) if kinds else query
    return session.scalars(query.order_by(ChallengeFile.created_at, ChallengeFile.id)).all()


def image_of(name: str) -> str:
    """Return the identifier of the test image that a file of the showcase of this name is."""
    return PurePosixPath(name).stem


def showcase_of(session: Session, challenge_id: uuid.UUID) -> Mapping[str, ChallengeFile]:
    """Return the images of a challenge's showcase by identifier, in the order of their upload."""
    return {image_of(file.name): file for file in files_of(session, challenge_id, FileKind.SHOWCASE)}


def covers_of(session: Session, challenge_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, ChallengeFile]:
    """Return the covers of challenges, by their id; those without one are missing."""
    query = select(ChallengeFile).where(
        ChallengeFile.challenge_id.in_(challenge_ids), ChallengeFile.kind == FileKind.COVER
    )
    return {one.challenge_id: one for one in session.scalars(query)}


def get(session: Session, challenge: Challenge, file_id: uuid.UUID) -> ChallengeFile:
    """Return a file of a challenge.

    Raises:
        NotFoundError: the challenge has no such file.
    """
    found = session.get(ChallengeFile, file_id)
    if found is None or found.challenge_id != challenge.id:
        raise NotFoundError("This file does not exist.")
    return found


def bytes_left(session: Session, challenge: Challenge, *, limit: int) -> int:
    """Return how many bytes of files may be added to a challenge.

    Args:
        limit: bytes of all files of a challenge.

    Raises:
        ConflictError: it is archived, or has as many files as it may have, or as many bytes.
    """
    require_not_archived(challenge)
    query = select(func.count(), func.coalesce(func.sum(ChallengeFile.byte_count), 0))
    count, used = session.execute(query.where(ChallengeFile.challenge_id == challenge.id)).one()
    if count >= MAX_FILES or used >= limit:
        raise ConflictError(
            f"A challenge may have {MAX_FILES} files with {size_text(limit)} together. Delete one first, or link to "
            "files elsewhere in “Links to the data”."
        )
    return int(limit - used)


def add(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    description: FileDescription,
    sha256: str,
    byte_count: int,
    limit: int,
) -> tuple[ChallengeFile, list[str]]:
    """Add a file whose content is about to be stored.

    A cover takes the place of the earlier one, and an image of the showcase that of the same image.

    Args:
        challenge: from `get_organised`.
        limit: bytes of all files of a challenge.

    Returns:
        The file, and the SHA-256 of what it has replaced.

    Raises:
        ConflictError: as `bytes_left`; or the showcase has as many images as it may have.
        InvalidInputError: the test set has no image for the showcase of this name.
        TooLargeError: the file is larger than what is left.
    """
    lock_to_change(session, challenge)  # so that files uploaded at the same time are counted one after the other
    replaced: Sequence[ChallengeFile] = ()
    if description.kind is FileKind.COVER:
        replaced = files_of(session, challenge.id, FileKind.COVER)
    elif description.kind is FileKind.SHOWCASE:
        replaced = _replaced_in_showcase(session, challenge, image_of(description.name))
    gone = [_remove(session, challenge, user, each) for each in replaced]
    if byte_count > (left := bytes_left(session, challenge, limit=limit)):
        raise no_room(left, limit)
    file = ChallengeFile(
        challenge_id=challenge.id,
        kind=description.kind,
        audience=description.audience,
        name=description.name,
        title=description.title,
        byte_count=byte_count,
        sha256=sha256,
        media_type=description.media_type,
    )
    session.add(file)
    session.flush()
    details = {"file": file.name, "kind": file.kind.value, "audience": file.audience.value, "sha256": sha256}
    audit.record(session, actor=user, action="challenge.add_file", subject=challenge, details=details)
    return file, gone


def remove(session: Session, *, challenge: Challenge, user: User, file_id: uuid.UUID) -> list[str]:
    """Remove a file from a challenge, and return its SHA-256: its content is removed after the commit. Idempotent.

    Raises:
        NotFoundError: it is another challenge's.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    if session.get(ChallengeFile, file_id) is None:
        return []
    return [_remove(session, challenge, user, get(session, challenge, file_id))]


def no_room(left: int, limit: int) -> TooLargeError:
    """Return the error of a file that is larger than what is left of a challenge's bytes."""
    return TooLargeError(
        f"The files of a challenge may have {size_text(limit)} together; {left:,} bytes are left. Delete files, or "
        "link to files elsewhere in “Links to the data”."
    )


def _replaced_in_showcase(session: Session, challenge: Challenge, image: str) -> Sequence[ChallengeFile]:
    known = test_images(session, challenge)
    if known and image not in known:
        raise InvalidInputError(
            {"file": f"“{image}” is not in the test set. Name the file like its image, for example {min(known)}.jpg."}
        )
    present = showcase_of(session, challenge.id)
    if image in present:
        return [present[image]]
    if len(present) >= MAX_SHOWCASE_IMAGES:
        raise ConflictError(f"A showcase may have {MAX_SHOWCASE_IMAGES} images. Delete one first.")
    return ()


def _remove(session: Session, challenge: Challenge, user: User, file: ChallengeFile) -> str:
    session.delete(file)
    session.flush()
    details = {"file": file.name, "kind": file.kind.value, "sha256": file.sha256}
    audit.record(session, actor=user, action="challenge.remove_file", subject=challenge, details=details)
    return file.sha256
