"""What docker-compose.yml promises: one way in, no way from the web application to the ground truth, no privileges."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest
import yaml

from app.settings import Environment, Settings
from tests.support.compose import COMPOSE_FILE, ROOT, MissingVariableError, Service, expand, services
from tools import deploy_env

OURS = ("web", "worker", "beat", "migrate")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give the variables of an `.env` as operators make it."""
    directory = tmp_path_factory.mktemp("deployment")
    assert deploy_env.main(["voc.example.org", "admin@example.org"], directory) == 0
    return dict(line.split("=", 1) for line in (directory / ".env").read_text().splitlines())


@pytest.fixture(scope="module")
def composed(environment: dict[str, str]) -> dict[str, Service]:
    return services(environment)


def settings(service: Service, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Read a service's environment as its process would."""
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    return Settings()


def test_has_all_parts_of_the_real_set_up(composed: Mapping[str, Service]) -> None:
    assert set(composed) == {"proxy", "web", "worker", "beat", "migrate", "postgres", "redis"}


def test_only_the_proxy_is_reached_from_outside(composed: Mapping[str, Service]) -> None:
    assert [service.name for service in composed.values() if service.keys.get("ports")] == ["proxy"]
    assert not any("network_mode" in service.keys or "expose" in service.keys for service in composed.values())


def test_databases_and_worker_have_no_network_but_the_inner_one(composed: Mapping[str, Service]) -> None:
    assert yaml.safe_load(COMPOSE_FILE.read_text())["networks"]["inside"]["internal"] is True
    for name in ("worker", "beat", "migrate", "postgres", "redis"):
        assert composed[name].keys["networks"] == ["inside"], name
    assert list(composed["proxy"].keys["networks"]) == ["outside"]


def test_only_the_worker_has_the_ground_truth(composed: Mapping[str, Service]) -> None:
    with_truth = [name for name, service in composed.items() if any(m.source == "truth" for m in service.mounts)]
    assert with_truth == ["worker"]


def test_nothing_of_the_web_applications_configuration_reaches_the_ground_truth(
    composed: Mapping[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    web, worker = composed["web"], composed["worker"]
    assert {mount.source for mount in web.mounts} == {"archives", "truth-inbox"}
    assert "VOCBOARD_TRUTH_DIRECTORY" not in web.environment
    truth = worker.environment["VOCBOARD_TRUTH_DIRECTORY"]
    for path in (*web.environment.values(), *(mount.target for mount in web.mounts)):
        assert not PurePosixPath(path).is_relative_to(truth), path
        assert not PurePosixPath(truth).is_relative_to(path), path
    # Nor a secret of the worker, of the tables' owner or of PostgreSQL's administrator.
    passwords = dict(composed["postgres"].environment)
    own = passwords.pop("VOCBOARD_WEB_PASSWORD")
    assert own in web.environment["VOCBOARD_DATABASE_URL"]
    assert len(passwords) == 3
    assert not any(password in value for password in passwords.values() for value in web.environment.values())
    assert settings(web, monkeypatch).truth_directory is None


def test_worker_reads_archives_and_never_writes_them(composed: Mapping[str, Service]) -> None:
    modes = {mount.source: mount.read_only for mount in composed["worker"].mounts}
    assert modes == {"archives": True, "truth-inbox": False, "truth": False}


def test_each_process_has_a_database_role_of_its_own(composed: Mapping[str, Service]) -> None:
    roles = {
        name: re.match(r"postgresql\+psycopg://(\w+):", composed[name].environment["VOCBOARD_DATABASE_URL"])
        for name in OURS
    }
    assert {name: role and role[1] for name, role in roles.items()} == {
        "web": "vocboard_web",
        "worker": "vocboard_worker",
        "beat": "vocboard_worker",
        "migrate": "vocboard_owner",
    }


def test_nobody_has_privileges(composed: Mapping[str, Service]) -> None:
    for name, service in composed.items():
        assert service.keys["user"] not in ("", "0", "root", "0:0"), name
        assert service.keys["cap_drop"] == ["ALL"], name
        assert "cap_add" not in service.keys, name
        assert "privileged" not in service.keys, name
        assert service.keys["security_opt"] == ["no-new-privileges:true"], name
        assert service.keys["read_only"] is True, name
        assert service.keys["mem_limit"], name
        assert service.keys["pids_limit"] > 0, name
        assert not any("docker.sock" in mount.source for mount in service.mounts), name


def test_everything_that_answers_is_checked_for_answering(composed: Mapping[str, Service]) -> None:
    for name in ("proxy", "web", "postgres", "redis"):
        assert composed[name].keys["healthcheck"]["test"][0] == "CMD", name


def test_holds_no_secret_that_would_work(environment: dict[str, str]) -> None:
    for name in environment:
        with pytest.raises(MissingVariableError, match=name):
            services({**environment, name: ""})


def test_every_volume_is_declared_and_every_file_there(composed: Mapping[str, Service]) -> None:
    declared = yaml.safe_load(COMPOSE_FILE.read_text())["volumes"]
    for service in composed.values():
        for mount in service.mounts:
            assert mount.source in declared or (ROOT / mount.source).is_file(), mount
    assert (ROOT / composed["proxy"].keys["build"] / "Dockerfile").is_file()


@pytest.mark.parametrize("name", OURS)
def test_settings_accept_what_the_file_gives_in_production(
    composed: Mapping[str, Service], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    accepted = settings(composed[name], monkeypatch)
    assert accepted.environment is Environment.PRODUCTION
    assert accepted.public_url == "https://voc.example.org"
    known = {f"VOCBOARD_{field.upper()}" for field in Settings.model_fields}
    assert set(composed[name].environment) <= known


def test_the_web_application_believes_the_proxy_alone(composed: Mapping[str, Service]) -> None:
    address = composed["proxy"].keys["networks"]["outside"]["ipv4_address"]
    assert composed["web"].environment["VOCBOARD_TRUSTED_PROXIES"] == address


def test_env_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    assert deploy_env.main(["voc.lab", "internal"], tmp_path) == 0
    written = (tmp_path / ".env").read_text()
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    assert deploy_env.main(["voc.lab", "internal"], tmp_path) == 1
    assert (tmp_path / ".env").read_text() == written


@pytest.mark.parametrize("arguments", [[], ["voc.lab"], ["voc.lab", "no address"], ["two words", "internal"]])
def test_env_file_needs_a_name_and_a_certificate(tmp_path: Path, arguments: list[str]) -> None:
    assert deploy_env.main(arguments, tmp_path) == 2
    assert not (tmp_path / ".env").exists()


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("${HERE}", "yes"),
        ("a ${HERE} b ${HERE:-no}", "a yes b yes"),
        ("${ABSENT}", ""),
        ("${ABSENT:-default}", "default"),
        ("${EMPTY:-default}", "default"),
        ("${EMPTY-default}", ""),
        ("$$HERE", "$HERE"),
    ],
)
def test_expands_variables_as_the_engine_does(text: str, expanded: str) -> None:
    assert expand([text], {"HERE": "yes", "EMPTY": ""}) == [expanded]
