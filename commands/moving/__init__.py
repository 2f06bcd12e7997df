"""`vocboard import`: create a draft challenge from a competition of Codabench, CodaLab or EvalAI."""

import argparse
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from vocboard.app.challenges.editions import chosen_edition
from vocboard.app.challenges.files import PICTURE_LIMIT_BYTES
from vocboard.app.challenges.models import MAIN_PHASE, Admission
from vocboard.app.challenges.rules import check_slug
from vocboard.app.forms import FieldChecks, checked_link
from vocboard.app.leaderboards.service import columns
from vocboard.client.connection import Connection
from vocboard.client.errors import ClientError, MisuseError
from vocboard.client.paths import path
from vocboard.client.terminal import duration, printable
from vocboard.commands.connecting import DONE, add_server_argument, connect, reporting_errors
from vocboard.commands.moving import codabench, codalab, evalai
from vocboard.commands.moving.bundle import Bundle, FileError
from vocboard.commands.moving.draft import Draft, Rules, rules_of, slug_of, written
from vocboard.commands.moving.results import reports
from vocboard.commands.moving.values import Values
from vocboard.evaluator.editions import Competition, Edition

PLATFORMS: Mapping[str, ModuleType] = {"codabench": codabench, "codalab": codalab, "evalai": evalai}
ADMITTED = {
    Admission.EVERYONE: "for everybody",
    Admission.REQUEST: "for people who ask and are admitted",
    Admission.DOMAIN: "for people with an address of some domains",
}
WIDTH = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Create a draft challenge from a competition of Codabench, CodaLab or EvalAI: texts, terms, phases, dates, "
        "quotas and, with --results, the leaderboard. Say what cannot be carried over. Without an edition, only say "
        "it. docs/moving.md is the guide. Exit status: 0 done, 2 the input is wrong, 3 the server cannot be reached."
    )
    parser.add_argument("platform", choices=PLATFORMS, help="where the competition was")
    parser.add_argument("config", metavar="CONFIG", type=Path, help="the bundle (zip file or directory), or its YAML")
    edition = parser.add_mutually_exclusive_group()
    edition.add_argument("--edition", metavar="NAME", default="", help="for example VOC2012")
    edition.add_argument("--edition-file", metavar="FILE", type=Path, help="your own; check it with check-edition")
    parser.add_argument("--slug", metavar="NAME", help="short name in URLs (default: from the title)")
    parser.add_argument(
        "--results", metavar="FILE", type=Path, help="leaderboard of the last phase: CSV, or JSON of EvalAI's API"
    )
    parser.add_argument("--results-column", metavar="NAME", default="", help="what ranks (default: the first column)")
    parser.add_argument("--percent", action="store_true", help="the scores are in per cent")
    parser.add_argument("--competition", metavar="KEY", help="whose leaderboard it is (default: the only one)")
    parser.add_argument("--source", metavar="URL", default="", help="address of that leaderboard, to link to")
    add_server_argument(parser)


@reporting_errors
def run(arguments: argparse.Namespace) -> int:
    """Read the competition, say what becomes of it, and create the draft."""
    platform = PLATFORMS[arguments.platform]
    bundle = Bundle(arguments.config, platform.NAMES)
    wrong: list[str] = []
    remarks: list[str] = []
    values = Values(bundle.values(), "", wrong, remarks)
    if platform is not evalai:  # Codabench takes bundles of CodaLab, too
        platform = codabench if values.text("version").startswith("2") else codalab
    draft: Draft = platform.read(bundle, values)
    draft.remarks[:0] = remarks
    checks = FieldChecks()
    slug = slug_of(draft.title) if arguments.slug is None else arguments.slug
    check_slug(checks, slug)
    checked_link(checks, "source", arguments.source)
    edition = _edition(arguments, checks)
    wrong += [f"{name}: {message}" for name, message in checks.messages.items()]
    rules = rules_of(draft, edition, wrong)
    competition, rows = None, []
    try:
        if arguments.results is not None:
            competition = _competition(arguments.competition, edition)
            rows = reports(
                arguments.results,
                draft,
                column=arguments.results_column,
                is_percent=arguments.percent,
                classes=columns(competition) if competition else (),
                source=arguments.source,
            )
    except MisuseError as error:
        wrong.append(str(error))
    if wrong:
        raise MisuseError("\n".join([f"{arguments.config} cannot be imported:", *(f"  {each}" for each in wrong)]))
    if edition is not None:
        rules.challenge["slug"] = slug
        if arguments.edition_file is None:
            rules.challenge["edition"] = edition.name
        else:
            rules.challenge["edition_file"] = arguments.edition_file.read_text(encoding="utf-8-sig")
        with connect(arguments.server) as connection:
            create(connection, rules, rows, competition)
            _send_picture(connection, slug, bundle, draft)
        end = f"The draft is at {connection.address}/organise/{slug}. Upload its ground truth next."
    else:
        end = "Nothing is created yet: give --edition, or --edition-file. `vocboard new-edition` helps to write one."
    print("\n".join([*_report(draft, rules, values, platform.REASONS, len(rows)), "", end]))
    return DONE


