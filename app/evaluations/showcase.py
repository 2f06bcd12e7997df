"""The showcase of a challenge: what each submission found on a few public images of the test set.

Organisers upload the images, each named by its identifier in the test set. Workers draw what every scored submission
found on them, from its results alone (`evaluator.showcase`). Nobody announces changes: the sweep compares what each
drawing was made of with what there is, so images may be uploaded after the results.
"""

import hashlib
import json
import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.files import image_of
from vocboard.app.challenges.models import ChallengeFile, ChallengePhase, FileKind, Scoring
from vocboard.app.evaluations.models import ShowcaseDrawing
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import WITH_RESULT, Submission
from vocboard.evaluator.showcase import VERSION, Drawing


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a drawing is made of, besides the results.

    Attributes:
        images: identifiers of the images.
        truth_version_id: whose public image sets the results are read against.
    """

    images: tuple[str, ...]
    truth_version_id: uuid.UUID

    @property
    def basis(self) -> str:
        """Hash of everything; other drawings are outdated."""
        return hashlib.sha256(json.dumps([VERSION, str(self.truth_version_id), *self.images]).encode()).hexdigest()


def visible_drawings(
    session: Session, submission_ids: Collection[uuid.UUID], viewer: User | None
) -> Mapping[uuid.UUID, Drawing]:
    """Return the drawings that a viewer may see, by submission: those of results that the viewer may see.

    Detail levels do not matter, because nothing of it depends on the ground truth.

    Args:
        submission_ids: those that the viewer may not see are left out.
    """
    query = queries.complete().where(Submission.id.in_(submission_ids), queries.visible_to(viewer))
    stored = select(ShowcaseDrawing).where(ShowcaseDrawing.submission_id.in_(submission_ids))
    content = {drawing.submission_id: drawing.content for drawing in session.scalars(stored)}
    found = {}
    known: dict[tuple[uuid.UUID, uuid.UUID], queries.Access] = {}  # which all versions of a method have in common
    for submission in session.scalars(query) if content else ():
        drawn = content.get(submission.id, {})
        of = submission.team_id, submission.challenge_id
        if of not in known:
            known[of] = queries.access_of(session, submission, viewer)
        shown = queries.visible_competitions(submission, known[of])
        found[submission.id] = {key: drawn[key] for key in shown if key in drawn}
    return found


def wanted(session: Session, phase_ids: Collection[uuid.UUID] | None = None) -> Mapping[uuid.UUID, Wanted]:
    """Return what is to be drawn, by phase; phases without a showcase, and those not scored here, are missing.

    Args:
        phase_ids: only these.
    """
    query = (
        select(ChallengePhase.id, Scoring.ground_truth_version_id, ChallengeFile.name)
        .join(Scoring, Scoring.id == ChallengePhase.current_scoring_id)
        .join(ChallengeFile, ChallengeFile.challenge_id == ChallengePhase.challenge_id)
        .where(ChallengeFile.kind == FileKind.SHOWCASE)
    )
    if phase_ids is not None:
        query = query.where(ChallengePhase.id.in_(phase_ids))
    found = defaultdict[tuple[uuid.UUID, uuid.UUID], set[str]](set)
    for phase_id, version_id, name in session.execute(query):
        found[phase_id, version_id].add(image_of(name))
    return {phase_id: Wanted(tuple(sorted(images)), version) for (phase_id, version), images in found.items()}


def add_outdated(session: Session) -> None:
    """Add jobs for the submissions whose drawings are missing or outdated, and remove drawings that are not needed."""
    now_wanted = wanted(session)
    rows: list[tuple[uuid.UUID, uuid.UUID | None]] = []
    for phase_id, one in now_wanted.items():
        outdated = (
            select(Submission.id, Submission.user_id)
            .outerjoin(ShowcaseDrawing, ShowcaseDrawing.submission_id == Submission.id)
            .where(Submission.phase_id == phase_id, Submission.state.in_(WITH_RESULT))
            .where(or_(ShowcaseDrawing.basis.is_(None), ShowcaseDrawing.basis != one.basis))
            .order_by(Submission.created_at.desc(), Submission.id)
        )
        rows += [(row[0], row[1]) for row in session.execute(outdated)]
    jobs.add_all(session, Kind.SHOWCASE, rows)
    unneeded = select(Submission.id).where(
        or_(Submission.state.not_in(WITH_RESULT), Submission.phase_id.not_in(list(now_wanted)))
    )
    session.execute(delete(ShowcaseDrawing).where(ShowcaseDrawing.submission_id.in_(unneeded)))


def store(session: Session, submission_id: uuid.UUID, basis: str, content: Drawing) -> None:
    """Store a drawing in place of the earlier one, unless the submission was withdrawn or deleted in between."""
    is_drawn = select(Submission.id).where(Submission.id == submission_id, Submission.state.in_(WITH_RESULT))
    if session.scalar(is_drawn) is not None:
        session.merge(ShowcaseDrawing(submission_id=submission_id, basis=basis, content=dict(content)))
