"""What docker-compose.yml promises: one way in, no way from the web application to the ground truth, no privileges."""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath

import pytest
import yaml

from tests.support.compose import COMPOSE_FILE, ROOT, MissingVariableError, Service, expand, services
from tests.support.unpacking import unpack
from tools import compose_files, deploy_env
from vocboard.app.settings import OTHER_NAMES, Environment, Settings
from vocboard.worker.celery_app import KILLED_AFTER_SECONDS

OURS = ("web", "worker", "beat", "mail", "migrate", "backup")
# Whose code is whose: what the web application shares with others is theirs to read as well. Workers open the archives.
CODE_OF = {
    "web": ("app/**/*.py",),
    "worker": ("worker/**/*.py", "app/storage/**/*.py"),
    "mail": ("worker/mail*.py", "worker/webhooks.py"),
    "backup": ("commands/admin/backups.py",),
}
NOT_OF: dict[str, tuple[str, ...]] = {
    "web": ("app/settings.py", "app/messaging/broker.py", "app/messaging/outbox.py", "app/messaging/delivery.py"),
    "worker": ("worker/mail.py", "worker/webhooks.py"),
    "mail": (),
    "backup": (),
}
EMBEDDED_ONLY = {"debug", "data_directory"}  # production refuses the one and has volumes instead of the other
OPERATORS_PAGE = ROOT / "docs" / "operators.md"
DOCUMENTED = re.compile(r"^\| `(VOCBOARD_[A-Z0-9_]+)`(?:, `(VOCBOARD_[A-Z0-9_]+)`)? \|", re.M)


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
    assert set(composed) == {"proxy", "web", "worker", "beat", "mail", "migrate", "backup", "postgres", "redis"}


def test_a_release_is_started_without_a_checkout(
    environment: dict[str, str], composed: Mapping[str, Service], tmp_path: Path
) -> None:
    """Its file has published images in place of what is built, and brings all other files that it names."""
    assert compose_files.main("ghcr.io/lab/vocboard", "2.0.0", str(tmp_path / "files.tar.gz")) == 0
    unpack(tmp_path / "files.tar.gz", tmp_path)
    directory = tmp_path / "vocboard-2.0.0"
    released = services(environment, directory / "docker-compose.yml")
    for name, service in composed.items():
        keys = dict(service.keys)
        if keys.pop("build", None):
            keys["image"] = "ghcr.io/lab/" + keys["image"] + ":2.0.0"
        assert released.pop(name).keys == keys
    assert not released
    paths = {mount.source for service in composed.values() for mount in service.mounts if "/" in mount.source}
    paths |= {"deploy/providers.yml", "deploy/object-store.yml", "deploy_env.py"}
    assert all((directory / path).is_file() for path in paths)


def test_only_the_proxy_is_reached_from_outside(composed: Mapping[str, Service]) -> None:
    assert [service.name for service in composed.values() if service.keys.get("ports")] == ["proxy"]
    assert not any("network_mode" in service.keys or "expose" in service.keys for service in composed.values())


def test_only_the_proxy_and_the_mail_service_reach_the_internet(composed: Mapping[str, Service]) -> None:
    networks = yaml.safe_load(COMPOSE_FILE.read_text())["networks"]
    internal = {name for name, keys in networks.items() if keys and keys.get("internal")}
    outgoing = {name for name, service in composed.items() if set(service.keys["networks"]) - internal}
    assert outgoing == {"proxy", "mail"}


def test_the_web_application_reaches_providers_of_sign_in_only_with_another_file() -> None:
    added = yaml.safe_load((COMPOSE_FILE.parent / "deploy" / "providers.yml").read_text())
    environment = dict.fromkeys(("HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"))  # docs/operators.md
    web = {"networks": ["providers"], "environment": environment}
    assert added == {"services": {"web": web}, "networks": {"providers": None}}


def test_an_object_store_is_reached_on_a_network_of_its_own_with_another_file() -> None:
    added = yaml.safe_load((COMPOSE_FILE.parent / "deploy" / "object-store.yml").read_text())
    assert set(added["services"]) == {"web", "worker", "backup"}
    assert all(keys["networks"] == ["store"] for keys in added["services"].values())
    assert added["networks"] == {"store": {"name": "store", "external": True}}


def test_each_service_has_credentials_of_its_own_for_an_object_store(environment: dict[str, str]) -> None:
    keys = {f"VOCBOARD_{name}_STORE_KEY": f"key of {name}" for name in ("WEB", "WORKER", "BACKUP")}
    held = {
        service.name: service.environment.get("VOCBOARD_STORE_KEY") for service in services(environment | keys).values()
    }
    assert {name: key for name, key in held.items() if key} == {
        "web": "key of WEB",
        "worker": "key of WORKER",
        "backup": "key of BACKUP",
    }


