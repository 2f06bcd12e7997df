"""The organisers' page of baselines and results from papers, which they enter as lines of CSV in per cent."""

import csv
import io
import re
import uuid
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Annotated

from fastapi import Depends, Form
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, leaderboard_phase, phase_named, phase_with_id, phases_of
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.evaluations.visibility import viewer_permissions
from vocboard.app.forms import chosen
from vocboard.app.leaderboards import reported
from vocboard.app.leaderboards.models import ReportedKind, ReportedResult
from vocboard.app.leaderboards.reported import MAX_REPORTED, Report, exact_percent
from vocboard.app.leaderboards.service import columns, rules_of
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.submissions.queries import access_of, scored_rehearsals
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.problems import counted

router = Routes("/organise/{slug}/reported")
METHOD, MEAN = "method", "mean"
MAX_TABLE_LENGTH = 200_000  # characters
NOT_REPORTED = frozenset({"", "-", "–", "—", "n/a"})
LISTED = 10  # errors of a table
_PERCENT = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?")
_SEPARATOR = "/"  # between phase and competition in the form

Text = Annotated[str, Form()]


def reports_in(table: str, classes: Collection[str], *, kind: ReportedKind, reference: str, note: str) -> list[Report]:
    """Read results from lines of CSV or TSV in per cent, below a line with the names of the columns.

    Columns are the method, the mean and classes, in any order; what was not reported is empty or a dash.

    Raises:
        InvalidInputError: of the field `table`, with the first `LISTED` errors and their lines.

    >>> [report] = reports_in("method,mean,cat\\nDPM,33.7,-", {"cat"}, kind=ReportedKind.PAPER, reference="", note="")
    >>> report.method, report.mean, report.per_class
    ('DPM', 0.337, {})
    """
    if len(table) > MAX_TABLE_LENGTH:
        raise InvalidInputError({"table": f"Use at most {MAX_TABLE_LENGTH:,} characters."})
    try:
        lines = list(csv.reader(table.splitlines(), delimiter="\t" if "\t" in table else ","))
    except csv.Error as error:
        raise InvalidInputError({"table": f"This is not CSV: {error}."}) from error
    head = [name.strip() for name in lines[0]] if lines else []
    known = {METHOD, MEAN, *classes}
    if METHOD not in head or len(set(head)) != len(head):
        raise InvalidInputError({"table": "Begin with a line that names each column once, such as: method,mean"})
    wrong = [f"Line 1: the leaderboard has no class “{name[:60]}”." for name in head if name not in known]
    found = []
    for number, line in enumerate(lines[1:], 2):
        cells = [cell.strip() for cell in line]
        if not any(cells):
            continue
        if len(cells) != len(head):
            there = counted(len(cells), "column")
            wrong.append(f"Line {number}: it has {there}, and the first line has {len(head)}.")
            continue
        values = dict(zip(head, cells, strict=True))
        scores = {}
        for name, cell in values.items():
            if name == METHOD or name not in known or cell in NOT_REPORTED:
                continue
            if not _PERCENT.fullmatch(cell) or Decimal(cell) > 100:
                wrong.append(f"Line {number}: “{cell[:60]}” is not a number from 0 to 100, in per cent.")
                break
            scores[name] = float(Decimal(cell) / 100)
        mean = scores.pop(MEAN, None)
        found.append(Report(kind, values.get(METHOD, ""), reference, note, mean, scores))
    if not found and not wrong:
        wrong.append("Give at least one result, below the line with the names of the columns.")
    if wrong:
        more = [f"And {len(wrong) - LISTED} more."] if len(wrong) > LISTED else []
        raise InvalidInputError({"table": " ".join([*wrong[:LISTED], *more])})
    return found


def table_of(method: str, mean: float | None, per_class: Mapping[str, float]) -> str:
    """Return a result as `reports_in` reads it."""
    scores = {MEAN: mean, **per_class}
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow([METHOD, *scores])
    writer.writerow([method, *("" if score is None else exact_percent(score) for score in scores.values())])
    return output.getvalue()


@router.get("")
def reported_page(organised: Organised, rehearsal: uuid.UUID | None = None, competition: str = "") -> Response:
    """The baselines and results from papers of a challenge, and the form with the scores of a rehearsal, if wanted."""
    if rehearsal is None:
        return _page(organised)
    with organised.reading() as (session, challenge):
        form = _form_of_rehearsal(session, challenge, organised.user, rehearsal, competition)
    return _page(organised, form=form)


@router.post("", dependencies=[Depends(protect_form)])
def add_reported(
    organised: Organised, board: Text = "", kind: Text = "", reference: Text = "", note: Text = "", table: Text = ""
) -> Response:
    """Add results to a leaderboard."""
    form = {"board": board, "kind": kind, "reference": reference, "note": note, "table": table}
    try:
        with organised.writing() as (session, challenge):
            phase, competition = _board(challenge, board)
            reports = _reports(form, competition)
            reported.add(
                session,
                challenge=challenge,
                user=organised.user,
                phase=phase,
                competition=competition,
                reports=reports,
            )
    except (ConflictError, InvalidInputError) as error:
        return _page(organised, errors=_errors(error), form=form)
    return go_to(f"/organise/{organised.slug}/reported", done="reported")


@router.get("/{competition}/{reported_id}")
def reported_result_page(organised: Organised, competition: str, reported_id: uuid.UUID) -> Response:
    """The form that changes a result."""
    with organised.reading() as (session, challenge):
        row, rules = _row(session, challenge, competition, reported_id)
    form = {
        "kind": row.kind.value,
        "reference": row.reference,
        "note": row.note,
        "table": table_of(
            row.method, row.mean, {name: row.per_class[name] for name in columns(rules) if name in row.per_class}
        ),
    }
    return _page(organised, form=form, changed=row)


