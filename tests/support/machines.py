"""The tests of the web application on two machines, if `VOCBOARD_TEST_MACHINES=2` asks for it.

Each site is then two web processes, which answer a client's requests in turn, and workers are two processes in turn.
All four share PostgreSQL, Redis and an object store, and have a directory each. The first machine's is deleted in the
middle of each test, again and again.
"""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import httpx
import pytest
from pydantic import SecretStr

from vocboard.app.intake import reading
from vocboard.app.settings import Settings

ARE_TWO = os.environ.get("VOCBOARD_TEST_MACHINES") == "2"
REQUESTS_BEFORE_LOSS = 3
SECRET_KEY = SecretStr("a key that two machines share, 0123456789")

# Tests that patch or read the memory of a web process or worker, or look at, damage or block files of the machine that
# they run on. On two machines, these are in other processes, or in the store.
INSIDE = (
    "tests/app/api/test_attacks_on_uploads.py::test_an_upload_has_a_limited_number_of_parts",
    "tests/app/api/test_attacks_on_uploads.py::test_an_upload_that_is_being_checked",
    "tests/app/api/test_conformance.py",
    "tests/app/api/test_events.py::test_one_person_cannot_open_streams_without_end",
    "tests/app/api/test_resumable_uploads.py::test_an_error_of_the_disk",
    "tests/app/api/test_resumable_uploads.py::test_an_expired_upload_is_gone_with_its_file",
    "tests/app/api/test_resumable_uploads.py::test_an_upload_that_the_disk_has_no_room_for",
    "tests/app/api/test_resumable_uploads.py::test_parts_are_recorded_while_they_arrive",
    "tests/app/api/test_resumable_uploads.py::test_two_web_processes_share_an_upload",
    "tests/app/api/test_upload_limits.py::test_a_client_that_goes_away_ends_the_checks",
    "tests/app/api/test_upload_limits.py::test_a_long_list_of_images_is_read_once",
    "tests/app/api/test_upload_limits.py::test_a_refused_file_is_removed_outside_the_event_loop",
    "tests/app/api/test_upload_limits.py::test_an_archive_that_is_lost_while_it_is_read",
    "tests/app/api/test_upload_limits.py::test_an_archive_that_the_disk_fails_to_take",
    "tests/app/intake/test_isolation.py::test_the_web_application_ends_its_server",
    "tests/app/jobs/test_jobs.py::test_a_machine_with_a_wrong_clock",  # they have one that tests move
    "tests/app/leaderboards/test_current.py::test_statements_are_as_many",
    "tests/app/leaderboards/test_reported.py::test_they_change_no_rank",  # pages name the directory of emails
    "tests/app/pages/test_signing_in_pages.py::test_a_client_that_disconnects_leaves_the_queue",
    "tests/app/pages/test_signing_in_pages.py::test_a_newcomer_registers",  # pages name the directory of emails
    "tests/app/pages/test_signing_in_pages.py::test_the_time_to_ask_for_a_new_password",
    "tests/app/pages/test_submit_pages.py::test_a_store_that_cannot_be_reached",
    "tests/app/storage/test_archive_stores.py::test_the_settings_choose_a_directory",
    "tests/app/submissions/test_pruning.py::test_an_archive_that_no_row_knows",
    "tests/app/submissions/test_pruning.py::test_identical_archives_are_uploaded",
    "tests/app/submissions/test_service.py::test_an_accepted_upload_is_queued_with_its_archive",
    "tests/app/test_ladder.py::test_no_view_depends",  # pages name the directory of emails
    "tests/app/test_settings.py::test_secrets_can_be_in_files",
    "tests/app/transfer/test_phases.py::test_statistics_are_computed_once_the_ground_truth_is_on_the_new_server",
    "tests/app/web/test_access_log.py::test_a_refused_upload_is_logged",
    "tests/app/web/test_headers.py::test_our_errors_have_the_headers",
    "tests/app/web/test_http_protocol.py",
    "tests/app/web/test_metrics.py::test_says_what_waits",
    "tests/app/web/test_problem_details.py::test_a_database_that_cannot_be_reached",
    "tests/app/web/test_problem_details.py::test_error_pages_know_who_is_signed_in",
    "tests/app/web/test_production.py::test_health_checks",
    "tests/app/web/test_production.py::test_secret_addresses_are_not_logged",
    "tests/app/web/test_retrying.py::test_a_deadlock",
    "tests/app/web/test_tracing.py",
    "tests/worker/test_diagnoses.py::test_a_failed_diagnosis_says_why",
    "tests/worker/test_failures.py::test_a_switch_that_storing_waits_for",
    "tests/worker/test_ground_truth_import.py",
    "tests/worker/test_health.py::test_ready_says_that",
    "tests/worker/test_privileges.py::test_each_process_may_do_its_part",
    "tests/worker/test_recovery.py",
    "tests/worker/test_rescore_work.py::test_it_waits_for_ground_truth_that_is_away",
    "tests/worker/test_showcase.py::test_drawings_need_neither",
    "tests/worker/test_statistics.py::test_a_change_during_the_computation",
    "tests/worker/test_statistics.py::test_a_failure_concerns_one_leaderboard",
)

