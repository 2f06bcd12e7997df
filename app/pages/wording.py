"""Texts of the pages for identifiers in the data."""

from collections import Counter
from collections.abc import Sequence

from vocboard.app.accounts.models import Role
from vocboard.app.administering.people import AccountState
from vocboard.app.challenges.models import Admission, Audience, Detail, FileKind, TruthState
from vocboard.app.challenges.phases import ARCHIVED, NO_GROUND_TRUTH, PhaseState
from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.jobs.models import Kind as JobKind
from vocboard.app.leaderboards.corrections import Cause, Removal
from vocboard.app.leaderboards.models import ReportedKind, RescoreState
from vocboard.app.leaderboards.sequences import Verdict
from vocboard.app.leaderboards.statistics_states import StatisticsState
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.organising.bans import Results
from vocboard.app.organising.entrants import EntrantSort
from vocboard.app.organising.history import Outcome
from vocboard.app.organising.moderation import Action
from vocboard.app.organising.submissions import Flag
from vocboard.app.pages import formats
from vocboard.app.submissions.filters import SubmissionKind
from vocboard.app.submissions.models import State
from vocboard.evaluator.editions import Competition, Metric, Training
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.tasks.definitions import METRICS, TASKS


def _words(identifier: str) -> str:
    return identifier.replace("_", " ").capitalize()


