"""A changed edition of a challenge: what changes, whether it may, and when it can be applied."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from vocboard.app.challenges import edition_versions
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.editions import chosen_edition, edition_of
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.forms import FieldChecks
from vocboard.app.leaderboards import freezing
from vocboard.app.rescores import rounds
from vocboard.app.rescores.edition_changes import obstacles
from vocboard.evaluator.editions.comparison import Difference, differences

FIELD = "edition_file"
BUILT_IN = (
    "The rules of {name} come with vocboard and do not change. For rules of your own, create a challenge with your own "
    "edition file, under another name."
)
NOT_SCORED_YET = (
    "No version of the ground truth is current yet. Confirm its warnings, upload a version that can score all "
    "competitions, or remove those that failed; then change the edition."
)


@dataclass(frozen=True, slots=True)
class ChangedEdition:
    """A changed edition that has been stored.

    Attributes:
        number: its version.
        version: the ground truth to begin with: that of the main phase, if it has any.
    """

    number: int
    changes: tuple[Difference, ...]
    version: GroundTruthVersion


def changed_edition(session: Session, challenge: Challenge, file: str) -> ChangedEdition:
    """Check a changed edition file, and store it as a version of the challenge's edition.

    Args:
        challenge: locked, with its competitions and phases.

    Raises:
        InvalidInputError: the file is wrong, changes nothing, or changes what cannot change; lists all of these.
        ConflictError: the challenge has a built-in edition, or no current ground truth.
    """
    if challenge.edition_file is None:
        raise ConflictError(BUILT_IN.format(name=challenge.edition))
    truths = rounds.truths(session, challenge)
    if not truths:
        raise ConflictError(NOT_SCORED_YET)
    checks = FieldChecks()
    edition = chosen_edition(checks, "", file)
    checks.finish()
    if edition is None:
        raise InvalidInputError({FIELD: "Required."})
    changes = differences(edition_of(challenge), edition)
    if not changes:
        raise InvalidInputError({FIELD: "The rules in this file are those of the challenge: nothing would change."})
    if found := obstacles(session, challenge, edition):
        raise InvalidInputError({FIELD: "\n".join(found)})
    number = edition_versions.add(session, challenge, file)
    return ChangedEdition(number, changes, truths[0])


def reason_to_wait(session: Session, challenge: Challenge) -> str | None:
    """Return why a changed edition cannot be applied yet; None if it can.

    Args:
        challenge: with its competitions and phases.
    """
    freezing.freeze_due(session, challenge)
    if freezing.is_awaiting(session, challenge):
        return (
            "A frozen leaderboard still waits for results that were uploaded in time; the current rules apply to them. "
            "Apply the re-score an hour after the freezing date, when these results are evaluated."
        )
    for version in challenge_queries.truth_versions(session, challenge.id):
        if version.state in {TruthState.UPLOADED, TruthState.IMPORTING}:
            return (
                f"Version {version.number} of the ground truth is being imported. Apply the re-score when the import "
                "has finished."
            )
    return None
