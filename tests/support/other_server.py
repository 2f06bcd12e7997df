"""Another server, to import the export of a challenge."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database, now
from vocboard.app.errors import InvalidArchiveError, InvalidInputError
from vocboard.app.intake import pictures
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore, IncomingArchive
from vocboard.app.submissions.models import Submission
from vocboard.app.transfer.exporting import begin_export
from vocboard.app.transfer.importing import import_challenge

LIMIT = 10_000_000


class Server:
    """Another server, with an organiser."""

    def __init__(self, directory: Path, template: Path) -> None:
        directory.mkdir()
        self.settings = Settings(data_directory=directory)
        self.database = Database(f"sqlite:///{shutil.copy(template, directory / 'other.sqlite')}")
        self.store = ArchiveStore(self.settings.archives)
        self.store.set_up()
        with self.database.writing() as session:
            self.organiser = User(
                email="other@lab.example",
                name="Other",
                password_hash="x",
                role=Role.ORGANISER,
                email_confirmed_at=now(),
                approved_at=now(),
            )
            session.add(self.organiser)

    def take(self, path: Path, **given: Any) -> Challenge:
        return import_challenge(
            self.database,
            self.store,
            path,
            user=self.organiser,
            archive_limit_bytes=LIMIT,
            files_limit_bytes=LIMIT,
            redraw=self._redraw,
            **given,
        )

    @staticmethod
    def _redraw(picture: Path, size: tuple[int, int], drawn: IncomingArchive) -> None:
        """Re-encode a picture in this process; `test_challenge_files.py` does it in a confined one."""
        with picture.open("rb") as file:
            report = pictures.redraw(file, *size, drawn.write)
        if report.problems:
            raise InvalidInputError({"file": report.problems[0].message})

    def refuse(self, path: Path, message: str) -> None:
        """Expect that an import is refused with a message, and leaves nothing."""
        with pytest.raises(InvalidArchiveError) as caught:
            self.take(path)
        told = [f"{problem.file} {problem.message}" for problem in caught.value.problems]
        assert any(message in one for one in told), told
        with self.database.reading() as session:
            assert session.scalars(select(Challenge)).all() == []
            assert session.scalars(select(Submission)).all() == []


@pytest.fixture
def other(tmp_path: Path, sqlite_template: Path) -> Iterator[Server]:
    server = Server(tmp_path / "other", sqlite_template)
    yield server
    server.database.close()


def write_export(database: Database, store: ArchiveStore, path: Path, user: User, *, slug: str = "spring") -> Path:
    """Export a challenge to a file, and return its path."""
    export = begin_export(database, store, slug=slug, user=user)
    with path.open("wb") as file:
        file.writelines(export.stream())
    assert path.stat().st_size == export.size
    return path