Serve = Callable[[Settings, socket.socket], None]
_workers = itertools.cycle(("first-worker", "second-worker"))


def of(settings: Settings, machine: str) -> Settings:
    """Return the settings of a machine, with a directory of its own."""
    key = settings.secret_key if settings.secret_key.get_secret_value() else SECRET_KEY
    directory = settings.data_directory / "machines" / machine
    shared = {"secret_key": key, "database_url": settings.database, "broker_url": settings.broker}
    return settings.model_copy(update={"data_directory": directory, **shared})


def next_worker(settings: Settings) -> Settings:
    """Return the settings of one of two workers, in turn; on one machine, those given."""
    return of(settings, next(_workers)) if ARE_TWO else settings


def in_process_of_its_own(work: Callable[[], bool]) -> bool:
    """Let another process, forked from this one, do something; return what it returns.

    Raises:
        RuntimeError: it ended otherwise; its traceback is printed.
    """
    child = os.fork()
    if not child:
        _end_with(work)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, 1):
        raise RuntimeError(f"the worker ended with {status}")
    return bool(status)


def _end_with(work: Callable[[], object]) -> NoReturn:
    status = 2
    try:
        status = int(bool(work()))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


class Machines:
    """Two web processes. They start when somebody first wants to send a request, as this process is by then.

    Args of the constructor:
        serve: runs a web process with settings and a listening socket.
    """

    def __init__(self, settings: Settings, serve: Serve, port: int) -> None:
        self._serve = serve
        self._settings = [of(settings, name) for name in ("first", "second")]
        self._listeners = [socket.create_server(("127.0.0.1", number), backlog=128) for number in (port, 0)]
        self._processes: list[int] = []
        self._requests = itertools.count(1)
        self._lock = threading.Lock()
        self._ports = [listener.getsockname()[1] for listener in self._listeners]
        self.port = self._ports[0]
        self._in_flight = 0

    def start(self) -> None:
        """Fork the two processes, unless they run."""
        with self._lock:
            if self._processes:
                return
            server = reading.reading_server()
            server.start()
            for settings, listener in zip(self._settings, self._listeners, strict=True):
                child = os.fork()
                if not child:
                    server._running[0][0].poll = lambda: None  # type: ignore[method-assign]  # as it is not its child
                    os.setsid()
                    _end_with(partial(self._serve, settings, listener))
                self._processes.append(child)

    def port_for(self, url: httpx.URL) -> int:
        """Return where the next request goes. Now and then, delete the first machine's directory before.

        Not while it answers: it says then that the upload is to be sent again; see tests/app/api/test_upload_limits.py.

        What is about an unfinished upload goes to the second one, as a proxy sends a person to one machine; see
        docs/operators.md.
        """
        with self._lock:
            number = next(self._requests)
            if number % REQUESTS_BEFORE_LOSS == 0 and not self._in_flight:
                shutil.rmtree(self._settings[0].data_directory, ignore_errors=True)
            self._in_flight += 1
        return int(self._ports[1 if is_about_upload(url) else number % 2])

    def answered(self) -> None:
        """Note that a request is no longer in flight."""
        with self._lock:
            self._in_flight -= 1

    def url_for(self, path: str) -> str:
        """Return where a request goes that is sent without a client."""
        return f"http://127.0.0.1:{self._ports[int(is_about_upload(httpx.URL(path)))]}"

    def close(self) -> None:
        """Kill the processes."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for listener in self._listeners:
            listener.close()


def is_about_upload(url: httpx.URL) -> bool:
    """Whether a request is about an unfinished upload."""
    return url.path.startswith("/api/v1/uploads") or "upload" in url.params


class InTurn(httpx.HTTPTransport):
    """Sends requests to both machines in turn, as a load balancer would: they keep their `Host`."""

    def __init__(self, machines: Machines, verify: object) -> None:
        super().__init__(verify=verify)  # type: ignore[arg-type]  # a context
        self._machines = machines

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        if request.url.port != self._machines.port:
            return super().handle_request(request)
        request.url = request.url.copy_with(port=self._machines.port_for(request.url))
        try:
            return super().handle_request(request)
        finally:
            self._machines.answered()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that cannot be tried on two machines."""
    for item in items if ARE_TWO else ():
        if item.nodeid.startswith(INSIDE):
            item.add_marker(pytest.mark.skip(reason="looks into a process, or at its files"))
