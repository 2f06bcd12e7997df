"""A challenge moves to another server: python move.py SERVER TOKEN CHALLENGE OTHER_SERVER OTHER_TOKEN."""

import sys
import uuid

import httpx
from submit import expect
from vocboard_api import AuthenticatedClient
from vocboard_api.api.leaderboards import leaderboard_csv
from vocboard_api.api.transfer import export_challenge, import_challenge
from vocboard_api.models import ImportChallengeBody, ImportedChallenge
from vocboard_api.types import File


def main(server: str, token: str, slug: str, other_server: str, other_token: str) -> None:
    """Import an exported challenge into the other server, as an archived draft, and show a leaderboard there."""
    patience = httpx.Timeout(600)
    with (
        AuthenticatedClient(server, token, timeout=patience) as client,
        AuthenticatedClient(other_server, other_token, timeout=patience) as other,
    ):
        archive = expect(File, export_challenge.sync(slug, client=client))
        form = ImportChallengeBody(archive=File(archive.payload, file_name=f"{slug}.vocboard.tar"))
        moved = expect(
            ImportedChallenge, import_challenge.sync(client=other, body=form, idempotency_key=str(uuid.uuid4()))
        )
        print(f"{moved.title}: {moved.phase}")
        for one in moved.competitions:
            print(expect(str, leaderboard_csv.sync(moved.slug, one.key, client=other)), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