@router.post("/{competition}/{reported_id}", dependencies=[Depends(protect_form)])
def change_reported(
    organised: Organised,
    competition: str,
    reported_id: uuid.UUID,
    kind: Text = "",
    reference: Text = "",
    note: Text = "",
    table: Text = "",
) -> Response:
    """Change a result."""
    form = {"kind": kind, "reference": reference, "note": note, "table": table}
    with organised.reading() as (session, challenge):
        row, rules = _row(session, challenge, competition, reported_id)
    try:
        reports = _reports(form, rules)
        if len(reports) != 1:
            raise InvalidInputError({"table": "Give one result here. Add others on the page before."})
        organised.change(reported.change, competition=competition, reported_id=reported_id, report=reports[0])
    except (ConflictError, InvalidInputError) as error:
        return _page(organised, errors=_errors(error), form=form, changed=row)
    return go_to(f"/organise/{organised.slug}/reported", done="saved")


@router.post("/{competition}/{reported_id}/remove", dependencies=[Depends(protect_form)])
def remove_reported(organised: Organised, competition: str, reported_id: uuid.UUID) -> Response:
    """Remove a result."""
    try:
        organised.change(reported.remove, competition=competition, reported_id=reported_id)
    except ConflictError as error:
        return _page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/reported", done="reported-removed")


def _form_of_rehearsal(
    session: Session, challenge: Challenge, user: User, submission_id: uuid.UUID, key: str
) -> dict[str, str]:
    """Return the form that adds an organisers' method as a baseline, with as much of its scores as leaderboards show.

    Raises:
        NotFoundError: this competition of this submission is not a scored one of a rehearsal.
    """
    submission = next((one for one in scored_rehearsals(session, challenge) if one.id == submission_id), None)
    evaluation = (
        None if submission is None else visible_evaluation(session, submission, access_of(session, submission, user))
    )
    result = next((one for one in evaluation.results if one.competition == key), None) if evaluation else None
    if submission is None or evaluation is None or result is None:
        raise NotFoundError("There is no such rehearsal.")
    phase = phase_with_id(challenge, submission.phase_id)
    measure = result.measures[0]
    has_ladder = phase.ladder_step(now()) is not None
    shown = viewer_permissions(phase.rules.detail, is_organiser=False, has_ladder=has_ladder)
    scores = {name: score for name, score in measure.per_class.items() if score is not None} if shown.classes else {}
    return {
        "board": f"{phase.key}{_SEPARATOR}{key}",
        "kind": ReportedKind.BASELINE.value,
        "reference": submission.method.code_url or submission.method.paper_url,
        "note": f"scored here on {evaluation.created_at:%Y-%m-%d}",
        "table": table_of(submission.method.name, measure.mean, scores),
    }


def _board(challenge: Challenge, wanted: str) -> tuple[Phase, Competition]:
    phase_key, _, competition = wanted.partition(_SEPARATOR)
    try:
        phase = phase_named(challenge, phase_key)
        return phase, rules_of(challenge, phase, competition)
    except NotFoundError:
        raise InvalidInputError({"board": "Choose one of these."}) from None


def _row(
    session: Session, challenge: Challenge, competition: str, reported_id: uuid.UUID
) -> tuple[ReportedResult, Competition]:
    row = reported.get(session, challenge, competition, reported_id)
    return row, rules_of(challenge, phase_with_id(challenge, row.phase_id), competition)


def _reports(form: dict[str, str], competition: Competition) -> list[Report]:
    wrong: dict[str, str] = {}
    kind = chosen(ReportedKind, form["kind"], "kind", wrong)
    if wrong:
        raise InvalidInputError(wrong)
    return reports_in(form["table"], columns(competition), kind=kind, reference=form["reference"], note=form["note"])


def _errors(error: ConflictError | InvalidInputError) -> FormErrors:
    """Return the errors of the form, in which a method and its scores are lines of one field."""
    if isinstance(error, InvalidInputError):
        fields = {
            name if name in {"board", "kind", "reference", "note"} else "table": text
            for name, text in error.fields.items()
        }
        error = InvalidInputError(fields)
    return FormErrors.of(error)


def _page(
    organised: OrganisedChallenge,
    *,
    errors: FormErrors = NO_ERRORS,
    form: dict[str, str] | None = None,
    changed: ReportedResult | None = None,
) -> Response:
    with organised.reading() as (session, challenge):
        found = reported.reported_in(session, challenge)
        rehearsals = [] if challenge.archived_at else scored_rehearsals(session, challenge)
    phases = phases_of(challenge)
    default = leaderboard_phase(challenge, now())
    boards = [
        (phase, rules_of(challenge, phase, key))
        for phase in (default, *(each for each in phases if each.key != default.key))
        for key in phase.competitions
    ]
    titles = {(phase.key, rules.key): rules for phase, rules in boards}
    return render(
        organised.request,
        "organise/reported.html",
        errors=errors,
        form=form or {"table": f"{METHOD},{MEAN}\n"},
        changed=changed,
        challenge=challenge,
        boards=boards,
        has_phases=len(phases) > 1,
        found=[(one, phase_with_id(challenge, one.phase_id)) for one in found],
        titles=titles,
        rehearsals=[
            (one, entry.competition, phase)
            for one in rehearsals
            for phase in [phase_with_id(challenge, one.phase_id)]
            for entry in one.entries
            if (phase.key, entry.competition) in titles
        ],
        limit=MAX_REPORTED,
    )