TRAINING = {
    Training.TRAINVAL: "provided trainval data only",
    Training.ANY: "any data except the test set",
}
SHORT_TRAINING = {Training.TRAINVAL: "trainval", Training.ANY: "any data"}
CURVES = {CurveKind.PRECISION_RECALL: "Precision/recall curves", CurveKind.ROC: "ROC curves"}
AXES = {
    CurveKind.PRECISION_RECALL: ("Recall", "Precision"),
    CurveKind.ROC: ("False positive rate", "True positive rate"),
}
NOTIFICATIONS = {
    NotificationKind.SCORED: "Your submission was scored",
    NotificationKind.FAILED: "Your submission failed",
    NotificationKind.CORRECTED: "Your scores or ranks were corrected",
    NotificationKind.PUBLISHED: "A member of your team published a result",
    NotificationKind.DEADLINE: "A phase that you have submitted to closes in three days, and in one day",
    NotificationKind.ANNOUNCEMENT: "Organisers announce something",
    NotificationKind.QUESTION: "Somebody asks the organisers of your challenge",
    NotificationKind.ANSWER: "Organisers answered your question",
    NotificationKind.TEAM: "Your team changed",
    NotificationKind.ADMISSION: "Somebody asks to take part in your challenge, or organisers decided on your request",
    NotificationKind.DISQUALIFIED: "Your submission was disqualified",
    NotificationKind.REINSTATED: "A disqualification was lifted",
    NotificationKind.INVITATION: "You are invited to organise a challenge",
}
ROLES = {
    Role.PARTICIPANT: "Participant",
    Role.CO_ORGANISER: "Co-organiser",
    Role.ORGANISER: "Organiser",
    Role.ADMINISTRATOR: "Administrator",
}
ACCOUNT_STATES = {
    AccountState.ACTIVE: "Active",
    AccountState.UNCONFIRMED: "Not confirmed",
    AccountState.WAITING: "Waits for approval",
    AccountState.DISABLED: "Disabled",
}
MAIL_FAILURES = {
    MailFailure.REJECTED: "Rejected by the mail server",
    MailFailure.EXPIRED: "Not sent in time",
    MailFailure.DEFERRED: "Not accepted yet",
    MailFailure.MAIL_SERVER: "The mail server cannot be reached",
}
JOB_KINDS = {
    JobKind.SWEEP: "Sweep",
    JobKind.FREEZE: "Freezing leaderboards",
    JobKind.MAIL: "Email",
    JobKind.MAIL_SWEEP: "Sweep of email",
    JobKind.IMPORT: "Import of ground truth",
    JobKind.EVALUATION: "Evaluation of a submission",
    JobKind.RESCORE: "Step of a re-score",
    JobKind.BATCH: "Evaluations of a re-score",
    JobKind.SHOWCASE: "Drawing of the showcase",
    JobKind.STATISTICS: "Statistics of a challenge",
    JobKind.DIAGNOSIS: "Diagnosis",
    JobKind.SEQUENCES: "Comparison of submissions",
    JobKind.WEBHOOK: "Webhook",
}
FILE_KINDS = {
    FileKind.DATA: "Data to download",
    FileKind.COVER: "Cover",
    FileKind.LOGO: "Logo",
    FileKind.SHOWCASE: "Test image to draw results on",
}
AUDIENCES = {Audience.PUBLIC: "Everyone", Audience.ADMITTED: "People who may submit"}
REPORTED_KINDS = {
    ReportedKind.BASELINE: "Baseline",
    ReportedKind.PAPER: "Reported in a paper",
    ReportedKind.IMPORTED: "From another evaluation",
}
STATES = {state: _words(state) for state in State}
KINDS = {
    SubmissionKind.QUEUED: "Queued",
    SubmissionKind.EVALUATING: "Evaluating",
    SubmissionKind.SCORED: "Scored",
    SubmissionKind.PUBLISHED: "Published",
    SubmissionKind.UNPUBLISHED: "Scored, not published",
    SubmissionKind.HELD_BACK: "Unpublished by organisers",
    SubmissionKind.FAILED: "Failed",
    SubmissionKind.WITHDRAWN: "Withdrawn",
    SubmissionKind.DISQUALIFIED: "Disqualified",
}
FLAGS = {
    Flag.WARNINGS: "With validation warnings",
    Flag.UNDECLARED: "With missing declarations",
    Flag.COPIES: "Same content as another person's",
}
BULK_ACTIONS = {
    Action.UNPUBLISH: "Unpublish",
    Action.ALLOW_PUBLISHING: "Allow publishing",
    Action.DISQUALIFY: "Disqualify",
    Action.REINSTATE: "Lift disqualification",
    Action.FAIL: "Mark as failed, and give quota back",
}
BAN_RESULTS = {
    Results.KEEP: "Keep them",
    Results.UNPUBLISH: "Unpublish them",
    Results.DISQUALIFY: "Disqualify them",
}
ENTRANT_SORTS = {
    EntrantSort.LATEST: "Latest submission",
    EntrantSort.NAME: "Name",
    EntrantSort.SUBMISSIONS: "Number of submissions",
    EntrantSort.BEST: "Best mean",
    EntrantSort.IMPROVEMENT: "Improvement",
}
RESCORE_STATES = {state: _words(state) for state in RescoreState}
TRUTH_STATES = {state: _words(state) for state in TruthState} | {TruthState.ELSEWHERE: "On another server"}
RESCORE_HEADINGS = {
    RescoreState.RUNNING: "Evaluating submissions again",
    RescoreState.READY: "Ready to apply",
    RescoreState.APPLIED: "The new results are current",
    RescoreState.DISCARDED: "Nothing has changed",
    RescoreState.FAILED: "The re-score failed",
}
OUTCOMES = {
    Outcome.SCORED: "Scored",
    Outcome.FAILED: "Failed",
    Outcome.REMOVED: "Withdrawn or disqualified",
    Outcome.UNFINISHED: "Not scored yet",
}
STATISTICS_STATES = {
    StatisticsState.EMPTY: "No methods",
    StatisticsState.LEFT_OUT: "Left out",
    StatisticsState.BEING_COMPUTED: "Being computed",
    StatisticsState.SHOWN: "Shown",
    StatisticsState.FAILED: "None",
}
VERDICTS = {
    Verdict.IMPROVED: "Better: the last differs from the first by more than chance, and so does at least one step up.",
    Verdict.GRADUAL: "Better in small steps: the last differs from the first by more than chance; no single step up "
    "does. Fitting to the leaderboard looks like this, and so do many small improvements.",
    Verdict.WORSE: "Worse: the last differs from the first by more than chance.",
    Verdict.VARIES: "Up and down: at least one step is more than chance, but the last cannot be distinguished from the "
    "first.",
    Verdict.NO_DIFFERENCE: "No difference by more than chance, neither between the first and the last nor in any step. "
    "This does not show that they are equally good; these test images do not tell which is best.",
    Verdict.UNKNOWN: "Too few test images determine the differences to say anything.",
}
PHASE_STATES = {state: _words(state) for state in PhaseState}
# What participants see of a result.
DETAILS = {
    Detail.MEAN: "Results show means only.",
    Detail.CLASSES: "Results show the score of each class.",
    Detail.CURVES: "Results show the score of each class, curves, confusion matrices and errors, all rounded.",
    Detail.EVERYTHING: "Results show the score of each class, exact curves, confusion matrices, errors and counts.",
}
ADMISSION = {
    Admission.EVERYONE: "Everyone with an account can submit.",
    Admission.APPROVED: "Only people whom the organisers have admitted can submit.",
    Admission.REQUEST: "Only people who have asked, and whom the organisers have admitted, can submit.",
    Admission.DOMAIN: "Only people with an email address of these domains can submit:",
    Admission.EARLIER_PHASE: "Only people with a scored submission in an earlier phase can submit.",
}
CANNOT_SUBMIT = {
    PhaseState.NOT_YET_OPEN: "You cannot submit yet.",
    PhaseState.NOT_READY: NO_GROUND_TRUTH,
    PhaseState.CLOSED: "Submissions have closed. The leaderboards remain available.",
    PhaseState.ARCHIVED: ARCHIVED,
}
FIELD_LABELS = {
    "kind": "What it is",
    "board": "Leaderboard",
    "reference": "Source",
    "audience": "Who may download it",
    "slug": "URL name",
    "key": "URL name",
    "freezes_at": "Freeze on",
    "leaderboard_from": "Leaderboard visible from",
    "admission_questions": "Questions to people who ask to take part",
    "admission_domains": "Domains of email addresses",
    "min_account_days": "Minimum age of accounts, in days",
    "anonymous_until": "Anonymous until",
    "team_size": "Largest team",
    "teams_until": "Teams can change until",
    "overall_rank": "Rank over all leaderboards",
    "ladder_percent": "Ladder mechanism",
    "ladder_step": "Ladder mechanism",
    "phase_title": "Name of the main phase",
    "licence": "Licence of the data",
    "data_links": "Links to the data",
    "image_set": "Image set",
    "until": "Until",
    "opens_at": "Opens",
    "closes_at": "Closes",
    "quota_count": "Submissions per person and competition",
    "shared_quota": "Quota",
    "quota_days": "Every … days",
    "quota_period_seconds": "Every … days",
    "detail": "What participants see",
    "email": "Email address",
    "naming": "Published results",
    "training_data": "Training data statement",
    "training_annotation": "Annotation used for training",
    "competitions": "Competitions",
    "method_description": "Description",
    "paper_url": "Paper",
    "code_url": "Code",
    "note": "Private note",
    "flickr_image_hashes": "List of image hashes",
    "address_password": "Password",
    "citation": "How to cite",
    "decimals": "Decimals of scores",
    "edition_text": "Edition file, as uploaded",
    "key_password": "Password",
    "new_slug": "URL name",
    "organised_by": "Organisers",
    "removal_password": "Password",
    "table": "Scores in per cent",
    "unlink_password": "Password",
    "url": "Address",
}

