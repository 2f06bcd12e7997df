"""The names that `import vocboard` offers."""

import subprocess
import sys

import pytest

import vocboard
from vocboard.evaluator.version import VERSION

HEAVY = ("numpy", "lxml", "PIL", "httpx", "pyarrow")


def test_every_public_name_is_there_and_listed() -> None:
    for name in vocboard.__all__:
        assert getattr(vocboard, name) is not None
        assert name in dir(vocboard)
    assert vocboard.__version__ == VERSION


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vocboard' has no attribute 'evalute'"):
        vocboard.evalute  # noqa: B018


def test_importing_the_package_imports_nothing_else() -> None:
    program = f"import sys, vocboard; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