def _edition(arguments: argparse.Namespace, checks: FieldChecks) -> Edition | None:
    if arguments.edition_file is None:
        return chosen_edition(checks, arguments.edition, None) if arguments.edition else None
    try:
        return chosen_edition(checks, "", arguments.edition_file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        checks.fail("edition_file", str(error))
        return None


def _competition(key: str | None, edition: Edition | None) -> Competition | None:
    if edition is None:
        return None
    keys = list(edition.competitions)
    if (key is None and len(keys) > 1) or (key is not None and key not in keys):
        raise MisuseError(f"say whose leaderboard the results are, with --competition: {', '.join(keys)}")
    return edition.competitions[key or keys[0]]


def create(connection: Connection, rules: Rules, rows: list[dict[str, Any]], competition: Competition | None) -> None:
    """Create the draft with its phases, terms and results, or nothing."""
    connection.post(path("challenges"), rules.challenge)
    slug = rules.challenge["slug"]
    try:
        for phase in rules.phases:
            connection.post(path("challenges", slug, "phases"), phase)
        if rules.terms:
            connection.post(path("challenges", slug, "terms"), {"text": rules.terms}, method="PUT")
        if competition is not None:
            board = path("challenges", slug, "leaderboards", competition.key, "reported")
            for row in rows:
                connection.post(f"{board}?phase={MAIN_PHASE}", row)
    except ClientError:
        connection.post(path("challenges", slug), method="DELETE")
        raise


def _send_picture(connection: Connection, slug: str, bundle: Bundle, draft: Draft) -> None:
    """Upload the picture as the logo; remark on one that cannot be used."""
    if not (name := draft.picture):
        return
    try:
        content = bundle.read(name, limit=PICTURE_LIMIT_BYTES)
        connection.send_file(path("challenges", slug, "files"), {"kind": "logo"}, Path(name).name, content)
    except (FileError, ClientError) as error:
        draft.remarks.append(f"The picture {name} is left out ({error}). Upload one with *Set-up → Files*.")


def _report(draft: Draft, rules: Rules, values: Values, reasons: Mapping[str, str], results: int) -> Iterator[str]:
    """Yield lines that say what is carried over and what is not."""
    yield "Carried over:"
    pages = f"{len(draft.pages)} pages, {len(rules.challenge.get('description', '')):,} characters"
    yield f"  {draft.title}: {pages}{', terms' if rules.terms else ''}{f', {results} results' if results else ''}"
    for title, phase in rules.listed:
        opens, closes = (written(moment) if moment else "…" for moment in (phase.opens_at, phase.closes_at))
        quota = f"{phase.quota_count} in {duration(timedelta(seconds=phase.quota_period_seconds))}"
        yield printable(f"  {title}: {opens} to {closes}, submissions {quota}, {ADMITTED[phase.admission]}")
    yield "Not carried over, or changed:"
    remarks = list(draft.remarks)
    if draft.columns:
        columns = ", ".join(column.described for column in draft.columns)
        remarks.append(
            f"The columns {columns}: which columns leaderboards have, the metrics of the edition file decide."
        )
    unread: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(values.unread()):
        unread[reasons.get(name, "there are no such settings here")].append(name)
    remarks += (f"{', '.join(names)}: {reason}." for reason, names in unread.items())
    for remark in remarks:
        yield from textwrap.wrap(printable(remark), WIDTH, initial_indent="  - ", subsequent_indent="    ")
