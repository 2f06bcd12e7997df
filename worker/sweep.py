"""The periodic sweep, which cleans up, and adds jobs for what is out of date; and freezing leaderboards."""

from functools import partial

from vocboard.app.evaluations import exact_copies, scorings, showcase
from vocboard.app.jobs import heartbeats
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.leaderboards import freezing, sequence_queue
from vocboard.app.leaderboards import statistics_queue as statistics
from vocboard.app.participating import deadlines
from vocboard.app.rescores import queue as rescores
from vocboard.app.submissions import queue as submissions
from vocboard.evaluator import VERSION
from vocboard.worker import ground_truth_import
from vocboard.worker.process import Process


def run(process: Process, claim: Claim) -> None:
    """Sweep, and let the next sweep be due after the interval."""
    sweep(process)
    with process.database.writing() as session:
        jobs.release(session, claim, after=process.settings.sweep_interval)


def freeze(process: Process, claim: Claim) -> None:
    """Freeze the leaderboards of a phase; again after the interval, until their copies are final."""
    with process.database.writing() as session:
        if freezing.freeze_phase(session, claim.key):
            jobs.release(session, claim, after=process.settings.sweep_interval)
        else:
            jobs.finish(session, claim)


def sweep(process: Process) -> None:
    """Take all steps, each in its own transaction: one would lock submissions before leaderboards."""
    for step in (
        submissions.repair,
        heartbeats.remove_old,
        exact_copies.synchronise,
        statistics.remove_unneeded,
        scorings.start_scorings,
        partial(rescores.add_missing, evaluator_version=VERSION),
        deadlines.remind,
        showcase.add_outdated,
        statistics.add_outdated,
        sequence_queue.mark_changed,
        jobs.remove_old,
    ):
        with process.database.writing() as session:
            step(session)
    ground_truth_import.clean_up(process)
