"""Bundles of Codabench: `competition.yaml` of version 2, pages in Markdown or HTML."""

from vocboard.app.challenges.models import Admission
from vocboard.commands.moving.bundle import Bundle
from vocboard.commands.moving.draft import Column, Draft, Phase, ends_at_next
from vocboard.commands.moving.values import Values

NAMES = ("competition.yaml", "competition.yml")
PER_DAY = 5  # what Codabench takes if a phase says nothing; then it also takes 100 in all
REASONS = {
    "image": "upload it with *Set-up → Files*, as a cover or a logo",
    "docker_image": "results are scored by this server, not by an image",
    "queue": "every worker scores every challenge",
    "solutions": "upload results with *Rehearse* to try the challenge",
    "auto_run_submissions": "every submission is scored",
    "forum_enabled": "questions to the organisers take its place",
    "fact_sheet": "let the edition file ask for declarations",
    "can_participants_make_submissions_public": "people publish scores, not files",
    "tasks.scoring_program": "the edition file says how results are scored",
    "tasks.ingestion_program": "people upload results, not programs",
    "tasks.input_data": "upload it with *Set-up → Files* if people need it",
    "phases.starting_kit": "upload it with *Set-up → Files*",
    "phases.public_data": "upload it with *Set-up → Files*",
    "phases.auto_migrate_to_this_phase": "people submit to each phase",
    "phases.execution_time_limit": "the operator limits scoring",
    "leaderboards.submission_rule": "people choose what they publish",
}


def read(bundle: Bundle, values: Values) -> Draft:
    """Return the challenge of a bundle."""
    draft = Draft(title=values.text("title"), summary=values.text("description"))
    draft.contact = values.text("contact_email")
    draft.terms = draft.markdown(bundle, "Terms", terms := values.text("terms"))
    for one in values.several("pages"):
        title, file = one.text("title") or "Page", one.text("file")
        if file != terms:
            draft.add_page(bundle, title, file)
    if reward := values.text("reward"):
        draft.pages.append(("Reward", reward))
    if not values.flag("registration_auto_approve", default=False):
        draft.admission = Admission.REQUEST
    truths = {}
    for one in values.several("tasks"):
        names = {name: one.text(name) for name in ("key", "reference_data")}
        for name in ("name", "description"):
            one.get(name)
        truths[one.text("index")] = names["reference_data"] or names["key"]
    phases = values.several("phases")
    for one in sorted(phases, key=lambda phase: phase.whole("index")):
        tasks = one.texts("tasks")
        draft.phases.append(
            Phase(
                title=one.text("name"),
                text=one.text("description"),
                opens_at=one.moment("start"),
                closes_at=one.moment("end"),
                truth=" ".join(truths.get(task, task) for task in tasks),
                per_day=one.whole("max_submissions_per_day", default=PER_DAY),
                total=one.whole("max_submissions"),
            )
        )
        if len(tasks) > 1:
            draft.remarks.append(
                f"“{draft.phases[-1].title}” has {len(tasks)} tasks: the edition file needs a competition for each."
            )
    ends_at_next(draft.phases, None)
    _read_leaderboards(draft, values.several("leaderboards"))
    return draft


def _read_leaderboards(draft: Draft, leaderboards: list[Values]) -> None:
    for board in leaderboards:
        for name in ("title", "key", "index"):
            board.get(name)
        if board.flag("hidden", default=False):
            for phase in draft.phases:
                phase.is_hidden = True
        for one in sorted(board.several("columns"), key=lambda column: column.whole("index")):
            title, precision = one.text("title"), one.get("precision")
            is_ascending = one.text("sorting").lower() == "asc"
            hidden = one.flag("hidden", default=False)
            draft.columns.append(Column(title, one.text("key"), is_ascending, hidden))
            if draft.decimals is None and precision is not None:
                draft.decimals = one.whole("precision")
