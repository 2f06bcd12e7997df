"""The leaderboard of a phase and competition: its published methods, ranked, with the best of each column marked."""

import hmac
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

from sqlalchemy.orm import Session

from vocboard.app.challenges.edition_versions import FIRST, edition_by
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, edition_of_phase, phases_of
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.origin import (
    ImportedScores,
    counts_results_from_elsewhere,
    import_of,
    results_from_elsewhere,
)
from vocboard.app.evaluations.visibility import viewer_permissions
from vocboard.app.leaderboards import contents, freezing, queries
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.contents import Content
from vocboard.app.leaderboards.entries import NO_LINKS, Entry, EntryCache, published
from vocboard.app.leaderboards.ranked_rows import RankedRows
from vocboard.app.leaderboards.shown_statistics import shown_statistics
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.editions import BACKGROUND, Competition, DeclarationKind
from vocboard.evaluator.tasks.definitions import TASKS

HIDDEN = "hidden"  # what people have written, on an anonymous leaderboard


class NotFrozenYetError(Exception):
    """The leaderboard's freezing date has come, and `freezing.freeze_due` has not made its copy yet."""


def board(
    session: Session,
    challenge: Challenge,
    phase: Phase,
    competition: str,
    *,
    part: Part = Part.COUNTING,
    at: datetime | None = None,
    cache: EntryCache | None = None,
) -> Board:
    """Return a leaderboard, in at most eight statements however long it is, and two more if it was imported.

    It is the same for everyone, its organisers included: what the phase's detail level shows to participants.

    Args:
        challenge: with its competitions and phases.
        at: the current time.
        cache: what has been read before.

    Raises:
        NotFoundError: the phase has no such competition; or nothing can be later, because it is not frozen.
        NotFrozenYetError: it is frozen, and nobody has made the copy.
    """
    at = at or now()
    rules = rules_of(challenge, phase, competition)
    kept = None
    if phase.is_frozen(at):
        kept = freezing.find(session, phase, competition)
        if kept is None:
            raise NotFrozenYetError
    elif part is Part.LATER:
        raise NotFoundError("This leaderboard is not frozen, so there are no later results.")
    if kept is None:
        content = contents.read_live(session, challenge, phase, rules, cache)
    else:
        content = contents.read_frozen(session, kept)
        if part is Part.LATER:
            content = contents.later_results(contents.read_live(session, challenge, phase, rules, cache), content)
        else:
            by = edition_by(session, challenge, phase, kept.content.get("edition_version", FIRST))
            rules = by.competitions[competition]
    frozen_at = None if kept is None else kept.frozen_at
    statistics = None
    if content.has_statistics and part is Part.COUNTING:
        where = phase.id, competition
        statistics = shown_statistics(session, where, content.entries, decimals=content.decimals, frozen_at=frozen_at)
    is_anonymous = phase.is_anonymous(at)
    if is_anonymous:
        content = _without_names(content, challenge, phase, rules)
    # A copy from before the phase had the Ladder mechanism has been shown with its scores.
    ladder_step = None if phase.ladder_step(at) is None else content.ladder_step
    permissions = viewer_permissions(content.detail, is_organiser=False, has_ladder=ladder_step is not None)
    if not permissions.means:
        content = replace(content, entries=tuple(entry.as_released for entry in content.entries))
    others = rules.rules.board if permissions.means else ()
    classes = columns(rules) if permissions.classes else ()
    if not permissions.means:
        statistics = None  # intervals and rank ranges tell where an exact score is
    elif statistics is not None and not permissions.classes:
        statistics = statistics.without_classes()
    return Board(
        challenge=challenge.slug,
        challenge_title=content.challenge_title,
        phase=phase.key,
        competition=rules,
        metric=rules.rules.metric,
        others=others,
        classes=classes,
        decimals=content.decimals,
        rows=RankedRows(
            content.entries,
            rules,
            classes,
            others=others,
            decimals=content.decimals,
            statistics={} if statistics is None else statistics.methods,
            is_anonymous=is_anonymous,
            has_method_pages=challenge.visibility.is_open and phase.is_leaderboard_visible(at),
        ),
        has_curves=permissions.curves and TASKS[rules.task].has_curves and not is_anonymous,
        corrections=content.corrections,
        removals=content.removals,
        part=part,
        frozen_at=frozen_at,
        statistics=statistics,
        is_anonymous=is_anonymous,
        ladder_step=ladder_step,
        imported=_imported(session, challenge, competition, content.entries),
        reported=queries.reported(session, phase.id, competition) if part is Part.COUNTING else (),
    )


def imported_scores(session: Session, challenge: Challenge) -> ImportedScores | None:
    """Return where scores of a challenge came from, if any that it shows were not computed on this server."""
    if challenge.imported_at is None:
        return None
    is_so = counts_results_from_elsewhere(session, challenge) or queries.has_frozen_before(
        session, challenge, challenge.imported_at
    )
    return import_of(session, challenge) if is_so else None


