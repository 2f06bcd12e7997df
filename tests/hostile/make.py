"""Make the folder's files, and note their problems: `python -m tests.hostile.make`.

A file whose problems are not those that its case expects is not written. What is noted is to be read before it is
committed: it is what participants will be told.
"""

import itertools
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.cases import bombs, file_names, layouts, maps, regions, tars, texts, zips
from tests.hostile.cases.case import Case
from tests.hostile.folder import EXPECTED, ROOT, edition_of, public
from vocboard.evaluator.reading.results import read_results


def all_cases() -> Iterator[Case]:
    """Every case of the folder."""
    for module in (tars, zips, bombs, file_names, texts, layouts, maps, regions):
        yield from module.cases()


def directory_of(case: Case) -> Path:
    """Where a case's file lies."""
    return ROOT / ("accept" if case.is_accepted else "reject")


def main() -> int:
    """Write all files; return the number of those that are not what they should be."""
    wrong, written = 0, set()
    for case in all_cases():
        data = case.make()
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / case.name
            path.write_bytes(data)
            read = read_results(path, edition_of(case.edition), public(case.edition))
        codes = tuple(code for code, _ in itertools.groupby(problem.code for problem in read.problems))
        if codes != case.codes or read.is_valid != case.is_accepted or case.name in written:
            print(f"{case.name}: {codes} instead of {case.codes}", *read.problems[:3], sep="\n    ")
            wrong += 1
            continue
        written.add(case.name)
        target = directory_of(case) / case.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)
        noted = {
            "about": case.about,
            "edition": case.edition,
            "problems": [problem.as_json() for problem in read.problems],
        }
        text = json.dumps(noted, indent=2, ensure_ascii=True)
        target.with_name(target.name + EXPECTED).write_text(f"{text}\n", encoding="utf-8")
    print(f"{len(written)} files")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
