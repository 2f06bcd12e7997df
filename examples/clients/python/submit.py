"""The life of a submission with the generated client: python submit.py SERVER TOKEN CHALLENGE COMPETITION ARCHIVE."""

import io
import json
import sys
import uuid
from pathlib import Path
from typing import TypeVar

import httpx
from vocboard_api import AuthenticatedClient
from vocboard_api.api.account import export_account
from vocboard_api.api.challenges import get_challenge
from vocboard_api.api.leaderboards import leaderboard, leaderboard_csv
from vocboard_api.api.submissions import create_submission, get_scores, get_scores_csv, publish, submission_events
from vocboard_api.api.uploads import check_upload, create_upload, send_part
from vocboard_api.models import (
    ChallengeDetails,
    CompetitionScores,
    CreateSubmissionBody,
    ExportAccountResponseExportAccount,
    Leaderboard,
    ProblemDetails,
    SubmissionDetails,
    SubmissionEvent,
    Upload,
    UploadReport,
)
from vocboard_api.types import File

Answer = TypeVar("Answer")


def expect(kind: type[Answer], answer: object) -> Answer:
    """Return an answer if it is of the kind; errors of the server end the program."""
    if isinstance(answer, kind):
        return answer
    raise SystemExit(f"{answer.code}: {answer.detail}" if isinstance(answer, ProblemDetails) else repr(answer))


def main(server: str, token: str, slug: str, competition: str, archive: str) -> None:
    """Run the life of a submission, with a client that has a token and one of a visitor."""
    # The generator asks for a token wherever one may be sent. A client of one's own sends none.
    anonymous = httpx.Client(base_url=server)
    with (
        AuthenticatedClient(server, token, timeout=httpx.Timeout(60)) as client,
        AuthenticatedClient(server, "").set_httpx_client(anonymous) as visitor,
    ):
        submit(client, visitor, slug, competition, Path(archive).read_bytes())


def submit(
    client: AuthenticatedClient, visitor: AuthenticatedClient, slug: str, competition: str, content: bytes
) -> None:
    """Submit an archive, wait for its scores, publish it, and read the leaderboard as everybody sees it."""
    challenge = expect(ChallengeDetails, get_challenge.sync(slug, client=visitor))
    print(f"{challenge.title}: {challenge.phase}")

    # A resumable upload: a part that is interrupted is sent again from `received_bytes` on.
    upload = expect(Upload, create_upload.sync(client=client, challenge=slug, upload_length=len(content)))
    part = File(io.BytesIO(content[upload.received_bytes :]))
    sent = send_part.sync_detailed(upload.id, client=client, body=part, upload_offset=upload.received_bytes)
    if sent.status_code != 204:
        expect(Upload, sent.parsed)
    report = expect(UploadReport, check_upload.sync(upload.id, client=client))
    print(f"checked: {', '.join(report.competitions.additional_keys)}")

    form = CreateSubmissionBody(method_name="From Python")
    key = str(uuid.uuid4())
    submission = expect(
        SubmissionDetails, create_submission.sync(slug, client=client, body=form, upload=upload.id, idempotency_key=key)
    )

    # The stream ends with the final state.
    for line in expect(str, submission_events.sync(submission.id, client=client)).splitlines():
        if line.startswith("data: "):
            print(SubmissionEvent.from_dict(json.loads(line.removeprefix("data: "))).state)

    scores = expect(CompetitionScores, get_scores.sync(submission.id, competition, client=client))
    print(f"{scores.metric}: {scores.mean}")
    print(expect(str, get_scores_csv.sync(submission.id, competition, client=client)), end="")
    expect(SubmissionDetails, publish.sync(submission.id, client=client))

    board = expect(Leaderboard, leaderboard.sync(slug, competition, client=visitor))
    for row in board.rows:
        print(row.rank, row.method, row.mean)
    print(expect(str, leaderboard_csv.sync(slug, competition, client=visitor)), end="")

    # What the server stores about the user.
    stored = expect(ExportAccountResponseExportAccount, export_account.sync(client=client))
    for table, rows in stored.additional_properties.items():
        print(f"{table}: {len(rows)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
