"""Reads an exported challenge as untrusted data, line by line, without loading all of it into memory."""

import contextlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from vocboard.app.accounts.people import normalised_email
from vocboard.app.challenges import files
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.models import FileKind
from vocboard.app.errors import InvalidArchiveError, InvalidInputError
from vocboard.app.submissions.models import State
from vocboard.app.transfer import records, tar
from vocboard.app.transfer.checking_phases import PhaseChecks
from vocboard.app.transfer.records import (
    BanRecord,
    FileRecord,
    Format,
    Header,
    Person,
    SubmissionRecord,
    TermsRecord,
)
from vocboard.evaluator.editions import EditionFileError, UnknownEditionError
from vocboard.evaluator.problems import Problem, Severity

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_LINES = 200_000  # of people, of submissions and of events
MAX_PROBLEMS = 50
MAX_ORGANISERS = 200
CODE = "not_an_export"
SHARED_QUOTA_SINCE, TEAMS_SINCE = 4, 7  # formats

AnyRecord = TypeVar("AnyRecord", bound=BaseModel)


@dataclass(slots=True)
class Contents:
    """The contents of a checked archive.

    Attributes:
        archives: bytes of each submitted archive, by SHA-256.
        file_contents: the same of files of the challenge.
    """

    header: Header
    phases: PhaseChecks
    people: set[uuid.UUID] = field(default_factory=set)  # ids of the described people
    teams: set[uuid.UUID] = field(default_factory=set)  # ids of the named ones
    organisers: list[Person] = field(default_factory=list)
    banned: set[uuid.UUID] = field(default_factory=set)  # ids of people
    archives: dict[str, int] = field(default_factory=dict)
    files: list[FileRecord] = field(default_factory=list)
    file_contents: dict[str, int] = field(default_factory=dict)
    terms: int = 0  # how many versions

    @property
    def submissions(self) -> int:
        """How many submissions there are."""
        return len(self.phases.submissions)


def check(path: Path) -> Contents:
    """Read an archive completely, except submitted archives, and check that it fits together.

    Raises:
        InvalidArchiveError: with the first problems.
    """
    problems: list[Problem] = []
    try:
        with path.open("rb") as file:
            contents = _Checking(problems).run(tar.unpack(file))
    except tar.TarError as error:
        raise InvalidArchiveError([*problems, _problem(str(error))]) from error
    if problems or contents is None:
        raise InvalidArchiveError(problems)
    return contents


def lines_of(path: Path, name: str, kind: type[AnyRecord]) -> Iterator[AnyRecord]:
    """Yield the records of a file in an archive that was checked."""
    for member in members(path):
        if member.name == name:
            for line in member.lines(max_bytes=MAX_LINE_BYTES):
                yield kind.model_validate_json(line)


def members(path: Path) -> Iterator[tar.Member]:
    """Yield the files in an archive that was checked."""
    with path.open("rb") as file:
        yield from tar.unpack(file)


@contextlib.contextmanager
def rules_at(place: str) -> Iterator[None]:
    """Say where rules of the header are that cannot be stored here.

    Raises:
        InvalidArchiveError: instead of `InvalidInputError`, except for the challenge's slug, which can be chosen.
    """
    try:
        yield
    except InvalidInputError as error:
        if "slug" in error.fields:
            raise
        found = [_problem(f"{place}.{name}: {text}", records.HEADER) for name, text in error.fields.items()]
        raise InvalidArchiveError(found) from error


