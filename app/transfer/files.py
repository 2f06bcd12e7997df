"""The plain files of an export: its README, people and the audit log, for people and for import."""

import csv
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel

from vocboard.app.database import Database
from vocboard.app.forms import escape_formula
from vocboard.app.organising import audit_log as log_export
from vocboard.app.organising.audit_log import Filters
from vocboard.app.transfer import records
from vocboard.app.transfer.records import EventRecord, Person

README = """This archive holds one challenge of a vocboard server, without its ground truth.

Import it with Organise > Import challenge, or: vocboard admin import-challenge FILE --organiser EMAIL

Scores are fractions at full precision, and people have their email addresses: keep it as you keep the ground truth.

challenge.json      rules, phases and edition, in all its versions
people.jsonl, .csv  who has submitted or organised
bans.jsonl          who may not take part
terms.jsonl         terms, in all their versions
announcements.jsonl  what the organisers have announced
questions.jsonl     questions with public answers, without who has asked
submissions.jsonl   submissions with their current scores
scores.csv, .parquet  all scores, one a row
leaderboards/       leaderboards as they were shown; "-later" is what was published after they were frozen
frozen-leaderboards.jsonl  what frozen leaderboards show, unrounded
reported-results.jsonl  baselines and results from papers, which leaderboards show without a rank
corrections.jsonl   re-scores that were applied
admissions.jsonl    who was admitted to phases
extra-quotas.jsonl  extra quota of people
log.jsonl, .csv     audit log
image-sets.json     what is public of the ground truth; those of other phases begin with the phase
files.jsonl         files of the challenge's page: data to download, cover, logos, showcase
files/              their contents, by SHA-256
archives/           submitted archives, by SHA-256; those that were lost or damaged have "has_archive": false in
                    submissions.jsonl
"""


def write_log(database: Database, challenge_id: uuid.UUID, directory: Path) -> None:
    """Write the audit log of a challenge, as CSV and as records."""
    with (directory / "log.csv").open("w", encoding="utf-8", newline="") as file:
        for piece in log_export.as_csv(database, challenge_id=challenge_id, filters=Filters()):
            file.write(piece)
    with (directory / records.LOG).open("w", encoding="utf-8") as file:
        for events in log_export.batches(database, challenge_id=challenge_id, filters=Filters()):
            for event in events:
                record = EventRecord(
                    created_at=event.created_at, who=event.who, action=event.action, text=event.text[:6000]
                )
                file.write(record.model_dump_json() + "\n")


def write_lines(path: Path, items: Iterable[BaseModel]) -> None:
    """Write records, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for item in items:
            file.write(item.model_dump_json() + "\n")


def write_people(path: Path, people: Sequence[Person]) -> None:
    """Write people as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "name", "affiliation", "email", "organiser"))
        for one in people:
            texts = map(escape_formula, (one.name, one.affiliation, one.email))
            writer.writerow((one.id, *texts, "yes" if one.is_organiser else "no"))
