"""Reads an exported challenge as untrusted data, line by line, without loading all of it into memory."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from vocboard.app.challenges.editions import edition_from
from vocboard.app.errors import InvalidArchiveError
from vocboard.app.submissions.models import State
from vocboard.app.transfer import records, tar
from vocboard.app.transfer.records import EventRecord, Header, Person, SubmissionRecord
from vocboard.evaluator.editions import Competition, EditionFileError, UnknownEditionError
from vocboard.evaluator.problems import Problem, Severity

LONGEST_LINE_BYTES = 16 * 1024 * 1024
MOST_LINES = 200_000  # of people, of submissions and of events
MOST_PROBLEMS = 50
CODE = "not_an_export"

AnyRecord = TypeVar("AnyRecord", bound=BaseModel)


@dataclass(slots=True)
class Contents:
    """What a checked archive holds.

    Attributes:
        people: ids of those that are described.
        archives: bytes of each submitted archive, by SHA-256.
    """

    header: Header
    people: set[uuid.UUID] = field(default_factory=set)
    archives: dict[str, int] = field(default_factory=dict)
    submissions: int = 0


def check(path: Path) -> Contents:
    """Read an archive completely, but for submitted archives, and check that it fits together.

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
            for line in member.lines(longest=LONGEST_LINE_BYTES):
                yield kind.model_validate_json(line)


def members(path: Path) -> Iterator[tar.Member]:
    """Yield the files in an archive that was checked."""
    with path.open("rb") as file:
        yield from tar.unpack(file)


class _Checking:
    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._ids: set[uuid.UUID] = set()
        self._needed: dict[str, int] = {}
        self._competitions: dict[str, Competition] = {}

    def run(self, found: Iterator[tar.Member]) -> Contents | None:
        first = next(found, None)
        if first is None:
            self._note(records.HEADER, None, "The archive is empty.")
            return None
        contents = self._header(first)
        if contents is None:
            return None
        for member in found:
            self._member(contents, member)
        for sha256, size in self._needed.items():
            if contents.archives.get(sha256) != size:
                self._note(records.ARCHIVES + sha256, None, "A submission's archive is missing, or of another size.")
        return contents

    def _member(self, contents: Contents, member: tar.Member) -> None:
        if member.name.startswith(records.ARCHIVES):
            contents.archives[member.name.removeprefix(records.ARCHIVES)] = member.size
        elif member.name == records.PEOPLE:
            for number, person in self._lines(member, Person):
                if person.id in contents.people:
                    self._note(member.name, number, "The person is described twice.")
                contents.people.add(person.id)
        elif member.name == records.SUBMISSIONS:
            for number, submission in self._lines(member, SubmissionRecord):
                contents.submissions += 1
                self._submission(contents, number, submission)
        elif member.name == records.LOG:
            for _ in self._lines(member, EventRecord):
                pass

    def _header(self, member: tar.Member) -> Contents | None:
        if member.name != records.HEADER or member.size > LONGEST_LINE_BYTES:
            self._note(member.name, None, f"The archive must begin with {records.HEADER}.")
            return None
        try:
            header = Header.model_validate_json(b"".join(member.chunks()))
        except ValidationError as error:
            self._note_all(member.name, None, error)
            return None
        if header.format != records.FORMAT:
            message = f"The archive has the format {header.format}; this server reads {records.FORMAT}."
            self._note(member.name, None, f"{message} Use the vocboard version that wrote it: {header.vocboard}.")
            return None
        try:
            edition = edition_from(header.edition, header.edition_file)
        except (UnknownEditionError, EditionFileError) as error:
            self._note(member.name, None, f"edition: {error}")
            return None
        chosen = edition.competitions if header.rules.competitions is None else header.rules.competitions
        self._competitions = {key: edition.competitions[key] for key in chosen if key in edition.competitions}
        return Contents(header)

    def _lines(self, member: tar.Member, kind: type[AnyRecord]) -> Iterator[tuple[int, AnyRecord]]:
        for number, line in enumerate(member.lines(longest=LONGEST_LINE_BYTES), 1):
            if number > MOST_LINES:
                self._note(member.name, number, f"There are more than {MOST_LINES:,} lines.")
                return
            try:
                yield number, kind.model_validate_json(line)
            except ValidationError as error:
                self._note_all(member.name, number, error)
            if len(self._problems) >= MOST_PROBLEMS:
                return

    def _submission(self, contents: Contents, number: int, one: SubmissionRecord) -> None:
        wrong = [*self._entries_of(one), *self._results_of(one)]
        if one.id in self._ids:
            wrong.append("The submission is described twice.")
        self._ids.add(one.id)
        if one.person not in contents.people:
            wrong.append("person: nobody with this id is described.")
        if one.published_at is not None and one.state is not State.SCORED:
            wrong.append(f"published_at: a submission that is {one.state} is not published.")
        if one.has_archive:
            self._needed[one.archive_sha256] = one.archive_bytes
        for message in wrong:
            self._note(records.SUBMISSIONS, number, message)

    def _entries_of(self, one: SubmissionRecord) -> Iterator[str]:
        keys = [entry.competition for entry in one.entries]
        if len(set(keys)) != len(keys):
            yield "entries: a competition is entered twice."
        for entry in one.entries:
            competition = self._competitions.get(entry.competition)
            if competition is None:
                yield f"entries: the challenge has no {entry.competition}."
            elif not set(entry.classes) <= set(competition.classes):
                yield f"entries: {entry.competition} has no such classes."

    def _results_of(self, one: SubmissionRecord) -> Iterator[str]:
        if one.evaluation is None:
            if one.state is State.SCORED:
                yield "evaluation: a scored submission has one."
            return
        results = one.evaluation.results
        if len({result.competition for result in results}) != len(results):
            yield "evaluation: it has a competition twice."
        entered = {entry.competition for entry in one.entries}
        for result in results:
            known = self._competitions.get(result.competition)
            if result.competition not in entered or known is None:
                yield f"evaluation: the submission does not enter {result.competition}."
            elif known.task is not result.task:
                yield f"evaluation: {result.competition} is of another task."
            metrics = [measure.metric for measure in result.measures]
            if len(set(metrics)) != len(metrics):
                yield f"evaluation: {result.competition} has a metric twice."

    def _note_all(self, file: str, line: int | None, error: ValidationError) -> None:
        for one in error.errors(include_url=False, include_input=False, include_context=False)[:MOST_PROBLEMS]:
            place = ".".join(map(str, one["loc"]))
            self._note(file, line, f"{place}: {one['msg']}" if place else one["msg"])

    def _note(self, file: str, line: int | None, message: str) -> None:
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(_problem(message, file, line))


def _problem(message: str, file: str | None = None, line: int | None = None) -> Problem:
    return Problem(CODE, Severity.ERROR, message, file, line)
