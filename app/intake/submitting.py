"""Accepting a submission: who may submit where, and the transaction that counts, queues and stores it."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.accounts.people import domain_of
from vocboard.app.challenges import terms
from vocboard.app.challenges.models import Admission, Challenge
from vocboard.app.challenges.phase_people import is_admitted
from vocboard.app.challenges.phases import (
    MAX_UPLOAD_DURATION,
    Phase,
    check_accepting,
    check_can_be_scored,
    earlier_phases,
)
from vocboard.app.challenges.service import is_organiser
from vocboard.app.database import add_unique, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidArchiveError
from vocboard.app.intake.report import Report
from vocboard.app.storage.archives import IncomingArchive
from vocboard.app.submissions import queries as submission_queries
from vocboard.app.submissions import queue
from vocboard.app.submissions.forms import SubmissionForm, previous_names
from vocboard.app.submissions.models import Method, Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.submissions.pruning import lock_archives
from vocboard.app.submissions.quota import check_quota
from vocboard.app.teams.models import Team
from vocboard.app.teams.queries import locked_team_of, require_none_banned
from vocboard.evaluator.problems import counted
from vocboard.evaluator.stored_results.reader_version import READER_VERSION


def submit(
    session: Session,
    *,
    user: User,
    challenge: Challenge,
    form: SubmissionForm,
    archive: IncomingArchive,
    report: Report,
    columns: IncomingArchive | None = None,
    began_at: datetime | None = None,
    phase_key: str | None = None,
    is_rehearsal: bool = False,
) -> Submission:
    """Accept a valid upload: count it against the quota, queue it and store its archive, atomically.

    Args:
        form: checked, see `forms.checked`.
        archive: completely received, not yet kept.
        report: what validation found in it.
        columns: what validation has read, kept if the report says that it is complete.
        began_at: when the upload began, by default now: one that began before the phase closed counts, if it has
            taken no longer than `MAX_UPLOAD_DURATION`.
        phase_key: the phase that it is for; by default the one that was current when it began.
        is_rehearsal: whether an organiser tries the challenge out: then no leaderboard shows it, it costs no quota,
            and the phase need not be open.

    Raises:
        ForbiddenError: the person may not submit to the phase, or has not accepted the terms that were current when the
            upload began; or rehearses without organising the challenge.
        NotFoundError: there is no such phase.
        InvalidArchiveError: the report has errors.
        ForbiddenError: the person is banned from the challenge, or disabled.
        ConflictError: the phase does not accept submissions, or has lost a competition during the upload.
        LimitedError: the quota is used up; `allowed_at` is when the next submission is allowed.
    """
    if report.refuses:
        raise InvalidArchiveError(report.problems, report.groups)
    lock_submitter(session, user)
    team, people = locked_team_of(session, challenge, user)
    instant = now()
    began_at = max(began_at or instant, instant - MAX_UPLOAD_DURATION)
    phase = check_may_submit(
        session, user=user, challenge=challenge, at=began_at, phase_key=phase_key, is_rehearsal=is_rehearsal
    )
    columns = columns if report.has_columns else None
    keys = [entry.competition for entry in report.entries]
    if removed := [key for key in keys if key not in phase.competitions]:
        raise ConflictError(f"The organisers have just removed {', '.join(removed)}. Submit the other results alone.")
    require_none_banned(session, challenge_id=challenge.id, user=user, people=people)
    if not is_rehearsal:
        check_quota(session, user=user, challenge=challenge, phase=phase, competitions=keys, now=instant)
    names = previous_names(session, user=user, challenge=challenge)
    submission = Submission(
        created_at=instant,
        queued_at=instant,
        began_at=began_at,
        challenge_id=challenge.id,
        phase_id=phase.id,
        is_rehearsal=is_rehearsal,
        publish_when_scored=form.publish and not is_rehearsal,
        user_id=user.id,
        team_id=team.id,
        people=[SubmissionPerson(user_id=person.id) for person in people],
        method_id=_method(session, team, form.method_name).id,
        description=form.description,
        contributors=names.contributors if form.contributors is None else form.contributors,
        affiliation=names.affiliation if form.affiliation is None else form.affiliation,
        declarations=dict(form.declarations),
        flickr_count=form.flickr_image_hashes.count,
        flickr_hashes=form.flickr_image_hashes.packed,
        segmentation_classes=list(form.segmentation_classes) if form.segmentation_classes is not None else None,
        archive_sha256=archive.sha256,
        archive_bytes=archive.size,
        archive_name=form.archive_name,
        columns_sha256=None if columns is None else columns.sha256,
        columns_reader=None if columns is None else READER_VERSION,
        warnings=[problem.as_json() for problem in report.problems],
        entries=[
            SubmissionEntry(competition=entry.competition, position=position, classes=list(entry.classes))
            for position, entry in enumerate(report.entries)
        ],
    )
    session.add(submission)
    session.flush()
    queue.add(session, submission)
    files = [archive] if columns is None else [archive, columns]
    lock_archives(session, *(file.sha256 for file in files))
    for file in files:
        file.keep()  # last, so that a rejected upload leaves no file; a row always has its file
    return submission


def lock_submitter(session: Session, user: User) -> None:
    """Lock the person, so that only one transaction at a time decides on the person's team (SQLite has one writer).

    Raises:
        ForbiddenError: the account was disabled or deleted during the upload.
    """
    query = select(User.disabled_at).where(User.id == user.id).with_for_update(key_share=True)  # as `lock_person`
    if session.scalar(query) is not None:
        raise ForbiddenError("Your account has been disabled or deleted.")


def check_may_submit(
    session: Session,
    *,
    user: User,
    challenge: Challenge,
    at: datetime,
    phase_key: str | None = None,
    is_rehearsal: bool = False,
) -> Phase:
    """Return the phase that a person's upload is for.

    Args:
        challenge: loaded in this session, with its competitions and phases. A writing transaction reads it again and
            locks it; a reading one uses it as it was loaded.
        at: when the upload began.
        phase_key: of the phase; by default the current one.

    Raises:
        ForbiddenError, NotFoundError, ConflictError: as for `submit`.
    """
    if is_rehearsal:
        if not is_organiser(session, challenge, user):
            raise ForbiddenError("Only the organisers of this challenge can rehearse it.")
        return check_can_be_scored(session, challenge, at=at, key=phase_key)
    phase = check_accepting(session, challenge, at=at, key=phase_key)
    check_admitted(session, challenge=challenge, phase=phase, user=user)
    terms.require_accepted(session, challenge, user, at=at)
    return phase


def _method(session: Session, team: Team, name: str) -> Method:
    """Get or create the team's method of this name; the caller holds the team's lock."""
    of_this_name = select(Method).where(Method.team_id == team.id, Method.name == name)
    known = session.scalars(of_this_name).one_or_none()
    if known is not None:
        return known
    method = Method(challenge_id=team.challenge_id, team_id=team.id, name=name)
    if not add_unique(session, method):  # another member has just renamed a method to this
        return session.scalars(of_this_name).one()
    return method


def check_admitted(session: Session, *, challenge: Challenge, phase: Phase, user: User) -> None:
    """Raise `ForbiddenError` if a person may not submit to a phase.

    Args:
        challenge: with its phases.
    """
    admission = phase.rules.admission
    if not phase.rules.chooses_people or is_admitted(session, phase, user):
        return
    _check_age(phase, user)
    if admission is Admission.EVERYONE:
        return
    if admission is Admission.APPROVED:
        raise ForbiddenError(
            f"Only people whom the organisers have admitted can submit to the phase “{phase.title}”. Ask them."
        )
    if admission is Admission.REQUEST:
        raise ForbiddenError(
            f"Only people whom the organisers have admitted can submit to the phase “{phase.title}”. Ask to take part "
            f"at /challenges/{challenge.slug}/take-part."
        )
    if admission is Admission.DOMAIN:
        if domain_of(user.email) in phase.rules.admission_domains:
            return
        raise ForbiddenError(
            f"Only people with an email address of {' or '.join(phase.rules.admission_domains)} can submit to the "
            f"phase “{phase.title}”. Yours is {user.email}: change it on the Account page, or ask the organisers."
        )
    earlier = [each.id for each in earlier_phases(challenge, phase)]
    if not submission_queries.has_scored(session, earlier, user.id):
        raise ForbiddenError(
            f"Only people with a scored submission in an earlier phase can submit to the phase “{phase.title}”."
        )


def _check_age(phase: Phase, user: User) -> None:
    days = phase.rules.min_account_days
    allowed_at = (user.email_confirmed_at or now()) + timedelta(days=days)
    if allowed_at > now():
        raise ForbiddenError(
            f"Only accounts whose email address was confirmed at least {counted(days, 'day')} ago can submit to "
            f"the phase “{phase.title}”. Yours can from {allowed_at:%Y-%m-%d %H:%M} UTC. The organisers can admit you "
            "earlier."
        )
