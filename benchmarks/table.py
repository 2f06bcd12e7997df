"""The table: each implementation's seconds, and how many times as long ours takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.benchmark import Case, Goal, Kind, Measurement

OURS = "vocboard"


@dataclass(frozen=True, slots=True)
class Result:
    """The measurements of one case, by implementation."""

    case: Case
    measured: Mapping[str, Measurement]


def rows(result: Result) -> Iterator[str]:
    """Yield the lines of the table for one case."""
    yield f"{result.case.title:<58}{'kind':>6}{'s':>10}{'CPU s':>10}{'MiB':>7}{'ours/it':>9}{'by CPU':>8}"
    ours = result.measured.get(OURS)
    for name, each in result.measured.items():
        kind = result.case.implementations[name].kind
        ratios = ""
        if kind is not Kind.OURS and ours is not None:
            ratios = f"{ours.seconds / each.seconds:>9.2f}{ours.processor_seconds / each.processor_seconds:>8.2f}"
        yield f"  {name:<56}{kind:>6}{each.seconds:>10.4f}{each.processor_seconds:>10.4f}{each.peak_mib:>7.0f}{ratios}"
        if each.parts:
            yield "    " + ", ".join(f"{part} {value:.3g}" for part, value in each.parts.items())


def verdicts(result: Result) -> Iterator[str]:
    """Yield what was to be reached, and what was."""
    ours = result.measured.get(OURS)
    if ours is None:
        return
    for goal in result.case.goals:
        if all(floor in result.measured for floor in goal.floors):
            yield f"  {_verdict(goal, ours, [result.measured[floor] for floor in goal.floors])}"


def _verdict(goal: Goal, ours: Measurement, floors: list[Measurement]) -> str:
    if goal.unit == "MiB":
        return f"reach {goal.limit:g} MiB: {ours.peak_mib:.0f}"
    if goal.unit == "s":
        return f"reach {goal.limit:g} s: {ours.seconds:.3f} ({ours.processor_seconds:.3f} of processor time)"
    if goal.unit in ours.parts:
        return f"reach {goal.limit:g} {goal.unit}: {ours.parts[goal.unit]:.1f}"
    names = " + ".join(goal.floors)
    seconds, processor_seconds = sum(each.seconds for each in floors), sum(each.processor_seconds for each in floors)
    if goal.unit == "more s":
        more, processor = ours.seconds - seconds, ours.processor_seconds - processor_seconds
        return f"reach {names} + {goal.limit:g} s: + {more:.3f} s ({processor:.3f} of processor time)"
    wall, processor = ours.seconds / seconds, ours.processor_seconds / processor_seconds
    if goal.unit == "rate":
        return f"reach {goal.limit:.0%} of the rate of {names}: {1 / wall:.0%} (by processor time {1 / processor:.0%})"
    return f"reach {goal.limit:g} x ({names}): {wall:.2f} (by processor time {processor:.2f})"
