"""The three tiers of the tests: `make test`, `make test-all` (CI) and `make test-long`.

- Tests that run in this process, on SQLite, have no marker: `make test`, which takes minutes.
- `full`: they need PostgreSQL and Redis, other processes or a browser, attack the server, or compute for seconds.
  `make test-all` adds them.
- `long`: they search for minutes for what the others would find by chance. `make test-long` runs these alone.

A test belongs to the tier of its file, which stands here, and is at least `full` if it needs services or a browser.
`smoke` exempts it. Of random cases, a quarter is in the first tier and half in the second (`tests.support.seeds`);
of those of Hypothesis, a quarter and all.
"""

from pathlib import Path

import pytest
from hypothesis import settings

FULL = (
    "tests/attack",
    "tests/benchmarks",
    "tests/browser",
    "tests/deployment",
    "tests/app/api/test_attacks_on_uploads.py",
    "tests/app/api/test_changed_rules.py",
    "tests/app/api/test_challenge_files.py",
    "tests/app/api/test_conformance.py",
    "tests/app/api/test_half_sent_uploads.py",
    "tests/app/api/test_life_of_a_submission.py",
    "tests/app/api/test_rescores.py",
    "tests/app/intake/test_isolation.py",
    "tests/app/intake/test_validation.py",
    "tests/app/pages/test_hostile_texts.py",
    "tests/app/pages/test_leaving.py",
    "tests/app/pages/test_providers.py",
    "tests/app/test_authorisation.py",  # every route, asked by everyone
    "tests/app/test_detail_levels.py",
    "tests/app/test_ladder.py",
    "tests/app/leaderboards/test_freezing.py::test_a_frozen_leaderboard_stays_byte_identical_over_a_simulated_month",
    "tests/app/leaderboards/test_freezing_at_random.py",
    "tests/app/leaderboards/test_reported.py",
    "tests/app/submissions/test_quota.py::test_of_fifty_parallel_uploads_the_quota_is_accepted",
    "tests/app/submissions/test_races.py",
    "tests/app/transfer/test_phases.py",
    "tests/app/webhooks/test_webhooks.py::test_a_receiver_that_is_down_for_an_hour_gets_every_event_once",
    "tests/client/test_connection.py::test_memory_stays_flat_however_large_the_archive",
    "tests/commands/test_action.py",
    "tests/commands/test_admin.py",
    "tests/commands/test_backups.py",
    "tests/commands/test_completion.py",
    "tests/commands/test_from_upload_to_leaderboard.py",
    "tests/commands/test_new_edition.py",
    "tests/commands/test_python_client.py",
    "tests/commands/test_reports.py",
    "tests/commands/test_serve.py",
    "tests/commands/test_submission_commands.py",
    "tests/commands/test_submit_questions.py",
    "tests/evaluator/conversion/test_segmentations.py::test_painting_gives_the_kits_scores",
    "tests/evaluator/conversion/test_there_and_back.py::test_real_detections",
    "tests/evaluator/diagnosis/test_errors.py::test_counts_of_real_detections",
    "tests/evaluator/examples/test_examples.py",
    "tests/evaluator/result_files/test_large_files.py",
    "tests/evaluator/statistics/test_coverage.py",
    "tests/evaluator/statistics/test_secondary_replicates.py",
    "tests/hostile/test_folder.py",  # every hostile upload by the command line, nearly one of each kind by a server
    "tests/test_filled_migrations.py",
    "tests/test_migrations.py::test_processes_that_upgrade_at_once_wait_for_each_other",
    "tests/test_wording.py",
    "tests/worker/test_across_methods.py",
    "tests/worker/test_changed_rules.py",
    "tests/worker/test_columns.py",
    "tests/worker/test_failures.py",
    "tests/worker/test_ground_truth_import.py",
    "tests/worker/test_health.py",
    "tests/worker/test_mail.py",
    "tests/worker/test_recovery.py",
    "tests/worker/test_rescore_work.py",
    "tests/worker/test_rescoring.py",
    "tests/worker/test_sequences.py",
    "tests/worker/test_statistics.py",
)
LONG = (
    "tests/deployment/test_upgrades.py",  # .github/workflows/release.yml runs it before each release
    "tests/app/api/test_generated_clients.py",  # tests/app/api/test_documentation.py
    # tests/browser/test_interrupted_uploads.py, tests/app/api/test_half_sent_uploads.py
    "tests/benchmarks/test_abuse.py::test_an_interrupted_upload_continues_where_it_was",
    # tests/app/intake/test_places.py, test_turns.py, tests/app/api/test_upload_limits.py
    "tests/benchmarks/test_abuse.py::test_small_uploads_pass_a_crowd_of_slow_and_large_ones",
    # tests/app/submissions/test_queue.py, tests/app/intake/test_turns.py
    "tests/benchmarks/test_abuse.py::test_others_are_scored_while_one_person_does_their_worst",
    # tests/app/accounts/test_signing_in.py
    "tests/benchmarks/test_abuse.py::test_people_sign_in_while_others_try_passwords",
    # tests/app/api/test_documentation.py; test_accessibility.py opens the page
    "tests/browser/test_api_documentation.py",
    "tests/browser/test_year.py::test_the_year_is_as_the_page_tells_it",  # each step: tests/browser/organisers
    "tests/deployment/test_extensions.py::test_its_own_tests_pass",  # its way from a file to the leaderboard
    # tests/deployment/test_wheel.py
    "tests/deployment/test_image.py::test_works_next_to_a_project_that_has_packages_of_the_same_names",
    "tests/evaluator/examples/test_examples.py::test_layout_of_whole_people_finds_some",  # test_layout_of_parts
    "tests/fuzz",
    "tests/support/test_services.py::test_processes_of_a_killed_soak",  # test_servers_end_with_a_killed_run
    # with PostgreSQL and Redis
    "tests/worker/test_failures.py::test_evaluations_that_break_a_limit_fail_while_others_go_on[embedded]",
    "tests/worker/test_rescore_work.py::test_with_workers_killed_and_the_broker_emptied_it_ends_with_the_same_report[embedded]",
    "tests/worker/test_statistics.py::test_killed_workers_lose_no_more_than_one_result[embedded]",
)
# Only `make test-long` runs these on PostgreSQL, too, except for tests marked `full` or `postgres`, such as those of
# people who do something at the same time: others run the same statements, or much the same.
LONG_ON_POSTGRES = (
    "tests/app/accounts/test_registration.py",  # its tests that are marked
    "tests/app/announcements/test_announcements.py::test_a_draft",  # the other tests of the file
    "tests/app/announcements/test_announcements.py::test_an_account_s_data",
    "tests/app/announcements/test_announcements.py::test_an_export",
    "tests/app/announcements/test_announcements.py::test_people_with_confirmed_addresses",
    "tests/app/announcements/test_announcements.py::test_what_is_removed",
    "tests/app/api/test_changed_rules.py",  # tests/worker/test_changed_rules.py
    "tests/app/api/test_idempotency.py::test_a_rejected_upload",  # the other tests of the file
    "tests/app/api/test_idempotency.py::test_keys_that_are_not_allowed",
    "tests/app/api/test_idempotency.py::test_the_key_of_somebody_else",
    "tests/app/api/test_idempotency.py::test_the_same_key",
    "tests/app/api/test_idempotency.py::test_who_has_left",
    "tests/app/api/test_life_of_a_submission.py",  # tests/worker/test_recovery.py
    "tests/app/api/test_moderation.py",  # tests/app/organising/test_overview.py
    "tests/app/api/test_rescores.py",  # tests/worker/test_rescore_work.py
    "tests/app/api/test_resumable_uploads.py",  # its tests that are marked
    "tests/app/challenges/test_challenges.py::test_phase",  # the other tests of the file
    "tests/app/challenges/test_organisers.py::test_invitations_are_limited",  # the other tests of the file
    "tests/app/challenges/test_organisers.py::test_the_owner_removes",
    "tests/app/leaderboards/test_current.py::test_a_change",  # tests/app/leaderboards/test_revisions.py
    "tests/app/leaderboards/test_current.py::test_what_is_published_again",
    "tests/app/leaderboards/test_current.py::test_what_the_page_says_of_the_challenge_is_as_fresh[real-retitle]",
    "tests/app/leaderboards/test_freezing.py",  # tests/app/leaderboards/test_freezing_at_random.py
    "tests/app/leaderboards/test_service.py",  # tests/app/leaderboards/test_current.py, test_revisions.py
    "tests/app/notifications/test_events.py",  # tests/worker/test_showcase.py, tests/app/announcements
    "tests/app/organising/test_bans.py",  # its tests that run on PostgreSQL alone
    "tests/app/organising/test_moderation.py",  # its tests that are marked
    "tests/app/organising/test_notices.py",  # tests/app/messaging/test_outbox.py
    "tests/app/submissions/test_pruning.py",  # its tests that are marked
    "tests/app/submissions/test_queue.py",  # its tests that are marked
    "tests/app/submissions/test_service.py",  # its tests that are marked
    "tests/app/test_detail_levels.py",  # tests/app/leaderboards/test_current.py
    "tests/app/test_ladder.py::test_what_a_re_score_leaves_out",  # the other tests of the file
    "tests/app/test_teams.py",  # its tests that are marked
    "tests/app/transfer/test_people.py",  # tests/app/transfer/test_phases.py
    # the other tests of the file
    "tests/app/transfer/test_phases.py::test_a_phase_that_freezes_between_export_and_import",
    "tests/app/transfer/test_phases.py::test_a_second_export_and_import_changes_nothing",
    "tests/app/transfer/test_phases.py::test_phases_and_their_people_come_along",
    "tests/app/transfer/test_teams.py",  # tests/app/transfer/test_phases.py
    "tests/app/transfer/test_transfer.py",  # tests/app/transfer/test_phases.py
    "tests/app/webhooks/test_webhooks.py",  # its tests that are marked
    "tests/worker/test_across_methods.py",  # tests/worker/test_statistics.py
    "tests/worker/test_changed_rules.py::test_an_export",  # tests/app/transfer/test_phases.py
    "tests/worker/test_changed_rules.py::test_discarded",  # the other tests of the file
    "tests/worker/test_columns.py",  # tests/worker/test_recovery.py
    "tests/worker/test_diagnoses.py",  # tests/worker/test_recovery.py
    "tests/worker/test_failures.py",  # tests/worker/test_recovery.py
    "tests/worker/test_ground_truth_import.py",  # tests/worker/test_privileges.py
    "tests/worker/test_health.py",  # its tests that are marked
    "tests/worker/test_mail.py",  # its test that is marked
    "tests/worker/test_rescore_work.py::test_a_batch_ends",  # the other tests of the file
    "tests/worker/test_rescore_work.py::test_gives_way",
    "tests/worker/test_rescoring.py",  # tests/worker/test_rescore_work.py
    "tests/worker/test_sequences.py::test_a_withdrawn",  # its first test
    "tests/worker/test_sequences.py::test_what",  # its first test
    "tests/worker/test_statistics.py",  # its tests that are marked
)