NO_CONFUSION_ROW = "in too few test images for shares in steps of at most 10 %, or in none"
FLAT = "Below recall 0.5, curves are flat: at the height of recall 0.5."


def is_flat(kind: CurveKind) -> bool:
    """Whether rounded curves of a kind are flat at their beginning (`eleven_points.SHOWN_FROM`)."""
    return kind is CurveKind.PRECISION_RECALL


def why_no_curve(is_left_out: bool) -> str:
    """Why a class has no curve."""
    return "too few positives for steps of at most 10 %" if is_left_out else "undefined: nothing to find"


_CAUSES = {
    Cause.DISQUALIFIED: "disqualified",
    Cause.UNPUBLISHED: "unpublished by the organisers",
    Cause.FAILED: "marked as failed by the organisers",
}


def removed(removals: Sequence[Removal]) -> str:
    """How a frozen leaderboard was corrected, the latest first.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 11, 24, tzinfo=UTC)
    >>> removed([Removal(day, Cause.DISQUALIFIED), Removal(day, Cause.DISQUALIFIED)])
    'Corrected after it was frozen: 2 results disqualified on 24 Nov 2026. Ranks below have moved up.'
    """
    counts = Counter((f"{one.removed_at:%-d %b %Y}", one.cause) for one in removals)
    said = [f"{formats.plural(count, 'result')} {_CAUSES[cause]} on {day}" for (day, cause), count in counts.items()]
    return f"Corrected after it was frozen: {'; '.join(said)}. Ranks below have moved up."


