"""Checks that the phases of an exported challenge, and what belongs to them, fit together."""

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain

from vocboard.app.accounts.people import normalised_email
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.leaderboards.reported import MAX_REPORTED
from vocboard.app.leaderboards.service import columns
from vocboard.app.submissions.models import State
from vocboard.app.transfer.phase_records import (
    AdmissionRecord,
    CorrectionRecord,
    ExtraQuotaRecord,
    FrozenRecord,
    ReportedRecord,
)
from vocboard.app.transfer.records import EvaluationRecord, Header, SubmissionRecord
from vocboard.evaluator.editions import Competition, Edition


class PhaseChecks:
    """Knows the phases of a challenge once its header was checked; each check yields everything that is wrong.

    Attributes:
        submissions: ids of the checked submissions.
    """

    def __init__(self, edition: Edition, versions: Mapping[int, Edition]) -> None:
        """Start with the challenge's current edition, and all versions of it by number."""
        self.submissions: set[uuid.UUID] = set()
        self._edition, self._editions = edition, versions
        self._phases: dict[str, dict[str, Competition]] = {}  # competitions by phase and key
        self._versions: set[int] = set()  # numbers of ground truth versions
        self._admitted: set[tuple[str, str]] = set()
        self._frozen: set[tuple[str, str, datetime]] = set()
        self._reported: Counter[tuple[str, str]] = Counter()  # by phase and competition

    def header(self, header: Header) -> Iterator[str]:
        """Check the phases and ground truth versions of a challenge."""
        yield from self._editions_of(header)
        self._phases[MAIN_PHASE] = self._chosen(header.rules)
        for phase in header.phases:
            if phase.key in self._phases:
                yield f"phases: {phase.key} appears twice."
            self._phases[phase.key] = self._chosen(phase.rules)
        with_truth = {MAIN_PHASE, *(phase.key for phase in header.phases if phase.has_own_truth)}
        for truth in header.ground_truth_versions:
            if truth.number in self._versions:
                yield f"ground_truth_versions: {truth.number} appears twice."
            if truth.phase not in with_truth:
                yield f"ground_truth_versions: {truth.phase} has no ground truth of its own."
            self._versions.add(truth.number)

    def submission(self, one: SubmissionRecord) -> Iterator[str]:
        """Check what a submission enters, and its scores."""
        if one.id in self.submissions:
            yield "The submission appears twice."
        self.submissions.add(one.id)
        if one.phase not in self._phases:
            yield _no_phase(one.phase)
            return
        yield from self._entries_of(one, self._phases[one.phase])
        if one.evaluation is not None:
            yield from self._results_of(one, one.evaluation, self._phases[one.phase])
        elif one.state is State.SCORED:
            yield "evaluation: a scored submission must have one."

    def admission(self, one: AdmissionRecord) -> Iterator[str]:
        """Check that a person is admitted to a phase of the challenge, once."""
        yield from self._person_of_phase(one.phase, one.email)
        if (one.phase, one.email) in self._admitted:
            yield "The person is admitted twice."
        self._admitted.add((one.phase, one.email))

    def extra_quota(self, one: ExtraQuotaRecord) -> Iterator[str]:
        """Check that extra quota is for a phase of the challenge."""
        yield from self._person_of_phase(one.phase, one.email)

    def frozen_leaderboard(self, one: FrozenRecord) -> Iterator[str]:
        """Check that a frozen leaderboard is of a competition of its phase, and shows submissions of the archive."""
        if (one.phase, one.competition, one.frozen_at) in self._frozen:
            yield "The leaderboard appears twice."
        self._frozen.add((one.phase, one.competition, one.frozen_at))
        if one.competition not in self._phases.get(one.phase, {}):
            yield f"competition: the phase {one.phase} has no {one.competition}."
            return
        edition = self._editions.get(one.content.edition_version)
        if edition is None or one.competition not in edition.competitions:
            yield _no_edition(one.content.edition_version)
            return
        competition = edition.competitions[one.competition]
        classes, metrics = set(columns(competition)), set(competition.rules.board)
        for entry in one.content.entries:
            if entry.submission not in self.submissions:
                yield f"entries: the archive has no submission {entry.submission}."
            if not classes.issuperset({*entry.classes, *chain(*entry.other_classes.values())}):
                yield f"entries: {one.competition} has no such classes."
            if not {*entry.others, *entry.other_classes} <= metrics:
                yield f"entries: the leaderboard of {one.competition} has no such metrics."

    def reported_result(self, one: ReportedRecord) -> Iterator[str]:
        """Check that a reported result is of a competition of its phase, which has few, and of its classes."""
        competition = self._phases.get(one.phase, {}).get(one.competition)
        if competition is None:
            yield f"competition: the phase {one.phase} has no {one.competition}."
            return
        self._reported[one.phase, one.competition] += 1
        if self._reported[one.phase, one.competition] == MAX_REPORTED + 1:
            yield f"competition: {one.competition} has more than {MAX_REPORTED} reported results."
        if not set(one.per_class) <= set(columns(competition)):
            yield f"per_class: {one.competition} has no such classes."

    def correction(self, one: CorrectionRecord) -> Iterator[str]:
        """Check that a re-score is of a known version, and of a submission of the archive."""
        if one.ground_truth_version not in self._versions:
            yield _no_version(one.ground_truth_version)
        if one.edition_version not in self._editions:
            yield _no_edition(one.edition_version)
        if one.submission is not None and one.submission not in self.submissions:
            yield f"submission: the archive has no submission {one.submission}."

    def _entries_of(self, one: SubmissionRecord, known: dict[str, Competition]) -> Iterator[str]:
        keys = [entry.competition for entry in one.entries]
        if len(set(keys)) != len(keys):
            yield "entries: a competition is entered twice."
        for entry in one.entries:
            competition = known.get(entry.competition)
            if competition is None:
                yield f"entries: the challenge has no {entry.competition}."
            elif not set(entry.classes) <= set(competition.classes):
                yield f"entries: {entry.competition} has no such classes."

    def _results_of(
        self, one: SubmissionRecord, evaluation: EvaluationRecord, known: dict[str, Competition]
    ) -> Iterator[str]:
        if evaluation.ground_truth_version not in self._versions:
            yield f"evaluation: {_no_version(evaluation.ground_truth_version)}"
        if evaluation.edition_version not in self._editions:
            yield f"evaluation: {_no_edition(evaluation.edition_version)}"
        results = evaluation.results
        if len({result.competition for result in results}) != len(results):
            yield "evaluation: a competition appears twice."
        entered = {entry.competition for entry in one.entries}
        for result in results:
            competition = known.get(result.competition)
            if result.competition not in entered or competition is None:
                yield f"evaluation: the submission does not enter {result.competition}."
            elif competition.task is not result.task:
                yield f"evaluation: {result.competition} has a different task."
            elif result.shares is not None and {len(result.shares), *map(len, result.shares)} != {
                len(columns(competition))
            }:
                yield f"evaluation: {result.competition} has a confusion matrix of the wrong size."
            if result.steps is not None and len(result.steps) != len(result.shares or ()):
                yield f"evaluation: {result.competition} has steps of another number of rows."
            metrics = [measure.metric for measure in result.measures]
            if len(set(metrics)) != len(metrics):
                yield f"evaluation: a metric of {result.competition} appears twice."

    def _editions_of(self, header: Header) -> Iterator[str]:
        files = {one.number: one.file for one in header.edition_versions}
        if len(files) != len(header.edition_versions):
            yield "edition_versions: a number appears twice."
        if header.edition_file is None and (files or header.edition_version != 1):
            yield "edition_versions: only a custom edition has versions."
        if header.edition_version != 1 and 1 not in files:
            yield _no_edition(1)
        if files.get(header.edition_version, header.edition_file) != header.edition_file:
            yield "edition_file: it differs from the current version in edition_versions."
        if any(edition.name != self._edition.name for edition in self._editions.values()):
            yield "edition_versions: all versions of an edition have the same name."

    def _person_of_phase(self, phase: str, email: str) -> Iterator[str]:
        if phase not in self._phases:
            yield _no_phase(phase)
        if normalised_email(email) != email:
            yield "email: this is not an email address in lower case."

    def _chosen(self, rules: PhaseRules) -> dict[str, Competition]:
        """The competitions of a phase; unknown ones are refused when the phase is added."""
        known = self._edition.competitions
        return {
            key: known[key] for key in (known if rules.competitions is None else rules.competitions) if key in known
        }


def _no_phase(phase: str) -> str:
    return f"phase: the challenge has no phase {phase}."


def _no_edition(number: int) -> str:
    return f"edition_version: the archive has no version {number} of the edition with this competition."


def _no_version(number: int) -> str:
    return f"ground_truth_version: the challenge has no version {number} of its ground truth."