def test_the_proxy_reaches_the_web_application_and_nothing_else(composed: Mapping[str, Service]) -> None:
    neighbours = {
        network: {name for name, service in composed.items() if network in service.keys["networks"]}
        for network in composed["proxy"].keys["networks"]
    }
    assert neighbours == {"outside": {"proxy"}, "front": {"proxy", "web"}}


def test_docker_chooses_addresses_that_collide_with_nothing() -> None:
    for keys in yaml.safe_load(COMPOSE_FILE.read_text())["networks"].values():
        assert not keys or "ipam" not in keys


def test_only_the_worker_and_backups_have_the_ground_truth(composed: Mapping[str, Service]) -> None:
    with_truth = [name for name, service in composed.items() if any(m.source == "truth" for m in service.mounts)]
    assert with_truth == ["worker", "backup"]
    assert composed["backup"].keys["profiles"] == ["backup"]  # it only runs when it is called
    assert composed["backup"].keys["networks"] == ["inside"]


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
    assert len(passwords) == 4
    assert not any(password in value for password in passwords.values() for value in web.environment.values())
    assert settings(web, monkeypatch).truth_directory is None


def test_worker_reads_archives_and_never_writes_them(composed: Mapping[str, Service]) -> None:
    modes = {mount.source: mount.read_only for mount in composed["worker"].mounts}
    assert modes == {"archives": True, "truth-inbox": False, "truth": False}


