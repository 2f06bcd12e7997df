"""The names that `import vocboard` offers."""

import builtins
import inspect
import re
import subprocess
import sys
from pathlib import Path

import mypy.api
import pytest

import vocboard
from vocboard.evaluator.version import VERSION

HEAVY = ("numpy", "lxml", "PIL", "httpx", "pyarrow")


def test_every_public_name_is_there_and_listed() -> None:
    for name in vocboard.__all__:
        assert getattr(vocboard, name) is not None
        assert name in dir(vocboard)
    assert vocboard.__version__ == VERSION


def test_exceptions_that_docstrings_name_are_public() -> None:
    public = [getattr(vocboard, name) for name in vocboard.__all__]
    documented = [each for each in public if inspect.isfunction(each) or inspect.isclass(each)]
    documented += [
        each for kind in documented if inspect.isclass(kind) for _, each in inspect.getmembers(kind, inspect.isfunction)
    ]
    named = {
        name for each in documented for name in re.findall(r"^ +(\w+(?:Error|Warning)): ", each.__doc__ or "", re.M)
    }
    missing = {name for name in named if not hasattr(builtins, name) and name not in vocboard.__all__}
    assert len(named) > 10
    assert not missing


def test_type_checkers_report_misspelt_names(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import vocboard\n\nvocboard.evaluate\nvocboard.evalute\n")
    arguments = ["--follow-imports=skip", "--no-incremental", str(Path(vocboard.__file__)), str(script)]
    report = mypy.api.run(arguments)[0]
    assert 'script.py:4: error: Module has no attribute "evalute"' in report
    assert "script.py:3" not in report


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vocboard' has no attribute 'evalute'"):
        vocboard.evalute  # noqa: B018


def test_importing_the_package_imports_nothing_else() -> None:
    program = f"import sys, vocboard; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
