"""More of the gallery: challenges in rarer states, re-scores with their reports, links of emails, an invitation."""

import uuid
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support import own_rules
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.phases import complete, main_truth, phase_of
from tests.support.scored import make_scored
from vocboard.app.accounts import links
from vocboard.app.accounts.models import LinkedIdentity, LinkPurpose, User
from vocboard.app.accounts.openid import ORCID
from vocboard.app.challenges import phase_people, terms
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Admission,
    Challenge,
    Detail,
    Freeze,
    GroundTruthVersion,
    QuestionKind,
    TruthState,
)
from vocboard.app.challenges.organisers import invite
from vocboard.app.challenges.rules import AdmissionQuestion, PhaseRules
from vocboard.app.database import now
from vocboard.app.leaderboards import freezing
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.notifications import service as notifications
from vocboard.app.notifications.models import NotificationKind, NotificationSetting
from vocboard.app.organising import archiving, phase_changes
from vocboard.app.participating import admission, teams
from vocboard.app.rescores import service as rescores
from vocboard.app.submissions.models import Submission
from vocboard.app.teams.models import TeamMember, TeamRole
from vocboard.evaluator.problems import Problem, Severity

DAY = timedelta(days=1)
COMPETITION = "comp1"


def add_states(session: Session, organiser: User, participant: User) -> dict[str, str]:
    """Make them; return the parts of addresses that only the database knows, by name."""
    _phased(session, organiser, participant)
    _special_leaderboards(session, organiser, participant)
    archived = make_challenge(session, organiser=organiser, slug="archived", title="Objects of 2005")
    _published(session, archived, participant, "Sliding window")
    archiving.archive(session, challenge=complete(session, archived.id), user=organiser)
    _doubtful_truth(session, organiser)
    elsewhere = make_challenge(session, slug="elsewhere", title="Somebody else’s challenge")
    invite(
        session, challenge=elsewhere, user=make_organiser(session), email=organiser.email, site="https://voc.example"
    )
    invite(
        session, challenge=elsewhere, user=make_organiser(session), email=participant.email, site="https://voc.example"
    )
    session.add(LinkedIdentity(user_id=participant.id, issuer=ORCID, subject="0000-0002-1825-0097"))
    _on_request(session, organiser, participant)
    waiting = make_user(session, name="Wanda Waiting", affiliation="Night School", approved=False)
    return {
        "person": str(participant.id),
        "confirm_link": links.create(session, user=waiting, purpose=LinkPurpose.CONFIRM_ADDRESS),
        "address_link": links.create(
            session, user=participant, purpose=LinkPurpose.CHANGE_ADDRESS, new_email="paula@elsewhere.example"
        ),
        "join_link": _team(session, participant),
        "unsubscribe_token": _emailed(session, participant),
        "reset_link": links.create(session, user=waiting, purpose=LinkPurpose.RESET_PASSWORD),
        **_corrected(session, organiser, participant),
        "rescore_rules": _changed_rules(session, organiser, participant),
    }


def _on_request(session: Session, organiser: User, participant: User) -> None:
    """Make a challenge with terms that one person has accepted and another asks to take part in."""
    questions = (
        AdmissionQuestion(question="Where do you work?"),
        AdmissionQuestion(question="What for?", kind=QuestionKind.TEXT, required=False),
        AdmissionQuestion(question="Which?", kind=QuestionKind.CHOICE, choices=("Academia", "Industry")),
        AdmissionQuestion(question="I will not share the images", kind=QuestionKind.BOX),
    )
    made = make_challenge(
        session,
        organiser=organiser,
        slug="on-request",
        title="A challenge that one asks to take part in",
        admission=Admission.REQUEST,
        admission_questions=questions,
    )
    challenge = complete(session, made.id)
    terms.publish(session, challenge=challenge, user=organiser, text="# Terms\n\nFor *research* only.")
    admission.accept_terms(session, challenge=challenge, user=participant, version=1)
    answers: dict[str, str | bool] = {
        "Where do you work?": "At a laboratory",
        "Which?": "Academia",
        "I will not share the images": True,
    }
    asking = make_user(session, name="Anna Asking")
    admission.ask(session, challenge=challenge, phase_key=MAIN_PHASE, user=asking, answers=answers)


def _team(session: Session, participant: User) -> str:
    """Make a team with two members; return the secret of a link to join it."""
    challenge = make_challenge(session, slug="teams", title="A challenge for teams")
    team = teams.create(session, challenge=complete(session, challenge.id), user=participant, name="Night shift")
    other = make_user(session, name="Norbert Night")
    session.add(TeamMember(challenge_id=challenge.id, user_id=other.id, team_id=team.id, role=TeamRole.MEMBER))
    teams.invite(session, team_id=team.id, user=participant, email="invited@lab.example", site="https://voc.example")
    return teams.invite(session, team_id=team.id, user=participant, site="https://voc.example")[1]


def _emailed(session: Session, participant: User) -> str:
    """Choose what the participant gets by email; return the token of a link that stops it."""
    notifications.choose_emails(session, participant.id, {NotificationKind.SCORED: True})
    return session.scalars(select(NotificationSetting.unsubscribe_token)).one()


