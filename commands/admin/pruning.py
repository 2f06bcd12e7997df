"""`vocboard admin prune`: remove unused archives. The web process also does this periodically."""

import argparse

from vocboard.app.database import Database
from vocboard.app.intake.resumable import remove_expired
from vocboard.app.settings import Settings
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.pruning import prune as prune_archives
from vocboard.commands.admin.actions import Actions


def configure(actions: Actions) -> None:
    """Add the action."""
    action = actions.add_parser("prune", help="remove unused archives")
    action.set_defaults(do=prune)


def prune(_arguments: argparse.Namespace, database: Database, settings: Settings) -> int:
    """Prune once, and print what was removed."""
    store = archive_store(settings)
    pruned = prune_archives(database, store, withdrawn_kept_for=settings.withdrawn_archives_kept_for)
    expired = remove_expired(database, store)
    print(f"{pruned.withdrawn} archives of withdrawn submissions removed")
    print(f"{expired} files of expired resumable uploads removed")
    print(f"{pruned.abandoned} partial files of killed processes removed")
    print(f"{pruned.unknown} archives without a submission set aside, {pruned.restored} restored")
    return 0
