"""Actions on backups; see `commands.backups`."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nacl.public import PrivateKey, PublicKey

from vocboard.app.audit import service as audit
from vocboard.app.jobs import heartbeats
from vocboard.app.storage.sealed_files import SealError
from vocboard.app.storage.stores import archive_store, sealed_truth
from vocboard.commands.admin.actions import ActionError, Actions, Call, Outcome, argument
from vocboard.commands.backups.backup import Installation, take
from vocboard.commands.backups.backup import restore as restore_backup
from vocboard.commands.backups.database_copy import CopyError
from vocboard.commands.backups.repository import Repository
from vocboard.evaluator.problems import counted

ACTIONS = Actions()
DIRECTORY = argument("directory", type=Path, metavar="DIRECTORY", help="the directory of backups")


@ACTIONS.runs(argument("file", type=Path, metavar="FILE", help="for the private key, not on the server"))
def make_backup_key(call: Call) -> Outcome:
    """Make the key pair of backups: write the private key to a file, and print the public key for the server.

    Nothing on the server can open backups without the file.
    """
    key = PrivateKey.generate()
    try:
        descriptor = os.open(call.arguments.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ActionError(f"{call.arguments.file}: {error.strerror}") from error
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{bytes(key).hex()}\n")
    return f"VOCBOARD_BACKUP_KEY={bytes(key.public_key).hex()}"


@ACTIONS.runs(
    DIRECTORY,
    argument("--recipient", metavar="KEY", help="the public key to seal it to (default: VOCBOARD_BACKUP_KEY)"),
    argument("--keep", type=int, metavar="COUNT", help="remove all backups but the newest (default: keep all)"),
)
def backup(call: Call) -> Outcome:
    """Write a backup of database, archives and ground truth, sealed to a public key.

    Contents that an earlier backup in the directory has are not written again.
    """
    if call.arguments.keep is not None and call.arguments.keep < 1:
        raise ActionError("--keep has to be at least 1.")
    key = _key(call.arguments.recipient or call.settings.backup_key)
    if key is None:
        raise ActionError("Set VOCBOARD_BACKUP_KEY, or --recipient, to what `vocboard admin make-backup-key` prints.")
    repository = Repository(call.arguments.directory)
    with _reporting():
        taken = take(_installation(call), repository, PublicKey(key), keep=call.arguments.keep)
    details = {"backup": taken.name}
    with call.writing() as at:
        audit.record(at.session, actor=None, action="server.back_up", subject=audit.SERVER, details=details)
    print(f"backup {taken.name}: the database and {counted(taken.files, 'file')}, {taken.added} of them new")
    if taken.removed:
        print(f"{counted(taken.removed, 'earlier backup')} removed")
    for sha256 in taken.missing:
        print(f"missing or damaged in the store: {sha256}")
    return 1 if taken.missing else 0


@ACTIONS.runs(
    DIRECTORY,
    argument("--identity", "--key-file", type=Path, required=True, metavar="FILE", help="the private key"),
    argument("--backup", metavar="NAME", help="see list-backups (default: the newest)"),
)
def restore(call: Call) -> Outcome:
    """Restore a backup into an empty database, add what store and ground truth lack, and say what is missing.

    The exit status is 1 if anything is missing.
    """
    repository = Repository(call.arguments.directory)
    names = repository.names()
    name = call.arguments.backup or (names[-1] if names else "")
    if name not in names:
        raise ActionError(f"{call.arguments.directory} has no backup {name}".rstrip() + ".")
    try:
        key = _key(call.arguments.identity.read_text(encoding="ascii").strip())
    except (OSError, UnicodeDecodeError) as error:
        raise ActionError(f"{call.arguments.identity}: {error}") from error
    if key is None:
        raise ActionError(f"{call.arguments.identity} has no key of make-backup-key.")
    with _reporting():
        restored = restore_backup(_installation(call), repository, name, PrivateKey(key))
    with call.writing() as at:
        heartbeats.remove_all(at.session)  # of workers that are not here; watchers would miss them for a day
        audit.record(at.session, actor=None, action="server.restore", subject=audit.SERVER, details={"backup": name})
    print(f"restored {name}, of vocboard {restored.header.version}: the database and {counted(restored.added, 'file')}")
    there = counted(restored.present, "file was", "files were")
    print(f"{there} there already")
    for sentence in restored.missing:
        print(sentence)
    if restored.columns:
        lack = counted(restored.columns, "submission lacks its", "submissions lack their")
        print(f"{lack} columns; workers read their archives again")
    if restored.unknown:
        belong = counted(restored.unknown, "content of the store belongs", "contents of the store belong")
        print(f"{belong} to no row; `prune` sets them aside for 7 days")
    return 1 if restored.missing else 0


@ACTIONS.runs(DIRECTORY)
def list_backups(call: Call) -> Outcome:
    """List backups, the oldest first."""
    os.listdir(call.arguments.directory)  # an error if it is missing, unlike one without backups
    return "\n".join(Repository(call.arguments.directory).names())


def _installation(call: Call) -> Installation:
    settings = call.settings
    return Installation(
        call.database,
        settings.database,
        archive_store(settings),
        settings.truth,
        sealed_truth(settings),
        settings.withdrawn_archives_kept_for,
    )


def _key(text: str) -> bytes | None:
    key = text.removeprefix("VOCBOARD_BACKUP_KEY=")
    return bytes.fromhex(key) if re.fullmatch("[0-9a-f]{64}", key) else None


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except BlockingIOError as error:
        raise ActionError("Another backup is being written.") from error
    except (OSError, CopyError, SealError) as error:
        raise ActionError(str(error)) from error
