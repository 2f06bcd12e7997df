"""Prints how many modules and functions of ours one multipart POST of a submission passes.

    .venv/bin/python -m tools.upload_path

The application runs in this process, without a network; processes that read uploads are not counted. A change is a call
of a function in another module than the call before it, in any thread.
"""

import asyncio
import itertools
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

import httpx

from tests.support.backend import make_archive
from tests.support.factories import make_challenge, make_token, make_user
from vocboard.app.main import create_app
from vocboard.app.settings import Settings
from vocboard.migrations import upgrade

PACKAGES = ("/vocboard/app/", "/vocboard/evaluator/")
_WARM_SECONDS = 4.0  # until what reading processes are forked from has started

_passed: list[tuple[str, str]] = []  # module and function of each call
_counting = threading.Event()


def _note(frame: FrameType, event: str, _argument: object) -> None:
    if event == "call" and _counting.is_set() and any(package in frame.f_code.co_filename for package in PACKAGES):
        _passed.append((frame.f_code.co_filename.rpartition("/vocboard/")[2], frame.f_code.co_qualname))


async def _measure(directory: Path) -> None:
    settings = Settings(data_directory=directory)
    upgrade(settings.database)
    application = create_app(settings)
    with application.state.services.database.writing() as session:
        address = f"/api/v1/challenges/{make_challenge(session, edition='VOC2012').slug}/submissions"
        headers = {"Authorization": f"Bearer {make_token(session, make_user(session))}"}
    transport = httpx.ASGITransport(application)
    async with (
        application.router.lifespan_context(application),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client,
    ):
        await asyncio.sleep(_WARM_SECONDS)
        for is_counted in (False, True):
            if is_counted:
                _counting.set()
            archive = {"archive": ("results.tar", make_archive())}
            answer = await client.post(address, data={"method_name": "Method"}, files=archive)
            _counting.clear()
            answer.raise_for_status()


def main() -> None:
    """Measure, and print the totals, then the numbers of each package."""
    threading.setprofile(_note)
    sys.setprofile(_note)
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_measure(Path(directory)))
    functions = {each for each in _passed if "<" not in each[1].replace("<locals>", "")}
    modules = {module for module, _ in functions}
    changes = sum(one[0] != next_[0] for one, next_ in itertools.pairwise(_passed))
    print(f"{len(modules)} modules, {len(functions)} functions, {len(_passed)} calls, {changes} changes of module")
    of_package = Counter(module.rpartition("/")[0] for module in modules)
    for package, count in sorted(of_package.items()):
        inside = sum(module.rpartition("/")[0] == package for module, _ in functions)
        print(f"  {package}: {count} modules, {inside} functions")


if __name__ == "__main__":
    main()
