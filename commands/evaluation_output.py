"""Output of `vocboard evaluate`: directories, and text for people."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.client.scores import competition_scores
from vocboard.client.terminal import printable
from vocboard.commands.comparison_tables import comparison_lines
from vocboard.commands.evaluating import Evaluated, EvaluatedSet
from vocboard.commands.problem_text import group_lines, group_summary, image_set_hint
from vocboard.commands.score_tables import metric_title, score_lines
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.reports import MethodReport, write_comparison_report, write_curves, write_report
from vocboard.evaluator.reports.findings import Sources
from vocboard.evaluator.statistics.bootstrap import Bootstrap
from vocboard.evaluator.whole_output import OutputExistsError

EvaluatedSets = Mapping[str, EvaluatedSet]  # by the title of the image set


def reports_of(
    evaluated: EvaluatedSets, paths: Mapping[str, Path] | None = None, tree: Path | None = None
) -> Mapping[str, MethodReport]:
    """Return what to write of each method.

    Args:
        evaluated: the results.
        paths: results by method, for pages with images.
        tree: development kit tree, for pages with images.
    """
    editions = {title: each.edition for title, each in evaluated.items()}
    first = next(iter(evaluated.values()))
    return {
        method: MethodReport(
            {title: each.methods[method].evaluation for title, each in evaluated.items()},
            {title: each.methods[method].findings for title, each in evaluated.items()},
            None if paths is None or tree is None else Sources(tree, paths[method], editions),
        )
        for method in first.methods
    }


def write_files(
    evaluated: EvaluatedSets, edition: Edition, paths: Mapping[str, Path], arguments: argparse.Namespace
) -> bool:
    """Write the report and the curves that the arguments ask for, and return whether there is anything to write.

    Raises:
        MisuseError: a directory contains something else.
    """
    reports = reports_of(evaluated, paths, arguments.ground_truth)
    if not any(each.scores for report in reports.values() for each in report.evaluations.values()):
        if arguments.report is not None or arguments.curves is not None:
            print("vocboard: nothing was scored, so no report or curves were written", file=sys.stderr)
        return False
    try:
        if arguments.report is not None and len(reports) == 1:
            write_report(next(iter(reports.values())), edition, arguments.report)
        elif arguments.report is not None:
            comparisons = {title: each.comparisons for title, each in evaluated.items()}
            write_comparison_report(reports, comparisons, edition, arguments.report)
        if arguments.curves is not None:
            write_curves(next(iter(reports.values())).evaluations, arguments.curves)
    except OutputExistsError as error:
        raise MisuseError(str(error)) from error
    return True


def lines(evaluated: EvaluatedSet, where: str) -> Iterator[str]:
    """Yield the tables of all methods, and for several those of their comparisons.

    Args:
        evaluated: the results on an image set.
        where: the image set, to follow the name of a competition; empty if there is only one.
    """
    for name, each in evaluated.methods.items():
        yield from _lines_of_method(each, f"{where}, {printable(name)}" if name else where)
        if len(evaluated.methods) > 1:
            yield ""
    for key, found in evaluated.comparisons.items():
        metric, measure = next(iter(found.measures.items()))
        if measure.mean is not None:
            bootstraps = {name: evaluated.methods[name].findings.bootstraps[key] for name in measure.mean.methods}
            yield f"{evaluated.edition.name} {key}{where}: {metric_title(metric.value)}, mean"
            yield from comparison_lines({name: each.primary.mean for name, each in bootstraps.items()}, measure.mean)
            yield ""


def _lines_of_method(evaluated: Evaluated, whose: str) -> Iterator[str]:
    evaluation = evaluated.evaluation
    for key, scores in evaluation.scores.items():
        yield f"{evaluation.edition} {key}{whose}: {scores.task.value}"
        intervals = _intervals(evaluated.findings.bootstraps.get(key))
        yield from score_lines(competition_scores(key, scores.as_json()), intervals)
        yield ""
    for key in evaluation.unavailable:
        yield f"{evaluation.edition} {key}{whose}: not scored, the tree has no ground truth for it"
        yield ""
    yield from problems_of(evaluated)


def problems_of(evaluated: Evaluated) -> Iterator[str]:
    """Yield the problems of a method's results, and whether they are valid."""
    if evaluated.groups:
        from vocboard.commands.explanations import page_of_server  # noqa: PLC0415  # loads the HTTP library

        yield from group_lines(evaluated.groups, page_of_server())
    yield from image_set_hint(evaluated.evaluation.problems)
    yield group_summary(evaluated.groups)


def _intervals(found: Bootstrap | None) -> dict[str | None, tuple[float, float]] | None:
    """Return the ends of the intervals of the primary metric, by class, and of the mean under None."""
    if found is None:
        return None
    ends: dict[str | None, tuple[float, float]] = {None: (found.mean.low, found.mean.high)}
    return ends | {name: (interval.low, interval.high) for name, interval in found.per_class.items()}