class _Checking:
    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._needed: dict[tuple[str, int], None] = {}  # SHA-256 and bytes of submitted archives

    def run(self, found: Iterator[tar.Member]) -> Contents | None:
        first = next(found, None)
        if first is None:
            self._note(records.HEADER, None, "The archive is empty.")
            return None
        contents = self._header(first)
        if contents is None:
            return None
        checks = self._checks(contents)
        for member in found:
            if member.name.startswith(records.ARCHIVES):
                contents.archives[member.name.removeprefix(records.ARCHIVES)] = member.size
            elif member.name.startswith(records.FILE_CONTENTS):
                contents.file_contents[member.name.removeprefix(records.FILE_CONTENTS)] = member.size
            elif member.name in records.LINES:
                check_record = checks.get(member.name, lambda _: ())
                for number, record in self._lines(member, records.LINES[member.name]):
                    self._note_each(member.name, number, check_record(record))
        for sha256, size in self._needed:
            if contents.archives.get(sha256) != size:
                self._note(records.ARCHIVES + sha256, None, "A submission's archive is missing, or has the wrong size.")
        for file in contents.files:
            if contents.file_contents.get(file.sha256) != file.byte_count:
                message = f"The content of “{file.name}” is missing, or has the wrong size."
                self._note(records.FILE_CONTENTS + file.sha256, None, message)
        return contents

    def _checks(self, contents: Contents) -> Mapping[str, Callable[[Any], Iterable[str]]]:
        """What yields all that is wrong with a record, by the file that it is in."""
        phases = contents.phases
        return {
            records.PEOPLE: partial(self._person, contents),
            records.BANS: partial(self._ban, contents),
            records.TERMS: partial(self._terms, contents),
            records.FILES: partial(self._file, contents),
            records.SUBMISSIONS: partial(self._submission, contents),
            records.ADMISSIONS: phases.admission,
            records.EXTRA_QUOTAS: phases.extra_quota,
            records.FROZEN: phases.frozen_leaderboard,
            records.REPORTED: phases.reported_result,
            records.CORRECTIONS: phases.correction,
        }

    def _header(self, member: tar.Member) -> Contents | None:
        if member.name != records.HEADER or member.size > MAX_LINE_BYTES:
            self._note(member.name, None, f"The archive must begin with {records.HEADER}.")
            return None
        content = b"".join(member.chunks())
        try:
            version = Format.model_validate_json(content)
            if version.format not in records.READABLE:
                known = " and ".join(map(str, records.READABLE))
                message = f"The archive has the format {version.format}; this server reads {known}."
                self._note(member.name, None, f"{message} Use the vocboard version that wrote it: {version.vocboard}.")
                return None
            header = _as_before(Header.model_validate_json(content))
        except ValidationError as error:
            self._note_all(member.name, None, error)
            return None
        try:
            edition = edition_from(header.edition, header.edition_file)
            versions = {one.number: edition_from(header.edition, one.file) for one in header.edition_versions}
        except (UnknownEditionError, EditionFileError) as error:
            self._note(member.name, None, f"edition: {error}")
            return None
        phases = PhaseChecks(edition, {**versions, header.edition_version: edition})
        self._note_each(member.name, None, phases.header(header))
        self._note_each(member.name, None, self._teams(header))
        return Contents(header, phases, teams={one.id for one in header.teams})

    def _lines(self, member: tar.Member, kind: type[AnyRecord]) -> Iterator[tuple[int, AnyRecord]]:
        for number, line in enumerate(member.lines(max_bytes=MAX_LINE_BYTES), 1):
            if number > MAX_LINES:
                self._note(member.name, number, f"There are more than {MAX_LINES:,} lines.")
                return
            try:
                yield number, kind.model_validate_json(line)
            except ValidationError as error:
                self._note_all(member.name, number, error)
            if len(self._problems) >= MAX_PROBLEMS:
                return

    def _person(self, contents: Contents, one: Person) -> Iterator[str]:
        if one.id in contents.people:
            yield "The person appears twice."
        contents.people.add(one.id)
        if one.is_organiser:
            contents.organisers.append(one)
        if len(contents.organisers) == MAX_ORGANISERS + 1:
            yield f"There are more than {MAX_ORGANISERS} organisers."

    def _teams(self, header: Header) -> Iterator[str]:
        names = {one.name for one in header.teams}
        members = [person for one in header.teams for person in one.members]
        if len(names) < len(header.teams) or len({one.id for one in header.teams}) < len(header.teams):
            yield "teams: two have the same name or ID."
        if len(set(members)) < len(members):
            yield "teams: a person is in two."

    def _ban(self, contents: Contents, one: BanRecord) -> Iterator[str]:
        if one.person not in contents.people:
            yield "person: no person has this ID."
        if one.person in contents.banned:
            yield "person: the ban appears twice."
        contents.banned.add(one.person)
        if normalised_email(one.email) != one.email:
            yield "email: this is not an email address in lower case."

    def _terms(self, contents: Contents, one: TermsRecord) -> Iterator[str]:
        contents.terms += 1
        if one.number != contents.terms:
            yield "number: versions are 1, 2, ... in this order."

    def _file(self, contents: Contents, one: FileRecord) -> Iterator[str]:
        contents.files.append(one)
        try:
            files.described(name=one.name, title=one.title, kind=one.kind, audience=one.audience)
        except InvalidInputError as error:
            yield from (f"{name}: {message}" for name, message in error.fields.items())
        count = sum(each.kind is one.kind for each in contents.files)
        if len(contents.files) == files.MAX_FILES + 1:
            yield f"There are more than {files.MAX_FILES} files."
        if one.kind is FileKind.COVER and count == 2:
            yield "kind: there is more than one cover."
        if one.kind is FileKind.SHOWCASE and count == files.MAX_SHOWCASE_IMAGES + 1:
            yield f"kind: there are more than {files.MAX_SHOWCASE_IMAGES} images of the showcase."

    def _submission(self, contents: Contents, one: SubmissionRecord) -> Iterator[str]:
        yield from contents.phases.submission(one)
        if one.person not in contents.people:
            yield "person: no person has this ID."
        if not contents.people.issuperset(one.people):
            yield "people: no person has one of these IDs."
        if one.team is not None and one.team not in contents.teams:
            yield "team: no team has this ID."
        if one.published_at is not None and one.state is not State.SCORED:
            yield f"published_at: a submission that is {one.state} is not published."
        if one.has_archive:
            self._needed[one.archive_sha256, one.archive_bytes] = None

    def _note_each(self, file: str, line: int | None, messages: Iterable[str]) -> None:
        for message in messages:
            self._note(file, line, message)

    def _note_all(self, file: str, line: int | None, error: ValidationError) -> None:
        for one in error.errors(include_url=False, include_input=False, include_context=False)[:MAX_PROBLEMS]:
            place = ".".join(map(str, one["loc"]))
            self._note(file, line, f"{place}: {one['msg']}" if place else one["msg"])

    def _note(self, file: str, line: int | None, message: str) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(_problem(message, file, line))


def _problem(message: str, file: str | None = None, line: int | None = None) -> Problem:
    return Problem(CODE, Severity.ERROR, message, file, line)


def _as_before(header: Header) -> Header:
    """Return the header of an archive with the rules that hold there, not with the defaults of new ones."""
    if header.format < TEAMS_SINCE:
        header = header.model_copy(update={"rules": header.rules.model_copy(update={"team_size": 1})})
    if header.format >= SHARED_QUOTA_SINCE:
        return header
    own = {"shared_quota": False}
    phases = [one.model_copy(update={"rules": one.rules.model_copy(update=own)}) for one in header.phases]
    return header.model_copy(update={"rules": header.rules.model_copy(update=own), "phases": phases})
