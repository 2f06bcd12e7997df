"""`vocboard demo`: run a complete server on this machine, with synthetic results or with real ground truth."""

import argparse
import re
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import FrameType

from vocboard.app.accounts.models import Role
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.commands.demo.cast import EXAMPLE
from vocboard.commands.demo.examples import EXAMPLES, SLUGS, create_example
from vocboard.commands.demo.seeding import (
    DOMAIN,
    PARTICIPANT_NAME,
    WEEK_SECONDS,
    DemoChallenge,
    Rules,
    SeedingError,
    Stage,
    upload_ground_truth,
    wait_for,
)
from vocboard.commands.demo.server import (
    Account,
    DemoFile,
    DemoServer,
    ServerError,
    check_port,
    ensure_account,
    only_demo_in,
)
from vocboard.commands.demo.synthetic import Drawn, draw, fill_with_synthetic, slug_of
from vocboard.commands.serve import port
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, UnknownEditionError

EDITION = "VOC2012"
DIRECTORY = Path("demo-data")
READY_FILE = "demo.json"  # exists while the demo runs
STOPPED_FILE = "demo-stopped.json"  # the same file while the demo is stopped, so that accounts persist
EXAMPLE_ARCHIVE = "example-results.tar.gz"  # results that visitors can upload
INCOMPLETE_FILE = "demo.incomplete"  # exists in a new directory until everything is there
PARTICIPANT, ORGANISER = f"participant@{DOMAIN}", f"organiser@{DOMAIN}"
UPLOADS = 5  # of results at the same time; with two of the organiser, fewer than a network may have

