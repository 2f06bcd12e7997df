"""Configurations of EvalAI: `challenge_config.yaml`, pages in HTML."""

import json
from contextlib import suppress

from vocboard.app.challenges.models import Admission
from vocboard.commands.moving.bundle import Bundle
from vocboard.commands.moving.draft import Column, Draft, Phase
from vocboard.commands.moving.values import Values

NAMES = ("challenge_config.yaml", "challenge_config.yml")
PAGES = {
    "description": "Overview",
    "evaluation_details": "Evaluation",
    "submission_guidelines": "How to submit",
}
PUBLIC = 3  # a leaderboard that everyone sees
NOT_NEEDED = ("start_date", "end_date", "published", "dataset_splits")  # phases have dates; a draft is not published
REASONS = {
    "image": "upload it with *Set-up → Files*, as a cover or a logo",
    "evaluation_script": "the edition file says how results are scored",
    "remote_evaluation": "results are scored by the workers of this server",
    "is_docker_based": "people upload results, not programs",
    "blocked_email_domains": "ban people with *People → Entrants*",
    "tags": "challenges have no tags",
    "challenge_phases.environment_image": "people upload results, not programs",
    "challenge_phases.allowed_email_ids": "admit these people with *Set-up → Phases → Admit people*",
    "challenge_phases.submission_meta_attributes": "let the edition file ask for declarations",
    "challenge_phases.default_submission_meta_attributes": "methods always have a name, a description and links",
    "challenge_phases.allowed_submission_file_types": "results are tar or zip archives",
    "challenge_phases.is_submission_public": "people choose what they publish",
    "challenge_phases.is_restricted_to_select_one_submission": "people choose what they publish",
    "challenge_phases.max_concurrent_submissions_allowed": "the queue is fair to all",
    "challenge_phases.is_partial_submission_evaluation_enabled": "people may leave out competitions",
}


def read(bundle: Bundle, values: Values) -> Draft:
    """Return the challenge of a configuration."""
    draft = Draft(title=values.text("title"), summary=values.text("short_description"), has_teams=True)
    for name in NOT_NEEDED:
        values.get(name)
    for name, title in PAGES.items():
        draft.add_page(bundle, title, values.text(name))
    if about := values.text("leaderboard_description"):
        draft.pages.append(("Leaderboard", about))
    draft.terms = draft.markdown(bundle, "Terms", values.text("terms_and_conditions"))
    draft.domains = values.texts("allowed_email_domains")
    if draft.domains:
        draft.admission = Admission.DOMAIN
    if values.flag("manual_participant_approval", default=False):
        draft.admission = Admission.REQUEST
    draft.is_anonymous = values.flag("anonymous_leaderboard", default=False)
    hidden, ascending = _read_splits(draft, values.several("challenge_phase_splits"))
    for one in values.several("challenge_phases"):
        number, title = one.text("id"), one.text("name")
        for name in ("codename", "is_active"):
            one.get(name)
        is_public = one.flag("leaderboard_public", default=True)
        if not one.flag("is_public", default=True):
            draft.remarks.append(f"The phase “{title}” was not public. Here everybody sees it.")
        draft.phases.append(
            Phase(
                title=title,
                text=draft.markdown(bundle, title, one.text("description")),
                opens_at=one.moment("start_date"),
                closes_at=one.moment("end_date"),
                truth=one.text("test_annotation_file"),
                per_day=one.whole("max_submissions_per_day"),
                per_month=one.whole("max_submissions_per_month"),
                total=one.whole("max_submissions"),
                is_hidden=not is_public or number in hidden,
            )
        )
    _read_leaderboards(draft, values.several("leaderboard"), ascending)
    return draft


def _read_splits(draft: Draft, splits: list[Values]) -> tuple[set[str], set[str]]:
    """Return the numbers of the phases whose leaderboards are hidden, and of leaderboards where smaller is better."""
    visible: set[str] = set()
    known: set[str] = set()
    ascending: set[str] = set()
    for one in splits:
        one.get("dataset_split_id")
        board = one.text("leaderboard_id")
        if not one.flag("is_leaderboard_order_descending", default=True):
            ascending.add(board)
        phase = one.text("challenge_phase_id")
        known.add(phase)
        if one.get("visibility") is None or one.whole("visibility") == PUBLIC:
            visible.add(phase)
        decimals = one.whole("leaderboard_decimal_precision")
        draft.decimals = draft.decimals or decimals or None
    return known - visible, ascending


def _read_leaderboards(draft: Draft, leaderboards: list[Values], ascending: set[str]) -> None:
    for board in leaderboards:
        number = board.text("id")
        schema = board.get("schema")
        if isinstance(schema, str):
            with suppress(ValueError):
                schema = json.loads(schema)
        if not isinstance(schema, dict) or not isinstance(schema.get("labels"), list):
            draft.remarks.append("A leaderboard is left out: its schema has no labels.")
            continue
        first, described = schema.get("default_order_by"), schema.get("metadata")
        for label in sorted(schema["labels"], key=lambda each: each != first):
            about = described.get(label) if isinstance(described, dict) else None
            is_ascending = isinstance(about, dict) and about.get("sort_ascending") is True
            if label == first:  # what the metadata say is for columns that people choose to sort by
                is_ascending = number in ascending
            draft.columns.append(Column(str(label), str(label), is_ascending))
