"""Checks that an extension runs against itself: `check_task` and `check_metric` (docs/extensions.md).

A check that fails raises `AssertionError`, with a sentence that says what is wrong.
"""

import io
import json
import math
import pickle
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np

from vocboard.evaluator import extensions
from vocboard.evaluator.archives import UPLOAD_LIMITS, members
from vocboard.evaluator.editions import Competition, Edition, Metric, Task, TaskRules
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.extensions import Group
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.results import Entry
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.scoring import score
from vocboard.evaluator.statistics.evidence_file import Origin, load_evidence, store_evidence
from vocboard.evaluator.stored_results.stored_results import ResultsWriter, StoredResults
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.tasks.scorers import SCORERS

_CLOSE = 1e-9  # sums may be taken in another order
_GARBAGE = (b"\xff\xfe\x00", b"x\n", b"nobody 0.5 1 2 3 4\n", b"nobody nan\n", b"nobody inf 1\n", b"\n\na,b;c\n")
_WITHOUT_TRUTH = ("definition", "format", "columns", "arrays", "rows")  # what the web process imports of a task
_TRUTH = ("truth", "ground_truth", "scoring", "metrics", "evidence")
_ANNOTATIONS = "NDArray[np.bool_], int8, uint8, int32, int64 or float64"
_IMPORTED = "import sys; sys.path[:] = {path!r}; import {modules}; print(*sys.modules)"
_Files = Mapping[str, bytes]


def check_task(task: str, edition: Edition, tree: Path, results: Path) -> None:
    """Check a task on valid results: its parts, its files, and each of its metrics by `check_metric`.

    Args:
        task: its name.
        edition: has a competition of the task; see `vocboard.load_edition`.
        tree: ground truth. It should have a class without objects, and images without objects.
        results: valid results for it, an archive or a directory, best with confidences that all differ.

    Raises:
        AssertionError: what is wrong, in a sentence.
    """
    _require(not extensions.failures(), " ".join(extensions.failures().values()))
    _require(task in {*map(str, TASKS)}, f"There is no task {task}: {extensions.VARIABLE} has to name its package.")
    kind = Task(task)
    definition, scorer = TASKS[kind], SCORERS[kind]
    _require(not definition.has_file_per_image, "Tasks with a label map for each image cannot be added, nor checked.")
    defined = {*definition.metrics, *definition.only_secondary}
    unlike = ", ".join(sorted(defined ^ scorer.metrics))
    _require(not unlike, f"definition.py and metrics.py differ in {unlike}.")
    _require(definition.task == task, f"The definition is of {definition.task}, not of {task}.")
    for added in extensions.added(Group.TASKS):
        if added.name == task:
            _check_imports(added.package)
    truth = read_ground_truth(tree, edition)
    _check_counts(kind, edition, truth)
    files = {member.name: member.read() for member in members(results, UPLOAD_LIMITS)}
    read = _entries(kind, edition, truth, files)
    _require(bool(read), f"The results have no competition of {task}.")
    _check_storage(edition, truth, read)
    _check_refusals(edition, truth, files)
    for metric in sorted(defined):
        _check_values(metric, kind, _with_metric(edition, kind, metric), truth, files)


def check_metric(metric: str, edition: Edition, tree: Path, results: Path) -> None:
    """Check a metric: its range, equal scores for equal and for shuffled results, empty ones, and its intervals.

    Args:
        metric: its name. Competitions of the edition that do not have it are not looked at.
        edition: its rules have the metric, as the primary or as a secondary one.
        tree: ground truth.
        results: valid results for it, an archive or a directory.

    Raises:
        AssertionError: what is wrong, in a sentence.
    """
    why = " ".join(extensions.failures().values()) or f"{extensions.VARIABLE} has to name its package."
    _require(metric in {*map(str, METRICS)}, f"There is no metric {metric}. {why}")
    name = Metric(metric)
    truth = read_ground_truth(tree, edition)
    files = {member.name: member.read() for member in members(results, UPLOAD_LIMITS)}
    tasks = {each.task for each in edition.competitions.values() if name in _measures(each)}
    _require(bool(tasks), f"No competition of {edition.name} has the metric {metric}.")
    found = [value for task in sorted(tasks) for value in _check_values(name, task, edition, truth, files)]
    _require(bool(found), f"Nothing is scored by {metric}: the results have no competition that has it.")
    _require(not all(map(math.isnan, found)), f"{metric} is undefined for every class of the results.")


