"""`vocboard demo`: a whole server on this machine, filled with results to look at, or run on a real ground truth."""

import argparse
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType

from vocboard import migrations
from vocboard.app.accounts.models import Role
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.commands.demo.accounts import Account, DemoFile, ensure_account
from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.methods import Method
from vocboard.commands.demo.scenes import draw_world
from vocboard.commands.demo.seeding import (
    Api,
    SeedingError,
    ensure_challenge,
    has_ground_truth,
    submit_cast,
    upload_ground_truth,
)
from vocboard.commands.demo.server import DemoServer, ServerError
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, UnknownEditionError

EDITION = "VOC2012"
DIRECTORY = Path("demo-data")
READY_FILE = "demo.json"  # there while the demo runs
STOPPED_FILE = "demo-stopped.json"  # the same between two starts, so that accounts stay
SEED = 2005  # of the made-up world; the year of the first challenge
DOMAIN = "demo.vocboard.example"  # of the accounts' addresses; reserved, so that no mail can reach anyone

SYNTHETIC_DESCRIPTION = (
    "A made-up test set for looking around: scenes of ellipses, drawn from a seed, scored by the rules of {title}.\n\n"
    "The methods are made up too: each sees the scenes through its own noise, so that better ones score higher. "
    "Sign in as the participant to submit results of your own, as the organiser to see everyone's."
)
REAL_DESCRIPTION = "The ground truth of {tree}, scored by the rules of {title}."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--edition", help=f"edition of the challenge (default: that of the tree, or {EDITION})")
    parser.add_argument(
        "--devkit",
        type=Path,
        metavar="TREE",
        help="use this ground truth: a development kit tree or an archive of one",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port; 0 for a free one (default: %(default)s)")
    parser.add_argument(
        "--data", type=Path, default=DIRECTORY, help="directory of all the demo's data (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Set up, fill, and serve until interrupted."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        edition = editions.load(arguments.edition or _edition_of(arguments.devkit))
        if arguments.devkit is not None and not arguments.devkit.exists():
            print(f"vocboard demo: there is no {arguments.devkit}", file=sys.stderr)
            return 2
        _serve(arguments, edition)
    except UnknownEditionError as error:
        print(f"vocboard demo: {error}", file=sys.stderr)
        return 2
    except (SeedingError, ServerError) as error:
        print(f"vocboard demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. The data stay in {arguments.data}; the next start goes on with them.")
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _edition_of(tree: Path | None) -> str:
    """The edition whose name stands in the tree's path or just below it."""
    if tree is None:
        return EDITION
    below = [child.name for child in tree.iterdir()] if tree.is_dir() else []
    found = re.search("|".join(editions.names()), " ".join([tree.resolve().name, *below]), re.IGNORECASE)
    return found[0] if found else EDITION


def _serve(arguments: argparse.Namespace, edition: Edition) -> None:
    arguments.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings = Settings(data_directory=arguments.data)
    ready_file, stopped_file = arguments.data / READY_FILE, arguments.data / STOPPED_FILE
    if ready_file.exists():  # it was killed
        ready_file.replace(stopped_file)
    earlier = DemoFile.read(stopped_file)
    migrations.upgrade(settings.database)
    database = Database(settings.database)
    participant = ensure_account(
        database,
        email=f"participant@{DOMAIN}",
        name="Demo Participant",
        affiliation="vocboard demo",
        role=Role.PARTICIPANT,
        known=earlier.participant if earlier else None,
    )
    organiser = ensure_account(
        database,
        email=f"organiser@{DOMAIN}",
        name="Demo Organiser",
        affiliation="vocboard demo",
        role=Role.ORGANISER,
        known=earlier.organiser if earlier else None,
    )
    print(f"Starting the server on port {arguments.port} ...", flush=True)
    with DemoServer(settings, host=arguments.host, port=arguments.port) as server:
        filled = arguments.data / f"{edition.name.lower()}.filled"
        if not filled.exists():
            own, organising = Api(server.url, participant.token), Api(server.url, organiser.token)
            if arguments.devkit is None:
                _fill_with_made_up(edition, server.url, database, own=own, organiser=organising)
            else:
                _fill_with_real(edition, arguments.devkit, organising)
            filled.touch()
        demo = DemoFile(server.url, participant, organiser)
        demo.write(ready_file)
        _tell(demo, ready_file)
        try:
            server.wait()
        finally:
            ready_file.replace(stopped_file)


def _fill_with_real(edition: Edition, tree: Path, organiser: Api) -> None:
    description = REAL_DESCRIPTION.format(tree=tree.name, title=edition.title)
    slug = ensure_challenge(organiser, edition, title=edition.title, description=description)
    if not has_ground_truth(organiser, slug):
        print(f"Importing {tree} ...", flush=True)
        upload_ground_truth(organiser, slug, tree)


def _fill_with_made_up(edition: Edition, url: str, database: Database, *, own: Api, organiser: Api) -> None:
    print("Drawing a made-up test set and the results of made-up methods ...", flush=True)
    world = draw_world(edition, seed=SEED)
    title = f"Made-up objects, by the rules of {edition.title}"
    slug = ensure_challenge(
        organiser, edition, title=title, description=SYNTHETIC_DESCRIPTION.format(title=edition.title)
    )
    if not has_ground_truth(organiser, slug):
        with tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
            upload_ground_truth(organiser, slug, write_development_kit(world, edition, Path(directory)))
    submit_cast(slug, edition, world, _authors(url, database), own)


def _authors(url: str, database: Database) -> Callable[[Method], Api]:
    """The API as the person whom a method belongs to: one account a first contributor."""

    @cache
    def api(affiliation: str, name: str) -> Api:
        email = f"{re.sub('[^a-z]+', '.', name.lower()).strip('.')}@{DOMAIN}"
        account = ensure_account(database, email=email, name=name, affiliation=affiliation, role=Role.PARTICIPANT)
        return Api(url, account.token)

    return lambda method: api(method.affiliation, method.contributors.partition(",")[0])


def _tell(demo: DemoFile, ready_file: Path) -> None:
    def lines(role: str, account: Account) -> str:
        return f"  {role:<12} {account.email}\n{'password':>21}  {account.password}\n{'API token':>21}  {account.token}"

    print(
        f"\nvocboard is at {demo.url}   (REST API: {demo.url}/api/docs)\n\n"
        f"{lines('participant', demo.participant)}\n{lines('organiser', demo.organiser)}\n\n"
        f"The same is in {ready_file}. Press Ctrl-C to stop.",
        flush=True,
    )
