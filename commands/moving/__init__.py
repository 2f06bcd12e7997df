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
from vocboard.app.challenges.models import MAIN_PHASE, Admission
from vocboard.app.challenges.rules import check_slug
from vocboard.app.forms import FieldChecks, checked_link
from vocboard.app.leaderboards.service import columns
from vocboard.client.connection import Connection
from vocboard.client.errors import ClientError, MisuseError
from vocboard.client.paths import path
from vocboard.client.terminal import duration, printable
from vocboard.commands.connecting import add_server_argument, connect
from vocboard.commands.moving import codabench, codalab, evalai
from vocboard.commands.moving.bundle import Bundle
from vocboard.commands.moving.draft import Draft, Rules, rules_of, slug_of, written
from vocboard.commands.moving.results import reports
from vocboard.commands.moving.values import Values
from vocboard.commands.reporting import DONE
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.problems import counted

PLATFORMS: Mapping[str, ModuleType] = {"codabench": codabench, "codalab": codalab, "evalai": evalai}
ADMITTED = {
    Admission.EVERYONE: "for everybody",
    Admission.REQUEST: "for people who ask and are admitted",
    Admission.DOMAIN: "for people with an address of some domains",
}
MAX_COLUMNS = 12  # that the report names
WIDTH = 100
SAMPLE = """# Replace this file: it says what is scored.
name = "Sample"
title = "Sample edition, to be replaced"
classes = ["sample"]

[tasks.detection]
file = "Main/{competition}_det_{image_set}.txt"
metric = "average_precision"
interpolation = "area"

[[competitions]]
number = 1
task = "detection"
training = "any"
image_set = "test"
"""
REPLACE = "Replace its sample edition there by your own edition file, and upload its ground truth."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Create a draft challenge from a competition of Codabench, CodaLab or EvalAI: texts, terms, phases, dates, "
        "quotas and, with --results, the leaderboard. Say what cannot be carried over. Without an edition, the draft "
        "has a sample to be replaced. docs/moving.md is the guide. Exit status: 0 done, 2 the input is wrong, 3 the "
        "server cannot be reached."
    )
    parser.add_argument("platform", choices=PLATFORMS, help="where the competition was")
    parser.add_argument("config", metavar="CONFIG", type=Path, help="the bundle (zip file or directory), or its YAML")
    edition = parser.add_mutually_exclusive_group()
    edition.add_argument("--edition", metavar="NAME", default="", help="for example VOC2012")
    edition.add_argument("--edition-file", metavar="FILE", type=Path, help="your own; check it with check-edition")
    parser.add_argument("--dry-run", action="store_true", help="create nothing, only say what would become of it")
    parser.add_argument("--slug", metavar="NAME", help="short name in URLs (default: of the title)")
    parser.add_argument(
        "--results", metavar="FILE", type=Path, help="leaderboard of the last phase: CSV, or JSON of EvalAI's API"
    )
    parser.add_argument("--results-column", metavar="NAME", default="", help="what ranks (default: the first column)")
    parser.add_argument("--percent", action="store_true", help="the scores are in per cent")
    parser.add_argument("--competition", metavar="KEY", help="whose leaderboard it is (default: the only one)")
    parser.add_argument("--source", metavar="URL", default="", help="address of that leaderboard, to link to")
    add_server_argument(parser)


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
    slug = arguments.slug or slug_of(draft.title)
    if draft.title or slug:  # a title that is missing is said anyway
        check_slug(checks, slug)
    checked_link(checks, "source", arguments.source)
    text = _edition_file(arguments, checks)
    edition = None if "edition_file" in checks.messages else chosen_edition(checks, arguments.edition, text)
    wrong += [f"{name}: {message}" for name, message in checks.messages.items()]
    rules = rules_of(draft, edition, wrong)
    own = {"edition": arguments.edition} if text is None else {"edition_file": text}
    rules.challenge.update(slug=slug, **own)
    board, rows = "", []
    try:
        if arguments.results is not None:
            competition = _competition(arguments, edition) if edition else None
            board = competition.key if competition else ""
            rows = reports(
                arguments.results,
                draft,
                column=arguments.results_column,
                is_percent=arguments.percent,
                classes=columns(competition) if competition else (),
                source=arguments.source,
            )
    except MisuseError as error:
        wrong += str(error).split("\n")
    if wrong:
        listed = (f"  {printable(each)}" for each in wrong)
        raise MisuseError("\n".join([f"{arguments.config} cannot be imported:", *listed]))
    end = "Nothing is created."
    if not arguments.dry_run:
        with connect(arguments.server) as connection:
            create(connection, rules, rows, board)
            end = f"The draft is at {connection.address}/organise/{slug}. "
        end += REPLACE if text == SAMPLE else "Upload its ground truth next."
    for line in (*_report(draft, rules, values, platform.REASONS, len(rows)), "", end):
        print(printable(line))
    return DONE