def test_each_process_has_a_database_role_of_its_own(composed: Mapping[str, Service]) -> None:
    roles = {
        name: re.match(r"postgresql\+psycopg://(\w+):", composed[name].environment["VOCBOARD_DATABASE_URL"])
        for name in OURS
        if "VOCBOARD_DATABASE_URL" in composed[name].environment
    }
    assert {name: role and role[1] for name, role in roles.items()} == {
        "web": "vocboard_web",
        "worker": "vocboard_worker",
        "mail": "vocboard_mail",
        "migrate": "vocboard_owner",
        "backup": "vocboard_owner",
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


def test_every_service_that_stays_is_checked(composed: Mapping[str, Service]) -> None:
    for name in ("proxy", "web", "worker", "beat", "mail", "postgres", "redis"):
        kind, *words = composed[name].keys["healthcheck"]["test"]
        assert kind == "CMD-SHELL" or (kind == "CMD" and not any(" " in word for word in words)), name  # for Podman


def test_a_worker_has_time_to_finish_what_it_evaluates(composed: Mapping[str, Service]) -> None:
    minutes = re.fullmatch(r"(\d+)m", composed["worker"].keys["stop_grace_period"])
    assert minutes
    longest = Settings().evaluation_time_limit + timedelta(seconds=KILLED_AFTER_SECONDS)
    assert timedelta(minutes=int(minutes[1])) > longest


def test_each_service_holds_the_secrets_that_it_needs_and_no_other(
    composed: Mapping[str, Service], environment: dict[str, str]
) -> None:
    secrets = {name: value for name, value in environment.items() if name.endswith(("_PASSWORD", "_SECRET", "_KEY"))}
    held = {
        service.name: {
            name.removeprefix("VOCBOARD_")
            for name, value in secrets.items()
            if any(value in str(part) for part in (*service.environment.values(), service.command))
        }
        for service in composed.values()
    }
    assert set(secrets) == set(deploy_env.SECRETS)
    assert held == {
        "proxy": {"PROXY_SECRET"},
        "web": {"SECRET_KEY", "PROXY_SECRET", "WEB_PASSWORD", "REDIS_PASSWORD"},
        "worker": {"WORKER_PASSWORD", "REDIS_PASSWORD"},
        "beat": {"REDIS_PASSWORD"},
        "mail": {"MAIL_PASSWORD", "REDIS_PASSWORD"},
        "migrate": {"OWNER_PASSWORD", "REDIS_PASSWORD"},
        "backup": {"OWNER_PASSWORD", "REDIS_PASSWORD"},
        # It makes the roles.
        "postgres": {"OWNER_PASSWORD", "WEB_PASSWORD", "WORKER_PASSWORD", "MAIL_PASSWORD", "POSTGRES_PASSWORD"},
        "redis": {"REDIS_PASSWORD"},
    }


def test_no_secret_is_on_a_command_line(composed: Mapping[str, Service], environment: dict[str, str]) -> None:
    secrets = [value for name, value in environment.items() if name in deploy_env.SECRETS]
    for service in composed.values():
        lines = [*service.command, *service.keys.get("healthcheck", {}).get("test", [])]
        assert not any(secret in line for secret in secrets for line in lines), service.name


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


def test_every_setting_is_documented_and_every_documented_one_is_there(composed: Mapping[str, Service]) -> None:
    page = OPERATORS_PAGE.read_text(encoding="utf-8")
    documented = {name for names in DOCUMENTED.findall(page) for name in names if name}
    known = {f"VOCBOARD_{field.upper()}" for field in Settings.model_fields}
    of_the_file = set(re.findall(r"\$\{(\w+)", COMPOSE_FILE.read_text())) - set(deploy_env.SECRETS)
    assert documented - {"VOCBOARD_DEBUG"} == (known | of_the_file) - {"VOCBOARD_DEBUG"}


@pytest.mark.parametrize("field", sorted(set(Settings.model_fields) - EMBEDDED_ONLY))
def test_every_setting_reaches_the_services_whose_code_reads_it(environment: dict[str, str], field: str) -> None:
    """One that operators may choose is passed on from .env; the others are given by the file itself."""
    name = f"VOCBOARD_{field.upper()}"
    holders = {
        service.name
        for service in services({**environment, name: "the operator's choice"}).values()
        if name in service.environment
    }
    missing = readers(field) - holders
    assert not missing, f"{name} has no effect under docker compose: give it to {', '.join(missing)}"


@pytest.mark.parametrize(("other", "field"), OTHER_NAMES.items())
def test_the_other_name_of_a_setting_reaches_the_same_services(
    environment: dict[str, str], other: str, field: str
) -> None:
    name = f"VOCBOARD_{field.upper()}"
    composed = services({**environment, name: "first", other: "other"}).values()
    assert all((other in one.environment) == (name in one.environment) for one in composed)


def test_operators_commands_keep_to_what_operators_chose(environment: dict[str, str]) -> None:
    """`create-token` and `show-storage` run in the service that migrates."""
    chosen = {"VOCBOARD_TOKEN_LIFETIME": "P30D", "VOCBOARD_WITHDRAWN_ARCHIVES_KEPT_FOR": "P7D"}
    assert chosen.items() <= services({**environment, **chosen})["migrate"].environment.items()


def readers(field: str) -> set[str]:
    """Return the services whose own code reads a setting."""
    read = re.compile(rf"settings\.{field}\b|require\([^)]*\"{field}\"")
    found = set()
    for service, patterns in CODE_OF.items():
        files = {
            path
            for pattern in patterns
            for path in ROOT.glob(pattern)
            if not any(path.is_relative_to(ROOT / part) for part in NOT_OF[service])
        }
        if any(read.search(path.read_text(encoding="utf-8")) for path in files):
            found.add(service)
    return found


def test_env_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    assert deploy_env.main(["voc.lab", "internal"], tmp_path) == 0
    written = (tmp_path / ".env").read_text()
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    assert deploy_env.main(["voc.lab", "internal"], tmp_path) == 1
    assert deploy_env.main(["", "", ""], tmp_path) == 0
    assert (tmp_path / ".env").read_text() == written


def test_env_file_of_an_earlier_version_gets_the_secrets_that_it_lacks(tmp_path: Path) -> None:
    earlier = "VOCBOARD_HOST=voc.lab\nVOCBOARD_TLS=internal\nVOCBOARD_SECRET_KEY=in use\nVOCBOARD_WEB_MEMORY=3g"
    (tmp_path / ".env").write_text(earlier)
    assert deploy_env.main([], tmp_path) == 0
    completed = (tmp_path / ".env").read_text()
    assert completed.startswith(earlier + "\n")
    names = [line.split("=", 1)[0] for line in completed.splitlines()]
    assert sorted(names) == sorted({*deploy_env.SECRETS, "VOCBOARD_HOST", "VOCBOARD_TLS", "VOCBOARD_WEB_MEMORY"})


def test_env_file_has_the_mail_server_and_a_port_of_your_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = "smtps://vocboard:pa$$word@smtp.example.org"
    assert deploy_env.main(["voc.lab:8443", "internal", mail], tmp_path) == 0
    lines = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    assert (lines["VOCBOARD_HOST"], lines["VOCBOARD_HTTPS_PORT"]) == ("voc.lab", "8443")
    assert (lines["COMPOSE_PROFILES"], lines["VOCBOARD_MAIL_URL"]) == ("mail", f"'{mail}'")
    composed = services(lines)
    assert composed["mail"].keys["profiles"] == ["mail"]
    assert "8443:8443" in composed["proxy"].keys["ports"]
    assert settings(composed["web"], monkeypatch).public_url == "https://voc.lab:8443"


@pytest.mark.parametrize(
    "arguments",
    [
        *([], ["voc.lab"], ["voc.lab", "no address"], ["two words", "internal"]),
        *(["voc.lab:0", "internal"], ["voc.lab:65536", "internal"]),
        *(["voc.lab", "internal", mail] for mail in ("smtp.lab", "smtps://ada:it's@smtp.lab")),
    ],
)
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
