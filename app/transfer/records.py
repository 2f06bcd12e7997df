"""Records of an exported challenge: the one definition that export writes and import checks.

Imported archives are hostile input. Everything has a type, a bound and only characters that can be seen; whether the
records fit together is checked by `app.transfer.reading`. Records of phases are in `app.transfer.phase_records`.
"""

import uuid
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field

from vocboard.app.announcements.announcing import MAX_TEXT_LENGTH, MAX_TITLE_LENGTH
from vocboard.app.announcements.asking import MAX_ANSWER_LENGTH, MAX_QUESTION_LENGTH
from vocboard.app.challenges.files import MAX_NAME_LENGTH as MAX_FILE_NAME_LENGTH
from vocboard.app.challenges.files import MAX_TITLE_LENGTH as MAX_FILE_TITLE_LENGTH
from vocboard.app.challenges.models import Audience, FileKind
from vocboard.app.challenges.rules import ChallengeRules
from vocboard.app.challenges.terms import MAX_LENGTH as MAX_TERMS_LENGTH
from vocboard.app.organising.phase_changes import MAX_PHASES
from vocboard.app.submissions.models import State
from vocboard.app.teams.models import MAX_NAME_LENGTH
from vocboard.app.transfer.phase_records import (
    AdmissionRecord,
    CorrectionRecord,
    ExtraQuotaRecord,
    FrozenRecord,
    PhaseRecord,
    ReportedRecord,
    TruthRecord,
)
from vocboard.app.transfer.record_types import (
    ClassName,
    Count,
    DeclaringRecord,
    FileName,
    Hash,
    Key,
    Link,
    MethodName,
    Moment,
    Name,
    Number,
    PhaseKey,
    Record,
    Score,
    Seconds,
    Share,
    Visible,
)
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.problems import Severity

FORMAT = 9  # raised when an archive of this version could not be imported by earlier ones
# In format 2, challenges had one version of their edition; before 4, phases had neither a minimum age of accounts nor a
# shared quota; before 5, each declaration was a field; before 6, challenges had a title and a description alone;
# before 7, everybody took part alone; before 8, no domain was admitted, none was private or had a licence;
# before 9, evaluations named no extensions, and failures did not say whose they were.
READABLE = (2, 3, 4, 5, 6, 7, 8, FORMAT)
MAX_EDITIONS = 1000
HEADER = "challenge.json"
PEOPLE, SUBMISSIONS, LOG = "people.jsonl", "submissions.jsonl", "log.jsonl"
BANS = "bans.jsonl"
ADMISSIONS, EXTRA_QUOTAS = "admissions.jsonl", "extra-quotas.jsonl"
TERMS = "terms.jsonl"  # earlier versions of archives have none
ANNOUNCEMENTS, QUESTIONS = "announcements.jsonl", "questions.jsonl"
FROZEN, CORRECTIONS = "frozen-leaderboards.jsonl", "corrections.jsonl"
REPORTED = "reported-results.jsonl"  # earlier versions import an archive without it, and without files
FILES = "files.jsonl"
ARCHIVES, FILE_CONTENTS = "archives/", "files/"  # by SHA-256
MAX_ROWS = 1000  # of a confusion matrix


class Format(BaseModel):
    """The part of the header that every format has, so that other formats can be refused by name."""

    format: Number
    vocboard: Visible = Field(max_length=30)


class EditionRecord(Record):
    """A version of a custom edition.

    Attributes:
        made_current_at: None for the first one, and for versions that were never applied.
    """

    number: Number
    file: str = Field(max_length=1_000_000)
    made_current_at: Moment | None


