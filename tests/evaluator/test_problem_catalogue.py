"""The catalogue of problems."""

import re
from functools import cache
from pathlib import Path

import pytest

from vocboard.evaluator.problems import Kind, Severity
from vocboard.evaluator.problems.catalogue import CATALOGUE

TESTS = Path(__file__).parents[1]


@cache
def _sources() -> list[str]:
    return [path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__)]


@pytest.mark.parametrize("kind", CATALOGUE.values(), ids=CATALOGUE)
class TestKind:
    def test_has_a_code_a_title_and_whole_sentences(self, kind: Kind) -> None:
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", kind.code)
        assert kind.title
        assert not kind.title.endswith(".")
        assert kind.found.endswith((".", ".{hint}"))
        assert kind.example
        assert not kind.remedy or kind.remedy.endswith((".", "}"))

    def test_is_provoked_by_a_test_so_that_its_wording_is_complete(self, kind: Kind) -> None:
        assert any(f'"{kind.code}"' in source for source in _sources())

    def test_errors_say_how_to_fix_them_or_what_was_expected(self, kind: Kind) -> None:
        if kind.severity is Severity.ERROR and kind.code != "more_problems":
            assert kind.remedy or "expected" in kind.found