def ladder_rule(step: float) -> str:
    """What a phase with the Ladder mechanism shows until it closes.

    >>> ladder_rule(0.005), ladder_rule(0.01).partition(" until")[0]
    ('Scores are shown in steps of 0.5 points until the phase closes.', 'Scores are shown in steps of 1 point')
    """
    return (
        f"Scores are shown in steps of {formats.step_points(step).replace('percentage ', '')} until the phase closes."
    )


def field_label(name: str) -> str:
    """A form field's label, for a list of errors.

    >>> field_label("slug"), field_label("new_password")
    ('URL name', 'New password')
    """
    return FIELD_LABELS.get(name) or _words(name)


def in_words(error: ServiceError) -> str:
    """Say in one line why something was refused, on a page that does not show the form again.

    >>> in_words(InvalidInputError({"reason": "Required."}))
    'Reason: Required.'
    """
    if isinstance(error, InvalidInputError):
        return "; ".join(f"{field_label(name)}: {text}" for name, text in error.fields.items())
    return str(error)


def metric_title(metric: str) -> str:
    """Return a metric's name; metrics of newer evaluators keep their identifier."""
    return METRICS[Metric(metric)].title if metric in set(Metric) else _words(metric)


def short_metric(metric: str) -> str:
    """Return a metric's name for column headings."""
    return METRICS[Metric(metric)].short_title if metric in set(Metric) else metric.replace("_", " ")


def task_title(competition: Competition) -> str:
    """Name a competition's task: `Boxless action classification`, or of several test sets `Detection on test2`."""
    return _titled(competition, TASKS[competition.task].title)


def short_task_title(competition: Competition) -> str:
    """Return a shorter name of a competition's task: `Detection test2`."""
    return _titled(competition, TASKS[competition.task].short_title).replace(" on ", " ")


def competition_title(competition: Competition) -> str:
    """Return the title of a competition: `Detection, any data (comp4)`."""
    return f"{board_title(competition)} ({competition.key})"


def board_title(competition: Competition) -> str:
    """Return the heading of a competition's leaderboard: `Detection, any data`."""
    return f"{task_title(competition)}, {SHORT_TRAINING[competition.training]}"


def _titled(competition: Competition, title: str) -> str:
    if competition.variant:
        title = f"{competition.variant.capitalize()} {title.lower()}"
    return title if competition.image_set == "test" else f"{title} on {competition.image_set}"


FILTERS = (metric_title, short_metric, competition_title, board_title, task_title, short_task_title)  # of templates
