"""Bundles of CodaLab: `competition.yaml` of version 1.5, pages in HTML."""

from vocboard.app.challenges.models import Admission
from vocboard.commands.moving.bundle import Bundle
from vocboard.commands.moving.codabench import PER_DAY
from vocboard.commands.moving.draft import Column, Draft, Phase, ends_at_next
from vocboard.commands.moving.values import Values

NAMES = ("competition.yaml", "competition.yml")
TERMS = "terms"
FIRST = {"overview": 0, "evaluation": 1}  # as its pages have them
REASONS = {
    "image": "upload it with *Set-up → Files*, as a cover or a logo",
    "competition_docker_image": "results are scored by this server, not by an image",
    "admin_names": "invite co-organisers with *People → Organisers*",
    "enable_forum": "questions to the organisers take its place",
    "force_submission_to_leaderboard": "people choose what they publish",
    "disallow_leaderboard_modifying": "people choose what they publish",
    "phases.force_best_submission_to_leaderboard": "people choose what they publish",
    "phases.scoring_program": "the edition file says how results are scored",
    "phases.ingestion_program": "people upload results, not programs",
    "phases.input_data": "upload it with *Set-up → Files* if people need it",
    "phases.starting_kit": "upload it with *Set-up → Files*",
    "phases.public_data": "upload it with *Set-up → Files*",
    "phases.datasets": "link to them under *Set-up → Edit*, or upload them with *Set-up → Files*",
    "phases.auto_migration": "people submit to each phase",
    "phases.execution_time_limit": "the operator limits scoring",
    "leaderboard.column_groups": "the edition file says which columns there are",
}


def read(bundle: Bundle, values: Values) -> Draft:
    """Return the challenge of a bundle."""
    draft = Draft(title=values.text("title"), summary=values.text("description"))
    html = values.inner("html")
    for name in sorted(html.names(), key=lambda name: FIRST.get(name, len(FIRST))):
        if name == TERMS:
            draft.terms = draft.markdown(bundle, "Terms", html.text(name))
        else:
            draft.add_page(bundle, name.replace("_", " ").capitalize(), html.text(name))
    if reward := values.text("reward"):
        draft.pages.append(("Reward", reward))
    if values.flag("has_registration", default=True):
        draft.admission = Admission.REQUEST
    draft.is_anonymous = values.flag("anonymous_leaderboard", default=False)
    draft.has_teams = any(values.flag(name, default=False) for name in ("enable_teams", "allow_teams"))
    for one in sorted(values.several("phases"), key=lambda phase: phase.whole("phasenumber")):
        one.get("color")
        draft.phases.append(
            Phase(
                title=one.text("label") or one.text("name"),
                text=one.text("description"),
                opens_at=one.moment("start_date"),
                closes_at=one.moment("end_date"),
                truth=one.text("reference_data"),
                per_day=one.whole("max_submissions_per_day", default=PER_DAY),
                total=one.whole("max_submissions"),
                is_hidden=one.text("leaderboard_management_mode") == "hide_results",
            )
        )
    ends_at_next(draft.phases, values.moment("end_date"))
    _read_leaderboard(draft, values.inner("leaderboard"))
    return draft


def _read_leaderboard(draft: Draft, leaderboard: Values) -> None:
    leaderboard.get("leaderboards")
    columns = leaderboard.inner("columns")
    found = []
    for key in columns.names():
        one = columns.inner(key)
        for name in ("leaderboard", "column_group"):
            one.get(name)
        column = Column(
            title=one.text("label") or key,
            key=key,
            is_ascending="asc" in {one.text("sort").lower(), one.text("sorting").lower()},
            is_hidden=one.flag("hidden", default=False),
        )
        found.append((one.whole("rank"), one.whole("numeric_format"), column))
    found.sort(key=lambda each: each[0])
    draft.columns = [column for _, _, column in found]
    draft.decimals = next((decimals for _, decimals, _ in found if decimals), None)