class TeamRecord(Record):
    """A named team. Who takes part alone has none.

    Attributes:
        members: ids of people; the first owns the team where it is imported.
    """

    id: uuid.UUID
    name: Annotated[Visible, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
    members: list[uuid.UUID] = Field(max_length=1000)


class Header(Record):
    """The challenge itself.

    Attributes:
        edition_file: text of its organisers' own; None for an edition that comes with vocboard.
        edition_version: number of this file.
        edition_versions: all of them, if it has been changed.
        rules: of the challenge and its main phase.
        phases: the others.
        label_key: of the labels on anonymous leaderboards, so that these stay; not in archives of earlier versions.
        ground_truth_version: number of the main phase's current one; None if there is none.
        ground_truth_versions: all versions that results were scored with.
    """

    format: Number
    vocboard: Visible = Field(max_length=30)
    exported_at: Moment
    slug: Visible = Field(max_length=60)
    edition: Visible = Field(max_length=60)
    edition_file: str | None = Field(max_length=1_000_000)
    edition_version: Number = 1
    edition_versions: list[EditionRecord] = Field([], max_length=MAX_EDITIONS)
    rules: ChallengeRules
    phases: list[PhaseRecord] = Field(max_length=MAX_PHASES)
    label_key: Hash | None = None
    teams: list[TeamRecord] = Field([], max_length=100_000)
    ground_truth_version: Number | None
    ground_truth_versions: list[TruthRecord] = Field(max_length=10_000)


class Person(Record):
    """A person who has submitted, organised or been banned.

    The address is told to organisers. It is not imported with the account.
    """

    id: uuid.UUID
    name: Name
    affiliation: Name
    email: Visible = Field(max_length=254)
    is_organiser: bool


class BanRecord(Record):
    """A person who may not take part in the challenge.

    Attributes:
        email: of whom it holds for on another server, with confirmed address.
    """

    person: uuid.UUID
    email: Visible = Field(max_length=254)
    reason: Visible = Field(max_length=2000)
    created_at: Moment


class AnnouncementRecord(Record):
    """An announcement of the organisers."""

    created_at: Moment
    changed_at: Moment
    title: Annotated[Visible, Field(min_length=1, max_length=MAX_TITLE_LENGTH)]
    text: Annotated[Visible, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]


class TermsRecord(Record):
    """A version of the terms. Who has accepted it is not exported: people accept on the other server, too."""

    created_at: Moment
    number: Number
    text: Visible = Field(max_length=MAX_TERMS_LENGTH)


class QuestionRecord(Record):
    """A question whose answer everyone can read, without the person who has asked. Others are not exported."""

    created_at: Moment
    answered_at: Moment
    text: Annotated[Visible, Field(min_length=1, max_length=MAX_QUESTION_LENGTH)]
    answer: Annotated[Visible, Field(min_length=1, max_length=MAX_ANSWER_LENGTH)]


class FileRecord(Record):
    """A file of the challenge. Pictures are re-encoded when they are imported."""

    created_at: Moment
    kind: FileKind
    audience: Audience
    name: Annotated[Visible, Field(min_length=1, max_length=MAX_FILE_NAME_LENGTH)]
    title: Annotated[Visible, Field(max_length=MAX_FILE_TITLE_LENGTH)]
    byte_count: Annotated[int, Field(strict=True, ge=0)]
    sha256: Hash


class Entry(Record):
    """A competition that a submission enters.

    Attributes:
        is_private: whether its owner left it out when publishing the submission.
        published_at: if later than that of the submission.
    """

    competition: Key
    classes: list[ClassName] = Field(max_length=10_000)
    is_private: bool = False
    published_at: Moment | None = None


class Warn(Record):
    """A warning of the validation."""

    code: Visible = Field(max_length=60)
    severity: Severity
    message: Visible = Field(max_length=2000)
    file: FileName | None = Field(max_length=1000)
    line: Count | None


class MeasureRecord(Record):
    """One metric; the first of a competition is the one that the leaderboard ranks by."""

    metric: Metric
    mean: Score | None
    mean_over: Count
    per_class: dict[ClassName, Score | None] = Field(max_length=10_000)


class CurveRecord(Record):
    """Eleven points of a curve; none if it is undefined."""

    kind: CurveKind
    values: Annotated[list[Share], Field(min_length=11, max_length=11)] | Annotated[list[Share], Field(max_length=0)]


class CountsRecord(Record):
    """The counts behind the score of a class; see `evaluator.scores.ClassDetails`."""

    positives: Count
    results: Count
    difficult: Count
    final_recall: Share | None
    final_precision: Share | None


class ResultRecord(Record):
    """One competition of an evaluation."""

    competition: Key
    task: Task
    not_entered: list[ClassName] = Field(max_length=10_000)
    details: dict[ClassName, CountsRecord] = Field(max_length=10_000)
    measures: list[MeasureRecord] = Field(min_length=1, max_length=50)
    curves: dict[ClassName, CurveRecord] = Field(max_length=10_000)
    shares: list[Annotated[list[Share | None], Field(max_length=MAX_ROWS)]] | None = Field(max_length=MAX_ROWS)
    steps: list[Share | None] | None = Field(default=None, max_length=MAX_ROWS)  # since format 4


class EvaluationRecord(Record):
    """The evaluation that counts.

    Attributes:
        ground_truth_version: number of the version that it is against.
        edition_version: number of the version of the edition that it is by.
    """

    created_at: Moment
    started_at: Moment
    seconds: Seconds
    evaluator_version: Visible = Field(max_length=30)
    extensions: list[Visible] | None = Field(default=None, max_length=100)  # since format 9
    ground_truth_version: Number
    edition_version: Number = 1
    ground_truth_sha256: Hash
    results: list[ResultRecord] = Field(max_length=1000)


class SubmissionRecord(DeclaringRecord):
    """One submission with its current scores, unrounded.

    Attributes:
        began_at: when its upload began.
        phase: key of the phase that it was made in.
        person: who has made it.
        team: whose it is; None for a person alone.
        people: whom it counts for; none for the person alone.
        has_archive: whether its archive is in the export: not if it is withdrawn, or its archive was lost. Without it
            the hash is only information, and gives no right to a file of the importing server that has the same.
        published_before: when it was published before organisers removed it from the leaderboards.
        publish_when_scored: whether its owner asked for that at the upload.
        has_technical_reason: whether its server has failed it, which does not remove it from frozen leaderboards.
    """

    id: uuid.UUID
    created_at: Moment
    began_at: Moment
    phase: PhaseKey
    person: uuid.UUID
    team: uuid.UUID | None = None
    people: list[uuid.UUID] = Field([], max_length=1000)
    method: MethodName
    paper_url: Link = ""
    code_url: Link = ""
    description: Visible = Field(max_length=20_000)
    contributors: Visible = Field(max_length=1000)
    affiliation: Name
    segmentation_classes: list[ClassName] | None = Field(max_length=10_000)
    archive_sha256: Hash
    archive_bytes: Count
    archive_name: FileName = Field(max_length=255)
    has_archive: bool
    entries: list[Entry] = Field(min_length=1, max_length=1000)
    warnings: list[Warn] = Field(max_length=100_000)
    state: State
    finished_at: Moment | None
    failure: Visible | None = Field(max_length=2000)
    has_technical_reason: bool = False  # since format 9
    quota_returned_at: Moment | None
    published_at: Moment | None
    published_before: Moment | None
    publish_when_scored: bool
    disqualified_at: Moment | None = None  # since format 4
    held_back_at: Moment | None
    moderation_reason: Visible | None = Field(max_length=2000)
    evaluation: EvaluationRecord | None


class EventRecord(Record):
    """One event of the audit log."""

    created_at: Moment
    who: Visible = Field(max_length=300)
    action: Annotated[str, Field(max_length=60, pattern=r"^[a-z_.]+$")]
    text: Visible = Field(max_length=6000)


# In the order of an export. Import reads people before all others, and submissions before what refers to them.
LINES: Mapping[str, type[Record]] = {
    PEOPLE: Person,
    BANS: BanRecord,
    ANNOUNCEMENTS: AnnouncementRecord,
    QUESTIONS: QuestionRecord,
    TERMS: TermsRecord,
    FILES: FileRecord,
    SUBMISSIONS: SubmissionRecord,
    ADMISSIONS: AdmissionRecord,
    EXTRA_QUOTAS: ExtraQuotaRecord,
    FROZEN: FrozenRecord,
    REPORTED: ReportedRecord,
    CORRECTIONS: CorrectionRecord,
    LOG: EventRecord,
}