def _check_values(metric: Metric, task: Task, edition: Edition, truth: GroundTruth, files: _Files) -> Collection[float]:
    def scored(content: _Files) -> dict[tuple[str, str], float]:
        return _values(metric, _score(edition, truth, _entries(task, edition, truth, content)))

    first = scored(files)
    for (key, name), value in first.items():
        _require(math.isnan(value) or 0 <= value <= 1, f"{metric} of {name} in {key} is {value!r}, not from 0 to 1.")
    _same(first, scored(files), f"{metric} is another number when the same results are scored again", 0)
    _same(first, scored(dict(reversed(list(files.items())))), f"{metric} depends on the order of files", 0)
    if TASKS[task].content_is_lines:
        turned = {name: b"".join(reversed(data.splitlines(keepends=True))) for name, data in files.items()}
        why = "depends on the order of lines (if some confidences are equal, it may: give results without ties)"
        _same(first, scored(turned), f"{metric} {why}", _CLOSE)
        for (key, name), value in scored(dict.fromkeys(files, b"")).items():
            found = f"{metric} of {name} in {key} is {value!r} for empty results"
            _require(math.isnan(value) or 0 <= value <= 1, f"{found}, not undefined or from 0 to 1.")
    if METRICS[metric].has_intervals:
        _check_intervals(metric, edition, truth, _entries(task, edition, truth, files))
    return first.values()


def _check_intervals(metric: Metric, edition: Edition, truth: GroundTruth, entries: Mapping[str, Entry]) -> None:
    first = _values(metric, _score(edition, truth, entries))
    for key, entry, evidence in _evidence(edition, truth, entries):
        if metric not in _measures(entry.competition):
            continue
        scorer = SCORERS[entry.competition.task]
        for name, found in scorer.values(metric, evidence, edition, entry.competition).items():
            why, place = f"{metric} of {name} in {key}", (key, name)
            _require(isinstance(found, Resampled), f"{why} is a number; its definition needs has_intervals=False.")
            value = cast("Resampled", found)
            _same({place: first[place]}, {place: value.score()}, f"{why} differs in its evidence", 0)
            weights = np.ones((evidence.images, 3), dtype=np.uint8)
            weights[:, 1], weights[:, 2] = 0, np.arange(evidence.images) % 3
            once, *others = value.replicates(weights).tolist()
            _same({place: first[place]}, {place: once}, f"{why} is another number with each image once", _CLOSE)
            for each in others:
                _require(math.isnan(each) or 0 <= each <= 1 + _CLOSE, f"{why} is {each!r} on a selection of images.")


def _check_imports(package: str) -> None:
    """Check that what reads uploads does not know the ground truth, in a process that has imported nothing else."""
    modules = [name for part in _WITHOUT_TRUTH if find_spec(name := f"{package}.{part}") is not None]
    program = _IMPORTED.format(path=sys.path, modules=", ".join(modules))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603
    _require(done.returncode == 0, f"{', '.join(modules)} cannot be imported alone: {done.stderr.strip()}")
    for part in _TRUTH:
        found = f"{package}.{part}" in done.stdout.split()
        _require(not found, f"{part}.py is imported by one of {', '.join(_WITHOUT_TRUTH)}, which must not know it.")


def _check_counts(task: Task, edition: Edition, truth: GroundTruth) -> None:
    """Check the numbers that organisers see of the ground truth, and that a server can store them."""
    for (of, name), secret in truth.truths.items():
        if of is task:
            with _saying("truth.py cannot count the ground truth, in int"):
                counted = secret.statistics(truth.image_sets.sets[of, name], edition)
                rows = [asdict(each) for each in (*counted.classes.values(), counted.total)]
                json.dumps([*rows, *map(asdict, secret.class_counts(edition).values())])


