"""No table of a challenge is forgotten in exports, and only exports import the library for tables of scores."""

import subprocess
import sys

import pytest
from pydantic import BaseModel

from vocboard.app.challenges.rules import ChallengeRules, PhaseRules
from vocboard.app.models import Base
from vocboard.app.transfer import phase_records, records

RECORDS: dict[str, tuple[type[BaseModel], ...]] = {  # of each exported table
    "announcements": (records.AnnouncementRecord,),
    "bans": (records.BanRecord,),
    "challenge_files": (records.FileRecord,),
    "challenge_organisers": (records.Person,),
    "challenge_terms": (records.TermsRecord,),
    "edition_versions": (records.EditionRecord,),
    "extra_quotas": (phase_records.ExtraQuotaRecord,),
    "frozen_leaderboards": (phase_records.FrozenRecord,),
    "ground_truth_versions": (phase_records.TruthRecord,),
    "methods": (records.SubmissionRecord,),
    "phase_admissions": (phase_records.AdmissionRecord,),
    "phases": (phase_records.PhaseRecord, PhaseRules),
    "questions": (records.QuestionRecord,),
    "reported_results": (phase_records.ReportedRecord,),
    "rescores": (phase_records.CorrectionRecord,),
    "scorings": (phase_records.PhaseRecord, phase_records.CorrectionRecord),
    "submissions": (records.SubmissionRecord,),
    "team_members": (records.TeamRecord,),
    "teams": (records.TeamRecord,),
}
OF_RESULTS: dict[str, tuple[type[BaseModel], ...]] = {
    "challenges": (records.Header, ChallengeRules),
    "competition_results": (records.ResultRecord,),
    "curves": (records.CurveRecord,),
    "evaluations": (records.EvaluationRecord,),
    "measures": (records.MeasureRecord,),
    "submission_entries": (records.Entry,),
}
# Columns that no record has: keys and times of rows, what is another name's in a record, and what another server does
# not need or may not know.
COLUMNS_LEFT_OUT = {
    "announcements": {"by_email"},  # mail is sent where it happens
    "challenge_files": {"media_type"},  # by the file's name
    "challenge_organisers": {"is_owner"},  # who imports it owns it
    # It is not exported.
    "ground_truth_versions": {
        "competitions",
        "confirmed_at",
        "file_name",
        "image_sets",
        "problems",
        "sha256",
        "state",
        "summary",
        "warnings",
    },
    "methods": {"name"},  # `SubmissionRecord.method`
    "phases": {"competition_keys"},  # by the rules
    "questions": {"is_public"},  # those that everybody sees are exported
    # Only applied ones are exported.
    "rescores": {
        "apply_requested_at",
        "failure",
        "finished_at",
        "report",
        "report_revision",
        "report_summary",
        "state",
    },
    # Secrets, notes, rehearsals, and what is computed again.
    "submissions": {
        "anonymous_token_hash",
        "claimed_at",
        "columns_reader",
        "columns_sha256",
        "failure_detail",
        "flickr_hashes",
        "is_rehearsal",
        "note",
        "queued_at",
    },
    "team_members": {"joined_at", "role"},  # the owner is the first of `TeamRecord.members`
    "challenges": {"archived_at", "imported_at", "statistics_requested_at"},  # times of this server
    "competition_results": {"position"},  # by the order
    "curves": {"position"},  # by the order
    "evaluations": {"archive_sha256"},  # as of the submission
    "measures": {"position"},  # by the order
    "submission_entries": {"position"},  # by the order
}
LEFT_OUT = {
    "board_statistics": "computed from the ground truth, which is not exported",
    "admission_requests": "answered where people have asked; who was admitted is in `phase_admissions`",
    "challenge_invitations": "the links are another server's",
    "image_set_comparisons": "computed from the ground truth, which is not exported",
    "leaderboard_revisions": "triggers count them",
    "notifications": "people are told by the server where it happens",
    "resumable_uploads": "not finished",
    "webhooks": "addresses of programs that know this server",
    "uploads": "attempts, which are only kept for a while",
    "statistics_updates": "work for this server's workers",
    "submission_sequences": "computed from the ground truth, which is not exported",
}


def test_every_table_of_a_challenge_is_exported_or_left_out_for_a_reason() -> None:
    tables = {
        table.name
        for table in Base.metadata.tables.values()
        if any(key.column.table.name in {"challenges", "phases"} for key in table.foreign_keys)
    }
    unknown = tables - RECORDS.keys() - LEFT_OUT.keys()
    assert not unknown, f"does app/transfer/ export and import {sorted(unknown)}? Say so here, or why not."
    assert tables == RECORDS.keys() | LEFT_OUT.keys()


@pytest.mark.parametrize("name", [*RECORDS, *OF_RESULTS])
def test_every_column_of_an_exported_table_is_in_its_record_or_left_out(name: str) -> None:
    known = {field for record in (RECORDS | OF_RESULTS)[name] for field in record.model_fields}
    columns = {
        column.name
        for column in Base.metadata.tables[name].columns
        if not column.foreign_keys and not column.primary_key and column.name != "created_at"
    }
    assert columns - known == COLUMNS_LEFT_OUT.get(name, set()), "does app/transfer/ export and import them?"


@pytest.mark.full  # another process
def test_the_web_process_starts_without_the_library_for_tables() -> None:
    program = "import gc, sys; gc.disable(); import vocboard.app.main; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