NOTICE = (
    "A demo: test sets and methods are synthetic. Sign in as {participant} and submit {archive} to Synthetic objects, "
    "or as {organiser} to organise. The passwords are in {ready_file}."
)
# Four decimals, to compare scores with published ones.
REAL_RULES: Rules = {"decimals": 4, "quota_count": 4, "quota_period_seconds": WEEK_SECONDS}
REAL_DESCRIPTION = "The ground truth of {tree}, scored by the rules of {title}."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--edition", help=f"edition of the challenge (default: the edition of the tree, or {EDITION})")
    parser.add_argument(
        "--devkit",
        type=Path,
        metavar="TREE",
        help="use real ground truth: a development kit tree (directory or archive)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=port, default=8000, help="port; 0 picks a free port (default: %(default)s)")
    parser.add_argument(
        "--data", type=Path, default=DIRECTORY, help="directory for the demo's data (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Set up the server and its data, and serve until interrupted."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        edition = editions.load(arguments.edition or _edition_of(arguments.devkit))
        if arguments.devkit is not None and not arguments.devkit.exists():
            print(f"vocboard demo: {arguments.devkit} does not exist", file=sys.stderr)
            return 2
        _serve(arguments, edition)
    except UnknownEditionError as error:
        print(f"vocboard demo: {error}", file=sys.stderr)
        return 2
    except (SeedingError, ServerError) as error:
        print(f"vocboard demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. The data remain in {arguments.data}, and the next start uses them again.")
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _edition_of(tree: Path | None) -> str:
    """Return the edition named in the tree's path or in a directory directly below it."""
    if tree is None:
        return EDITION
    below = [child.name for child in tree.iterdir()] if tree.is_dir() else []
    found = re.search("|".join(editions.names()), " ".join([tree.resolve().name, *below]), re.IGNORECASE)
    return found[0] if found else EDITION


def _serve(arguments: argparse.Namespace, edition: Edition) -> None:
    arguments.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with only_demo_in(arguments.data, arguments.data / READY_FILE):
        _serve_from(arguments, edition)


def _serve_from(arguments: argparse.Namespace, edition: Edition) -> None:
    check_port(arguments.host, arguments.port)
    remove_incomplete(arguments.data)
    ready_file, stopped_file = arguments.data / READY_FILE, arguments.data / STOPPED_FILE
    filled = arguments.data / f"{edition.name.lower()}.filled"
    if ready_file.exists():  # it was killed
        ready_file.replace(stopped_file)
    settings = _settings(arguments, ready_file)
    print(f"Starting the server on port {arguments.port} ...", flush=True)
    with ThreadPoolExecutor(UPLOADS) as pool, closing(Database(settings.database)) as database:
        # Drawn while the server starts.
        is_synthetic = arguments.devkit is None and not filled.exists()
        drawn = pool.submit(draw, edition) if is_synthetic else None
        with DemoServer(settings, host=arguments.host, port=arguments.port) as server:
            demo = _demo_file(server.url, database, DemoFile.read(stopped_file))
            if not filled.exists():
                stage = Stage(database, demo, pool)
                if drawn is None:
                    _fill_with_real(stage, edition, arguments.devkit)
                else:
                    _fill_with_synthetic(stage, edition, drawn.result(), arguments.data)
                filled.touch()
                (arguments.data / INCOMPLETE_FILE).unlink(missing_ok=True)
            demo.write(ready_file)
            _tell(demo, ready_file)
            try:
                server.wait()
            finally:
                ready_file.replace(stopped_file)


def _demo_file(url: str, database: Database, earlier: DemoFile | None) -> DemoFile:
    """Return the credentials of the demo's participant and organiser, whose accounts are created if needed."""

    def account(email: str, name: str, role: Role, known: Account | None) -> Account:
        return ensure_account(database, email=email, name=name, affiliation="vocboard demo", role=role, known=known)

    return DemoFile(
        url,
        account(PARTICIPANT, PARTICIPANT_NAME, Role.PARTICIPANT, earlier.participant if earlier else None),
        account(ORGANISER, "Demo Organiser", Role.ORGANISER, earlier.organiser if earlier else None),
    )


def remove_incomplete(data: Path) -> None:
    """Remove what an interrupted first start has left in a directory that was empty before it."""
    incomplete = data / INCOMPLETE_FILE
    if incomplete.exists():
        for path in data.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path != incomplete:
                path.unlink()
    elif not any(data.iterdir()):
        incomplete.touch()


def _fill_with_real(stage: Stage, edition: Edition, tree: Path) -> None:
    challenge = DemoChallenge(stage, slug_of(edition), edition)
    description = REAL_DESCRIPTION.format(tree=tree.name, title=edition.title)
    challenge.create(0, title=edition.title, description=description, visibility="public", **REAL_RULES)
    print(f"Importing {tree} ...", flush=True)
    upload_ground_truth(stage.organiser, challenge.slug, tree)
    challenge.show_statistics(0)


def _fill_with_synthetic(stage: Stage, edition: Edition, drawn: Drawn, data: Path) -> None:
    """Create the main challenge, and the examples if there are none; all of them concurrently.

    Returns when leaderboards have their intervals, too.
    """
    print("Generating synthetic test sets and the results of synthetic methods ...", flush=True)
    examples = () if stage.organiser.get(f"/challenges/{SLUGS[-1]}") else EXAMPLES
    with ThreadPoolExecutor() as pool:
        begun = [pool.submit(fill_with_synthetic, stage, edition, drawn)]
        begun += [pool.submit(create_example, stage, example) for example in examples]
    for one in begun:
        one.result()
    (data / EXAMPLE_ARCHIVE).write_bytes(drawn.archives[EXAMPLE.name])
    wait_for("the statistics", stage.unfinished_jobs, lambda number: number == 0)


def _settings(arguments: argparse.Namespace, ready_file: Path) -> Settings:
    """Return the settings of the demo; the home page of the synthetic one says what there is to see."""
    settings = Settings(data_directory=arguments.data)
    if arguments.devkit is not None or settings.notice:
        return settings
    notice = NOTICE.format(
        participant=PARTICIPANT,
        organiser=ORGANISER,
        ready_file=ready_file,
        archive=ready_file.with_name(EXAMPLE_ARCHIVE),
    )
    return Settings(data_directory=arguments.data, notice=notice)


def _tell(demo: DemoFile, ready_file: Path) -> None:
    example = ready_file.with_name(EXAMPLE_ARCHIVE)

    def lines(role: str, account: Account) -> str:
        return f"  {role:<12} {account.email}\n{'password':>21}  {account.password}\n{'API token':>21}  {account.token}"

    print(
        f"\nvocboard is at {demo.url}   (REST API: {demo.url}/api/docs)\n\n"
        f"{lines('participant', demo.participant)}\n{lines('organiser', demo.organiser)}\n\n"
        f"These details are also in {ready_file}."
        + (f" Results to upload are in {example}." if example.exists() else "")
        + " Press Ctrl-C to stop.",
        flush=True,
    )
