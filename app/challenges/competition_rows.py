"""The rows of a challenge's competitions."""

from collections.abc import Sequence

from vocboard.app.challenges.models import ChallengeCompetition


def competition_rows(keys: Sequence[str]) -> list[ChallengeCompetition]:
    """Return new rows, in this order."""
    return [ChallengeCompetition(key=key, position=position) for position, key in enumerate(keys)]


def same_or_new(rows: Sequence[ChallengeCompetition], keys: Sequence[str]) -> list[ChallengeCompetition]:
    """Return the rows of these competitions, reusing existing ones."""
    present = {row.key: row for row in rows}
    found = [present.get(row.key, row) for row in competition_rows(keys)]
    for position, row in enumerate(found):
        row.position = position
    return found
