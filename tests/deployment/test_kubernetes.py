"""The objects of deploy/kubernetes fit each other, docker-compose.yml and what processes know as settings."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.support.compose import COMPOSE_FILE, ROOT
from tests.support.proxy import CADDYFILE
from vocboard.app.settings import Settings
from vocboard.evaluator.version import VERSION

OBJECTS = yaml.safe_load((ROOT / "deploy" / "kubernetes" / "vocboard.yaml").read_text())["items"]
WITH_PODS = {each["metadata"]["name"]: each for each in OBJECTS if "template" in each.get("spec", {})}
OF_PROCESSES = {f"VOCBOARD_{name.upper()}" for name in Settings.model_fields}
EXPECTED = {"migrate": "Job", "web": "StatefulSet", "worker": "Deployment", "beat": "Deployment", "mail": "Deployment"}


def named(kind: str) -> dict[str, Any]:
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


def pod(name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return what is said of a pod, and of its only container."""
    spec = WITH_PODS[name]["spec"]["template"]["spec"]
    [container] = spec["containers"]
    return spec, container


def test_each_service_of_ours_has_pods_that_run_the_same_command() -> None:
    assert {name: each["kind"] for name, each in WITH_PODS.items()} == {**EXPECTED, "proxy": "Deployment"}
    composed = yaml.safe_load(COMPOSE_FILE.read_text())["services"]
    for name in EXPECTED:
        _, container = pod(name)
        assert container["command"] == composed[name]["command"]
        assert container["image"].endswith(f"/vocboard:{VERSION}")
    assert WITH_PODS["beat"]["spec"]["replicas"] == 1


@pytest.mark.parametrize("name", [*EXPECTED, "proxy"])
def test_what_pods_refer_to_is_there(name: str) -> None:
    spec, container = pod(name)
    labels = WITH_PODS[name]["spec"]["template"]["metadata"]["labels"]
    assert labels == WITH_PODS[name]["metadata"]["labels"] == {"app": name}
    if name != "migrate":
        assert WITH_PODS[name]["spec"]["selector"]["matchLabels"] == labels
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    claims = [volume["persistentVolumeClaim"] for volume in spec["volumes"] if "persistentVolumeClaim" in volume]
    assert {claim["claimName"] for claim in claims} <= named("PersistentVolumeClaim").keys()
    ports = {port["name"] for port in container.get("ports", [])}
    if name in named("Service"):
        service = named("Service")[name]["spec"]
        assert service["selector"] == labels
        assert {port["name"] for port in service["ports"]} == ports
    for probe in ("readinessProbe", "livenessProbe"):
        asked = container.get(probe, {})
        assert {asked[how]["port"] for how in ("httpGet", "tcpSocket") if how in asked} <= ports
        if "exec" in asked:
            assert asked["exec"]["command"] == ["vocboard", "health", *container["command"][1:]]


@pytest.mark.parametrize("name", [*EXPECTED, "proxy"])
def test_pods_get_settings_that_exist_and_secrets_of_their_own(name: str) -> None:
    _, container = pod(name)
    known = OF_PROCESSES if name != "proxy" else set(variables_of_the_proxy())
    assert {variable["name"] for variable in container.get("env", [])} <= known
    secrets = [each["secretRef"]["name"] for each in container.get("envFrom", []) if "secretRef" in each]
    assert secrets == ([] if name == "proxy" else [f"vocboard-{name}"])
    assert set(named("ConfigMap")["vocboard"]["data"]) <= OF_PROCESSES


def variables_of_the_proxy() -> Iterator[str]:
    for part in CADDYFILE.read_text().split("{$")[1:]:
        yield part.partition("}")[0].partition(":")[0]


def test_the_proxy_asks_every_web_pod_and_a_person_the_same_one() -> None:
    variables = {each["name"]: each.get("value") for each in pod("proxy")[1]["env"]}
    web = WITH_PODS["web"]["spec"]
    [port] = named("Service")[web["serviceName"]]["spec"]["ports"]
    addresses = [f"web-{number}.{web['serviceName']}:{port['port']}" for number in range(web["replicas"])]
    assert variables["VOCBOARD_WEB"].split() == addresses
    assert variables["VOCBOARD_LB_POLICY"] == "client_ip_hash"


@pytest.mark.parametrize("name", [*EXPECTED, "proxy"])
def test_pods_have_no_privileges(name: str) -> None:
    spec, container = pod(name)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]
    # Only workers have what opens the ground truth.
    assert any("secret" in volume for volume in spec["volumes"]) == (name == "worker")