def _phased(session: Session, organiser: User, participant: User) -> None:
    phased = make_challenge(
        session,
        organiser=organiser,
        slug="phased",
        title="A challenge in phases",
        phase_title="Validation",
        closes_at=now() + DAY,
        anywhere_on_earth=True,
        detail=Detail.EVERYTHING,
        ready=False,
    )
    rules = PhaseRules(
        competitions=(COMPETITION,),
        opens_at=now() + DAY,
        closes_at=now() + 9 * DAY,
        admission=Admission.APPROVED,
        detail=Detail.MEAN,
        leaderboard_from=now() + 9 * DAY,
        anonymous_until=now() + 10 * DAY,
        freeze=Freeze.NEVER,
    )
    whole = complete(session, phased.id)
    phase_changes.add_phase(session, challenge=whole, user=organiser, key="test", title="Test", rules=rules)
    test = phase_of(session, phased, "test")
    phase_people.admit(session, challenge=phased, phase=test, organiser=organiser, emails=[participant.email])
    who: dict[str, Any] = {"challenge": phased, "organiser": organiser, "email": participant.email}
    phase_people.grant_extra_quota(
        session, phase=phase_of(session, phased), **who, count=2, until=now() + DAY, reason="Disk failure"
    )


def _special_leaderboards(session: Session, organiser: User, participant: User) -> None:
    """Make challenges whose leaderboards are hidden, anonymous, and frozen with a result that came later."""
    rules: dict[str, dict[str, Any]] = {
        "hidden": {"leaderboard_from": now() + DAY},
        "anonymous": {"anonymous_until": now() + DAY},
        "frozen": {"opens_at": now() - 3 * DAY, "freeze": Freeze.DATE, "freezes_at": now() - DAY},
    }
    for slug, given in rules.items():
        challenge = make_challenge(session, organiser=organiser, slug=slug, title=f"Objects, {slug}", **given)
        early = _published(session, challenge, participant, "Part-based mixture")
        early.published_at = early.began_at = now() - 2 * DAY
        _published(session, challenge, participant, "Set prediction")
        session.flush()
        freezing.freeze_due(session, complete(session, challenge.id))


def _published(session: Session, challenge: Challenge, owner: User, method: str) -> Submission:
    submission = make_scored(session, challenge, owner, method)
    submission.published_at = now()
    return submission


def _doubtful_truth(session: Session, organiser: User) -> None:
    """Make a draft whose ground truth has warnings, and cannot score one of the competitions."""
    draft = make_challenge(session, organiser=organiser, slug="doubtful", title="A draft with doubts", ready=False)
    message = "'Plum' is not a class of the edition: 12 objects in 8 images will be left out. Did you mean 'plum'?"
    doubt = Problem(
        "unknown_class", Severity.WARNING, message, "VOC2012/Annotations/2012_000001-second-annotator.xml", 7
    )
    counts = {"person": {"positives": 1234, "difficult": 56}}
    session.add(
        GroundTruthVersion(
            challenge_id=draft.id,
            phase_id=draft.main_phase.id,
            number=1,
            uploaded_by_id=organiser.id,
            file_name="devkit.tar.gz",
            state=TruthState.READY,
            sha256="5e" * 32,
            competitions=["comp1"],
            summary={"classification/test": {"images": 4952, "classes": counts}},
            warnings=[doubt.as_json()],
        )
    )


def _corrected(session: Session, organiser: User, participant: User) -> dict[str, str]:
    """Make a challenge with re-scores in each state; return their ids by state."""
    challenge = make_challenge(session, organiser=organiser, slug="corrected", title="Objects, corrected")
    truth = main_truth(session, challenge)
    assert truth is not None
    changed = _published(session, challenge, participant, "Region proposals")
    made = {}
    for state in (RescoreState.APPLIED, RescoreState.DISCARDED, RescoreState.FAILED, RescoreState.READY):
        rescore = Rescore(
            challenge_id=challenge.id,
            ground_truth_version_id=truth.id,
            reason="Ten boxes corrected",
            state=state,
            started_by_id=organiser.id,
            finished_at=None if state is RescoreState.READY else now(),
            evaluator_version="1.0",
            report=_report(changed.id) if state is not RescoreState.FAILED else None,
            failure="The ground truth of version 2 is not there." if state is RescoreState.FAILED else None,
        )
        session.add(rescore)
        session.flush()
        made[f"rescore_{state}"] = str(rescore.id)
    return made


def _changed_rules(session: Session, organiser: User, participant: User) -> str:
    """Make a challenge with an edition file of its own, and a finished re-score by changed rules; return its id."""
    challenge = make_challenge(
        session,
        organiser=organiser,
        slug="harbour",
        title="Harbour, rules changed",
        edition=own_rules.NAME,
        edition_file=own_rules.EDITION_FILE,
    )
    changed = _published(session, challenge, participant, "Region proposals")
    session.flush()
    rescore = rescores.start(
        session,
        challenge=challenge,
        user=organiser,
        edition_file=own_rules.CHANGED_FILE,
        reason="An overlap of 0.5 was too easy, and the area measures what the benchmark is for.",
    )
    rescore.state, rescore.evaluator_version = RescoreState.READY, "1.1"
    rescore.report = {**_report(changed.id), "edition": {"before": 1, "after": 2}}
    return str(rescore.id)


def _report(submission: uuid.UUID) -> dict[str, Any]:
    def change(before: float, after: float) -> dict[str, float]:
        return {"before": before, "after": after, "change": after - before}

    counts = {"evaluated": 2, "published": 1, "scores_changed": 1, "ranks_changed": 1}
    return {
        "ground_truth": {"before": 1, "after": 2},
        "evaluator": {"before": "1.0", "after": "1.1"},
        "competitions": [{"competition": COMPETITION, **counts}],
        "changes": [
            {
                "submission": str(submission),
                "method": "Region proposals",
                "competition": COMPETITION,
                "published": True,
                "rank": {"before": 2, "after": 1},
                "mean": change(0.61, 0.65),
                "classes": {"boat": change(0.5, 0.7), "sheep": change(0.4, 0.3)},
            }
        ],
        "failures": [
            {"submission": str(submission), "method": "Lost", "published": True, "reason": "The image sets differ."}
        ],
    }