def _check_storage(edition: Edition, truth: GroundTruth, entries: Mapping[str, Entry]) -> None:
    """Check that results, ground truth and evidence are the same after they were stored."""
    expected = _score(edition, truth, entries)
    sent = pickle.loads(pickle.dumps(dict(entries)))  # noqa: S301  # our own
    _require(_all(_score(edition, truth, sent)) == _all(expected), "Results differ after they went to another process.")
    file = io.BytesIO()
    ResultsWriter(file.write, edition, truth.image_sets, limit=2**32).finish(entries)
    file.seek(0)
    stored = StoredResults(file, edition, truth.image_sets).results
    _require(_all(_score(edition, truth, stored)) == _all(expected), "Scores differ after results were stored.")
    with tempfile.TemporaryDirectory() as directory:
        truth.save(Path(directory) / "truth")
        kept = GroundTruth.load(Path(directory) / "truth")
    _require(_all(_score(edition, kept, entries)) == _all(expected), "Scores differ after the ground truth was stored.")
    for key, entry, evidence in _evidence(edition, truth, entries):
        origin = Origin(key, truth.sha256)
        with _saying(f"Evidence, of one-dimensional arrays annotated {_ANNOTATIONS}, cannot be stored and loaded"):
            loaded = load_evidence(io.BytesIO(store_evidence(evidence, origin)), origin)
        scorer, metric = SCORERS[entry.competition.task], entry.competition.rules.metric
        before, after = (
            {name: each.score() for name, each in scorer.resampled(metric, one, edition, entry.competition).items()}
            for one in (evidence, loaded)
        )
        _same({(key, name): one for name, one in before.items()}, {(key, name): one for name, one in after.items()},
              "The score differs after evidence was stored", 0)  # fmt: skip


def _check_refusals(edition: Edition, truth: GroundTruth, files: _Files) -> None:
    """Check that wrong files get errors, in sentences, instead of exceptions."""
    for garbage in _GARBAGE:
        for name in files:
            problems = read_results(_packed({name: garbage}), edition, truth.image_sets).problems
            errors = [each for each in problems if each.severity is Severity.ERROR]
            _require(bool(errors), f"{garbage!r} as the content of {name} is no error.")
            for problem in problems:
                _require(_is_sentence(problem), f"The message of {problem.code} is no sentence: {problem.message!r}")


def _is_sentence(problem: Problem) -> bool:
    text = problem.message
    return text[:1].upper() == text[:1] and text[-1:] in ".!?)" and text.isprintable() and "Traceback" not in text


def _entries(task: Task, edition: Edition, truth: GroundTruth, files: _Files) -> dict[str, Entry]:
    read = read_results(_packed(files), edition, truth.image_sets)
    errors = [each.message for each in read.problems if each.severity is Severity.ERROR]
    _require(not errors, f"The results are not valid: {' '.join(errors[:3])}")
    return {key: entry for key, entry in read.results.items() if entry.competition.task is task}


def _score(edition: Edition, truth: GroundTruth, entries: Mapping[str, Entry]) -> Mapping[str, CompetitionScores]:
    return score(dict(entries), edition, truth).scores


def _evidence(
    edition: Edition, truth: GroundTruth, entries: Mapping[str, Entry]
) -> Iterator[tuple[str, Entry, Evidence]]:
    for key, entry in entries.items():
        place = entry.competition.task, entry.competition.image_set
        secret, public = truth.truths[place], truth.image_sets.sets[place]
        scorer = SCORERS[entry.competition.task]
        yield key, entry, scorer.evidence(entry, secret, edition, public, None)


def _values(metric: Metric, scores: Mapping[str, CompetitionScores]) -> dict[tuple[str, str], float]:
    return {
        (key, name): value
        for key, of in scores.items()
        for measure in (of.primary, *of.secondary)
        if measure.metric == metric
        for name, value in measure.per_class.items()
    }


def _all(scores: Mapping[str, CompetitionScores]) -> str:
    return repr([of.as_json() for of in scores.values()])


def _with_metric(edition: Edition, task: Task, metric: Metric) -> Edition:
    """Return the edition with a metric of a task as the primary one, if it can be that, or else as a secondary one."""

    def rules(of: TaskRules) -> TaskRules:
        if metric in TASKS[task].metrics:
            return replace(of, metric=metric, secondary=(), board=())
        return replace(of, secondary=(metric,), board=())

    def changed(of: Competition) -> Competition:
        return replace(of, rules=rules(of.rules)) if of.task is task else of

    return replace(edition, competitions={key: changed(of) for key, of in edition.competitions.items()})


def _measures(competition: Competition) -> set[Metric]:
    return {competition.rules.metric, *competition.rules.secondary}


def _packed(files: _Files) -> io.BytesIO:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    output.seek(0)
    return output


def _same(
    expected: Mapping[tuple[str, str], float], found: Mapping[tuple[str, str], float], otherwise: str, tolerance: float
) -> None:
    def is_same(one: float, other: float) -> bool:
        return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= tolerance

    for place, value in expected.items():
        other = found.get(place, math.nan)
        _require(is_same(value, other), f"{otherwise}: {value!r} and {other!r} of {place[1]} in {place[0]}.")


@contextmanager
def _saying(what: str) -> Iterator[None]:
    """Say what is wrong if the block raises an exception."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise AssertionError(otherwise)
