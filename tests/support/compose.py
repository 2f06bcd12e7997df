"""Reads docker-compose.yml as the container engine would, and runs its services as local processes.

What is checked by tests is the file itself: commands, environment and volumes come from it. Only what containers would
give is replaced: the names `postgres` and `redis` by real addresses, volumes by directories, the proxy by this machine.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"
SECONDS_TO_STOP = 20.0
VARIABLE = re.compile(
    r"""\$(?: (?P<dollar>\$)
        | \{ (?P<name>[A-Za-z_]\w*) (?: (?P<rule>:?[-?]) (?P<other>[^}]*) )? \} )""",
    re.VERBOSE,
)


class MissingVariableError(Exception):
    """The file asks for a variable that the environment does not have; the message is the file's."""


@dataclass(frozen=True)
class Mount:
    """One volume of a service.

    Attributes:
        source: the volume's name, or a path of the host.
        target: the path in the container.
        read_only: whether the container may only read it.
    """

    source: str
    target: str
    read_only: bool


@dataclass(frozen=True)
class Service:
    """One service of the file, its variables expanded.

    Attributes:
        name: its name, by which the others reach it.
        command: the program and its arguments; empty for that of the image.
        environment: the variables that it gets, and it gets no others.
        mounts: its volumes.
        keys: everything that the file says of it.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    keys: Mapping[str, Any]


def services(environment: Mapping[str, str], file: Path = COMPOSE_FILE) -> dict[str, Service]:
    """Return the services of the file by name, with the variables of an environment (or .env) put in.

    Raises:
        MissingVariableError: a variable that the file requires is not there, or empty.
    """
    content = expand(yaml.safe_load(file.read_text(encoding="utf-8")), environment)
    return {name: service(name, keys, environment) for name, keys in content["services"].items()}


def service(name: str, keys: dict[str, Any], environment: Mapping[str, str]) -> Service:
    """Return one service from what the file says of it; a variable without a value is passed on if it is there."""
    mounts = []
    for volume in keys.get("volumes", []):
        source, target, *mode = volume.split(":")
        mounts.append(Mount(source, target, read_only=mode == ["ro"]))
    given = {
        key: environment.get(key) if value is None else value for key, value in keys.get("environment", {}).items()
    }
    variables = {key: str(value) for key, value in given.items() if value is not None}
    return Service(name, tuple(keys.get("command", ())), variables, tuple(mounts), keys)


def expand(value: Any, environment: Mapping[str, str]) -> Any:
    """Return a value of the file with `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `$$` replaced in it.

    Raises:
        MissingVariableError: `${NAME:?message}`, and there is no such variable or it is empty.
    """
    if isinstance(value, dict):
        return {key: expand(item, environment) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item, environment) for item in value]
    if isinstance(value, str):
        return VARIABLE.sub(lambda match: replacement(match, environment), value)
    return value


def replacement(match: re.Match[str], environment: Mapping[str, str]) -> str:
    """Return what stands in a variable's place."""
    if match["dollar"]:
        return "$"
    rule = match["rule"] or ""
    value = environment.get(match["name"])
    if value is None or (rule.startswith(":") and not value):
        if rule.endswith("?"):
            raise MissingVariableError(f"{match['name']}: {match['other']}")
        return match["other"] or ""
    return value


def local_environment(service: Service, *, volumes: Mapping[str, Path], addresses: Mapping[str, str]) -> dict[str, str]:
    """Return a service's environment for a process of this machine.

    Args:
        service: as the file describes it.
        volumes: a directory for each volume by name; a path in the container below one of the service's own volumes
            becomes one in that directory. A path below none stays what it is: it does not exist here either.
        addresses: what to put in place of an address in the file, such as `postgres:5432` by `127.0.0.1:41234`.
    """
    environment = {}
    for name, value in service.environment.items():
        for mount in service.mounts:
            if mount.source in volumes and (value == mount.target or value.startswith(f"{mount.target}/")):
                value = str(volumes[mount.source]) + value.removeprefix(mount.target)  # noqa: PLW2901
        for address, real in addresses.items():
            value = value.replace(address, real)  # noqa: PLW2901
        environment[name] = value
    return environment


@contextlib.contextmanager
def running(
    service: Service,
    environment: Mapping[str, str],
    directory: Path,
    *,
    replacing: Mapping[str, str] | None = None,
    programs: Path | None = None,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a service's command as a local process until the block ends; its output goes to `directory`/`name`.log.

    Args:
        service: whose command to run.
        environment: all variables that it gets besides PATH.
        directory: its working directory, and that of its log.
        replacing: arguments of the command to replace, such as the port to listen on.
        programs: the directory that the command is in; by default that of this Python.
    """
    program, *arguments = [(replacing or {}).get(argument, argument) for argument in service.command]
    executable = (programs or Path(sys.executable).parent) / program
    with (directory / f"{service.name}.log").open("ab") as log:
        process = subprocess.Popen(
            [str(executable), *arguments],
            cwd=directory,
            env={"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        stop(process)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process as the container engine would: asked first, then by force, with all that it has started."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_STOP)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