def _edition_file(arguments: argparse.Namespace, checks: FieldChecks) -> str | None:
    """Return the content of the edition file, the sample if none was chosen; None for a built-in edition."""
    if arguments.edition_file is None:
        return None if arguments.edition else SAMPLE
    try:
        return str(arguments.edition_file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        checks.fail("edition_file", str(error))
        return None


def _competition(arguments: argparse.Namespace, edition: Edition) -> Competition:
    if arguments.edition_file is None and not arguments.edition:
        raise MisuseError("--results needs --edition or --edition-file, which say what is scored")
    keys = list(edition.competitions)
    key = arguments.competition or (keys[0] if len(keys) == 1 else None)
    if key not in keys:
        raise MisuseError(f"say whose leaderboard the results are, with --competition: {', '.join(keys)}")
    return edition.competitions[key]


def create(connection: Connection, rules: Rules, rows: list[dict[str, Any]], board: str) -> None:
    """Create the draft with its phases and terms, and results on a leaderboard of its main phase; or nothing."""
    connection.post(path("challenges"), rules.challenge)
    slug = rules.challenge["slug"]
    try:
        for phase in rules.phases:
            connection.post(path("challenges", slug, "phases"), phase)
        if rules.terms:
            connection.post(path("challenges", slug, "terms"), {"text": rules.terms}, method="PUT")
        for row in rows:
            where = path("challenges", slug, "leaderboards", board, "reported")
            connection.post(f"{where}?phase={MAIN_PHASE}", row)
    except (ClientError, KeyboardInterrupt) as error:
        try:
            connection.post(path("challenges", slug), method="DELETE")
        except ClientError:
            raise ClientError(
                f"{str(error) or 'interrupted'}; the draft {slug} is incomplete, delete it and import again"
            ) from error
        raise


def _report(draft: Draft, rules: Rules, values: Values, reasons: Mapping[str, str], results: int) -> Iterator[str]:
    """Yield lines that say what is carried over and what is not."""
    yield "Carried over:"
    pages = f"{counted(len(draft.pages), 'page')}, {counted(len(rules.challenge.get('description', '')), 'character')}"
    added = f", {counted(results, 'result')}" if results else ""
    yield f"  {draft.title}: {pages}{', terms' if rules.terms else ''}{added}"
    for title, phase in rules.listed:
        opens, closes = (written(moment) if moment else "…" for moment in (phase.opens_at, phase.closes_at))
        quota = f"{phase.quota_count} in {duration(timedelta(seconds=phase.quota_period_seconds))}"
        yield f"  {title}: {opens} to {closes}, submissions {quota}, {ADMITTED[phase.admission]}"
    yield "Not carried over, or changed:"
    remarks = [*draft.remarks, *(f"{', '.join(titles)} {text}" for text, titles in draft.of_phases.items())]
    if described := [*dict.fromkeys(column.described for column in draft.columns)]:
        shown = ", ".join(described[:MAX_COLUMNS]) + f" and {len(described) - MAX_COLUMNS} more" * (
            len(described) > MAX_COLUMNS
        )
        remarks.append(f"The columns {shown}: which ones leaderboards have, the metrics of the edition file decide.")
    unread: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(values.unread()):
        unread[reasons.get(name, "there are no such settings here")].append(name)
    remarks += (f"{', '.join(names)}: {reason}." for reason, names in unread.items())
    for remark in remarks:
        yield from textwrap.wrap(remark, WIDTH, initial_indent="  - ", subsequent_indent="    ")
