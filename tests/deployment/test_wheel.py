"""The wheels with the packages that pip finds today, without the lock: for participants, then for a server, too."""

import subprocess
import time
import venv
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import small_world
from tests.support.image import PIP, wheels
from tests.support.installation import installed
from tests.support.mail import mail_server
from tests.support.processes import skip_or_fail
from tests.support.services import in_full, needed
from vocboard.app.database import Database
from vocboard.app.messaging import outbox
from vocboard.app.messaging.broker import WORK
from vocboard.evaluator.result_files.large_files import LARGE_BYTES

pytestmark = pytest.mark.services
SETTINGS = {"VOCBOARD_SWEEP_INTERVAL": "PT1S", "VOCBOARD_POLL_INTERVAL": "PT600S"}  # so that only wake-ups cause sweeps
SECONDS_TO_WAIT = 60.0
BYTES_FOR_PARTICIPANTS = 10_000_000
PACKAGES_FOR_PARTICIPANTS = 15  # besides vocboard itself
BYTES_WITH_PACKAGES = 150_000_000
OF_THE_SERVER = ("app", "migrations", "templates", "worker")


class Environment:
    """A Python environment with the wheels of this checkout.

    Attributes:
        directory: the environment's.
        programs: the directory of its programs.
        wheels: the directory of the wheels.
    """

    def __init__(self, directory: Path) -> None:
        self.wheels = wheels()[0].parent
        self.directory = directory / "environment"
        self.programs = self.directory / "bin"
        venv.create(self.directory, with_pip=False, symlinks=True)

    def install(self, *arguments: str) -> None:
        """Install from the wheels, and from the package registry what they need; Python compiles what is imported."""
        pip = [*PIP, "--python", str(self.programs / "python"), "install", "--no-compile"]
        subprocess.run([*pip, "--find-links", str(self.wheels), *arguments], check=True, cwd=self.directory)

    def run(self, program: str, *arguments: str, status: int = 0) -> "subprocess.CompletedProcess[str]":
        """Run a program that ends with this status."""
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(command, cwd=self.directory.parent, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def files(self) -> list[Path]:
        """Return vocboard's files."""
        [packages] = self.directory.glob("lib/python*/site-packages")
        return [path for place in packages.glob("vocboard*") for path in place.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment as participants install it; the last test adds the server."""
    made = Environment(tmp_path_factory.mktemp("wheels"))
    try:
        made.install("vocboard")
    except subprocess.CalledProcessError:
        try:
            made.install("--dry-run", "--no-deps", "celery")
        except subprocess.CalledProcessError:
            skip_or_fail("the package registry cannot be reached")
        raise
    return made


def directories(files: Iterable[Path]) -> set[str]:
    """Return the names of the packages and data directories that files of vocboard are in."""
    return {path.parts[path.parts.index("vocboard") + 1] for path in files if "vocboard" in path.parts}


def test_participants_do_not_get_the_server(environment: Environment) -> None:
    [package] = environment.directory.glob("lib/python*/site-packages/vocboard")
    environment.run("python", "-m", "compileall", "-q", str(package))
    files = environment.files()
    assert directories(files) >= {"client", "commands", "evaluator"}
    assert not directories(files) & set(OF_THE_SERVER)
    assert any(path.suffix == ".pyc" for path in files)
    assert sum(path.stat().st_size for path in files) <= BYTES_FOR_PARTICIPANTS


def test_participants_need_few_packages(environment: Environment) -> None:
    [packages] = environment.directory.glob("lib/python*/site-packages")
    assert len(list(packages.glob("*.dist-info"))) <= 1 + PACKAGES_FOR_PARTICIPANTS
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) <= BYTES_WITH_PACKAGES


def test_participants_validate_evaluate_and_import(environment: Environment) -> None:
    directory = environment.directory.parent
    # One file is so large that it is read in columns where pyarrow is installed.
    many = [f"000001 {1 / number} 10 10 50 50" for number in range(1, 1 + LARGE_BYTES // 20)]
    (directory / "results.tar").write_bytes(small_world.results_archive(comp3_det_test_car=many))
    (directory / "tree.tar").write_bytes(small_world.ground_truth_archive())
    environment.run("vocboard", "validate", "VOC2007", "results.tar", "--image-sets", "tree.tar")
    environment.run("vocboard", "evaluate", "VOC2007", "results.tar", "--ground-truth", "tree.tar")
    environment.run("vocboard", "explain")
    environment.run("vocboard", "view", "tree.tar", "--results", "results.tar", "--output", "page")
    environment.run("vocboard", "submit", "--help")
    environment.run("vocboard", "schema", "edition")
    script = "import vocboard; [getattr(vocboard, name) for name in vocboard.__all__]"
    environment.run("python", "-c", script)


@pytest.mark.parametrize("command", ["admin", "beat", "demo", "health", "import", "migrate", "serve", "worker"])
def test_participants_are_told_how_to_install_the_server(environment: Environment, command: str) -> None:
    arguments = {"health": ["worker"], "admin": ["list-users"]}.get(command, [])
    told = environment.run("vocboard", command, *arguments, status=2).stderr
    assert told == (
        f'vocboard {command} needs the server\'s packages: pip install "vocboard[server]"\n'
        "In a checkout: pip install . ./server\n"
    )


@pytest.mark.long  # for most of a minute, and it depends on what others have published today
def test_runs_web_worker_beat_and_mail(environment: Environment, tmp_path: Path) -> None:
    environment.install("vocboard[server]")
    assert directories(environment.files()) >= set(OF_THE_SERVER)
    programs, data = environment.programs, tmp_path / "data"
    data.mkdir()
    with (
        mail_server(tmp_path / "received") as mail,
        needed(installed(data, faster=SETTINGS, mail=mail.url, programs=programs)) as installation,
    ):
        with closing(Database(in_full(installation.admin_url))) as database, database.writing() as session:
            outbox.put(session, to="ada@lab.example", template="approved", site="https://voc.example.org")

        def is_working() -> bool:
            # A turn is two lines. When it starts, the worker takes some by itself. Later, only sweeps are due.
            return installation.log("worker").count(f"Task {WORK}[") >= 12 and bool(mail.messages())

        deadline = time.monotonic() + SECONDS_TO_WAIT
        while not is_working() and time.monotonic() < deadline:
            time.sleep(0.2)
        logs = "".join(installation.log(name) for name in ("web", "worker", "beat", "mail"))
        assert is_working(), logs
        assert "Traceback" not in logs
        assert "not receiving wake-ups" not in logs
        for service, health in (("worker", ["worker"]), ("beat", ["beat"]), ("mail", ["worker", "--only", "mail"])):
            variables = dict(installation.environments[service])
            subprocess.run([str(programs / "vocboard"), "health", *health], env=variables, check=True)