def _imported(
    session: Session, challenge: Challenge, competition: str, shown: Sequence[Entry]
) -> ImportedScores | None:
    """Return where scores came from, if any of them were not computed on this server."""
    if challenge.imported_at is None:
        return None
    elsewhere = results_from_elsewhere(session, challenge, competition)
    # Copies that came with the import may have scores of no result here.
    if not any(entry.result_id is None or entry.result_id in elsewhere for entry in shown):
        return None
    return import_of(session, challenge)


@dataclass(frozen=True, slots=True)
class StatisticsBasis:
    """What the statistics of a leaderboard are computed from.

    Attributes:
        competition: the rules by which it was scored.
        entries: what it shows, by its primary measure.
        decimals: of its scores.
        frozen_at: of a frozen one.
        is_wanted: whether it shows statistics.
    """

    competition: Competition
    entries: Sequence[Entry]
    decimals: int
    frozen_at: datetime | None
    is_wanted: bool


def statistics_basis(
    session: Session, challenge: Challenge, phase: Phase, competition: str, *, at: datetime, with_classes: bool = True
) -> StatisticsBasis | None:
    """Return what the statistics of a leaderboard are computed from; None if it is frozen, and has not been copied yet.

    Args:
        challenge: with its competitions and phases.
        at: the current time.
        with_classes: whether the entries of a leaderboard that is not frozen need the scores of their classes.

    Raises:
        NotFoundError: as for `board`.
    """
    rules = rules_of(challenge, phase, competition)
    if not phase.is_frozen(at):
        live = published(session, phase.id, competition, (), with_classes=with_classes)
        shown = tuple(one.entry for one in live)
        return StatisticsBasis(rules, shown, challenge.decimals, None, challenge.statistics)
    kept = freezing.find(session, phase, competition)
    if kept is None:
        return None
    content = contents.read_frozen(session, kept)
    by = edition_by(session, challenge, phase, kept.content.get("edition_version", FIRST))
    return StatisticsBasis(
        by.competitions[competition], content.entries, content.decimals, kept.frozen_at, content.has_statistics
    )


def counts(session: Session, phase: Phase, *, at: datetime) -> Mapping[str, int]:
    """Return how many methods the leaderboards of a phase show, by competition; without those that show none."""
    if phase.freezes_at is not None and phase.is_frozen(at):
        return queries.frozen_counts(session, phase.id, phase.freezes_at)
    return queries.counts(session, phase.id)


def rules_of(challenge: Challenge, phase: Phase, competition: str) -> Competition:
    """Return the rules of a competition that a phase runs.

    Raises:
        NotFoundError: the phase has no such competition; the message names the phases that have it.
    """
    rules = edition_of_phase(challenge, phase).competitions.get(competition)
    if rules is None or competition not in phase.competitions:
        others = [each.key for each in phases_of(challenge) if competition in each.competitions]
        instead = f"; it is in {', '.join(others)}" if others else ""
        searched = f"The phase {phase.key}" if len(challenge.phases) > 1 else "The challenge"
        raise NotFoundError(f"{searched} has no such competition{instead}.")
    return rules


def _without_names(content: Content, challenge: Challenge, phase: Phase, rules: Competition) -> Content:
    """The same without anything that people have written, and without what leads to it.

    Of times there is only the day, in UTC: who knows when somebody uploaded would find the row by the second.
    """
    unnamed = [
        replace(
            entry,
            method=anonymous_label(challenge, phase, entry.submission_id),
            contributors="",
            affiliation="",
            declared=replace(entry.declared, values=_without_texts(entry.declared, rules)),
            submitted_at=entry.submitted_at.replace(hour=0, minute=0, second=0, microsecond=0),
            links=NO_LINKS,
            team="",
        )
        for entry in content.entries
    ]
    return replace(
        content,
        # Equal means are listed by day, then in this order, which must not tell the time.
        entries=tuple(sorted(unnamed, key=attrgetter("method"))),
        corrections=tuple(one if one.method is None else replace(one, method=HIDDEN) for one in content.corrections),
    )


def _without_texts(declared: Declared, rules: Competition) -> dict[str, str | float]:
    """The declarations that the competition asks for, with texts hidden; choices and numbers stay."""
    stated = ((each, declared.value(each)) for each in rules.declarations)
    return {
        each.name: HIDDEN if each.kind is DeclarationKind.TEXT else value for each, value in stated if value is not None
    }


def anonymous_label(challenge: Challenge, phase: Phase, submission_id: uuid.UUID) -> str:
    """Return what a method is called on the anonymous leaderboards of a phase: always the same.

    Who knows the id of a submission cannot tell its label, because the key is secret. That two of 1,000 methods have
    the same label has a probability of 0.0001.
    """
    digest = hmac.digest(challenge.label_key, f"{phase.key} {submission_id}".encode(), "sha256")
    return f"Method {digest[:4].hex()}"


def columns(competition: Competition) -> tuple[str, ...]:
    """Return the columns of a competition: its classes, preceded by the background if it is scored."""
    return (BACKGROUND, *competition.classes) if TASKS[competition.task].has_background else competition.classes