def pytest_configure(config: pytest.Config) -> None:
    """Let Hypothesis search less in the first tier."""
    if "not full" in config.option.markexpr:
        settings.load_profile("first tier")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import files of the upper tiers for `make test`, unless one of their tests is exempt."""
    if collection_path.suffix != ".py" or "not full" not in config.option.markexpr:
        return None
    is_full = collection_path.relative_to(config.rootpath).as_posix().startswith((*FULL, *LONG))
    return True if is_full and "mark.smoke" not in collection_path.read_text() else None


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the markers that -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the two upper tiers."""
    for item in items:
        needs_services = item.get_closest_marker("services")
        is_repeated = needs_services and not any(map(item.get_closest_marker, ("full", "postgres")))
        if item.nodeid.startswith((*LONG, *LONG_ON_POSTGRES) if is_repeated else LONG):
            item.add_marker(pytest.mark.long)
        elif not item.get_closest_marker("smoke") and (
            item.nodeid.startswith(FULL) or needs_services or _is_real(item) or item.get_closest_marker("browser")
        ):
            item.add_marker(pytest.mark.full)


def _is_real(item: pytest.Item) -> bool:
    """Return whether a test that names its set-up itself, and so has no marker, has named PostgreSQL and Redis."""
    given = getattr(item, "callspec", None)
    return given is not None and given.params.get("set_up") == "real"
