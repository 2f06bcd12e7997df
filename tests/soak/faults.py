"""The kinds of faults. Those of one lane come one after the other, the lanes at the same time."""

import contextlib
import random
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import psutil
import redis

from tests.soak.world import MACHINES, MAIL, POSTGRES, REDIS, STORE, WEB, World

LINKS = (POSTGRES, REDIS, STORE, MAIL, WEB)


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        lane: whose faults exclude each other.
        weight: how often, compared with others of the lane.
        inject: returns when the fault is over; what it has met.
    """

    lane: str
    weight: int
    inject: Callable[[World, random.Random], str]


def _kill(world: World, chance: random.Random, name: str) -> str:
    world.processes.kill(name)
    time.sleep(chance.uniform(0, 2))
    world.processes.start(name)
    return name


def kill_web(world: World, chance: random.Random) -> str:
    """Kill a web process; the proxy has the other one."""
    return _kill(world, chance, f"web-{chance.randrange(MACHINES)}")


def kill_worker(world: World, chance: random.Random) -> str:
    """Kill a worker with its processes, or the one that sends email."""
    return _kill(world, chance, chance.choice(("worker-0", "worker-1", "mail")))


def kill_beat(world: World, chance: random.Random) -> str:
    """Kill beat."""
    return _kill(world, chance, "beat")


def stop_worker(world: World, chance: random.Random) -> str:
    """Stop a worker for longer than its lease, then let it continue."""
    name = f"worker-{chance.randrange(MACHINES)}"
    world.processes.signal(name, signal.SIGSTOP)
    time.sleep(world.settings.lease.total_seconds() + chance.uniform(1, 4))
    world.processes.signal(name, signal.SIGCONT)
    return name


def fill_disk(world: World, chance: random.Random) -> str:
    """Let a worker write nothing to any file: the operating system says that each would be too large."""
    name = f"worker-{chance.randrange(MACHINES)}"
    leader = psutil.Process(world.processes.pid(name))
    found = [(one.pid, resource.prlimit(one.pid, resource.RLIMIT_FSIZE)) for one in _family(leader)]
    for pid, (_, hard) in found:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    time.sleep(chance.uniform(2, 6))
    for one in _family(leader):  # those that were started in the meantime have inherited it
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(one.pid, resource.RLIMIT_FSIZE, found[0][1])
    return name


def jump_clock(world: World, chance: random.Random) -> str:
    """Let the clock of a machine jump by up to an hour, and later back."""
    number, seconds = chance.randrange(MACHINES), chance.choice((-1, 1)) * chance.uniform(30, 3600)
    world.clocks[number].write_text(f"{seconds}")
    time.sleep(chance.uniform(2, 8))
    world.clocks[number].write_text("0")
    return f"machine {number} by {seconds:.0f} s"


def _family(leader: psutil.Process) -> list[psutil.Process]:
    return [leader, *leader.children(recursive=True)]


def kill_postgres(world: World, chance: random.Random) -> str:
    """Kill PostgreSQL, and start it again."""
    world.postgres.primary.server.kill()
    time.sleep(chance.uniform(0, 3))
    world.postgres.primary.server.start()
    return ""


def fail_over(world: World, chance: random.Random) -> str:
    """Kill PostgreSQL, let the stand-by take over, and make a new one."""
    world.postgres.fail_over()
    time.sleep(chance.uniform(0, 1))
    for relay in world.relays_to(POSTGRES):
        relay.port = int(world.postgres.primary.address.port or 0)
        relay.reset()
    world.postgres.replace_stand_by()
    return ""


def kill_redis(world: World, chance: random.Random) -> str:
    """Kill Redis, which keeps nothing, and start it again."""
    world.redis.kill()
    time.sleep(chance.uniform(0, 2))
    world.redis.start()
    return ""


def empty_redis(world: World, _chance: random.Random) -> str:
    """Empty the broker."""
    with contextlib.closing(redis.Redis.from_url(world.redis_url)) as client:
        client.flushall()
    return ""


def repeat_messages(world: World, chance: random.Random) -> str:
    """Send every message a second time."""
    ends = time.monotonic() + chance.uniform(2, 5)
    repeated = 0
    with redis.Redis.from_url(world.redis_url) as client, redis.Redis.from_url(world.redis_url) as watched:
        own = client.client_info()["addr"]
        with watched.monitor() as monitor:
            while time.monotonic() < ends and monitor.connection.can_read(timeout=0.5):
                seen = monitor.next_command()
                name, _, rest = seen["command"].partition(" ")
                if name == "LPUSH" and f"{seen['client_address']}:{seen['client_port']}" != own:
                    client.lpush(*rest.split(" ", 1))
                    repeated += 1
    return f"{repeated} messages"


def kill_store(world: World, chance: random.Random) -> str:
    """Reset all connections to the store, and refuse new ones: the server of the tests keeps objects in memory."""
    with contextlib.ExitStack() as stack:
        for relay in world.relays_to(STORE):
            stack.enter_context(relay.away())
        time.sleep(chance.uniform(0.5, 5))
    return ""


def kill_mail(world: World, chance: random.Random) -> str:
    """Kill the mail server, and start it again."""
    world.mail.stop()
    time.sleep(chance.uniform(0.5, 5))
    world.mail.start()
    return ""


def delay_network(world: World, chance: random.Random) -> str:
    """Slow down what a machine sends to one of the others and gets from there."""
    number, link = chance.randrange(MACHINES), chance.choice(LINKS)
    relay = world.relays[number][link]
    relay.delay = chance.uniform(0.01, 0.2)
    time.sleep(chance.uniform(2, 6))
    relay.delay = 0.0
    return f"machine {number} and {link}"


def cut_network(world: World, chance: random.Random) -> str:
    """Let nothing pass between a machine and one of the others; then what was held back, or a reset."""
    number, link = chance.randrange(MACHINES), chance.choice(LINKS)
    relay = world.relays[number][link]
    with relay.cut():
        time.sleep(chance.uniform(1, 8))
        if chance.random() < 0.5:
            relay.reset()
    return f"machine {number} and {link}"


KINDS: Mapping[str, Kind] = {
    "web killed": Kind("processes", 2, kill_web),
    "worker killed": Kind("processes", 3, kill_worker),
    "beat killed": Kind("processes", 1, kill_beat),
    "worker stopped past its lease": Kind("processes", 2, stop_worker),
    "worker's disk full": Kind("processes", 2, fill_disk),
    "clock jumped": Kind("processes", 1, jump_clock),
    "PostgreSQL killed": Kind("database", 2, kill_postgres),
    "PostgreSQL failed over": Kind("database", 1, fail_over),
    "Redis killed": Kind("services", 2, kill_redis),
    "Redis emptied": Kind("services", 2, empty_redis),
    "every message twice": Kind("services", 1, repeat_messages),
    "store away": Kind("services", 2, kill_store),
    "mail server killed": Kind("services", 1, kill_mail),
    "network slow": Kind("network", 1, delay_network),
    "network cut": Kind("network", 2, cut_network),
}
PAUSE = {"processes": 14.0, "database": 30.0, "services": 14.0, "network": 12.0}  # seconds, on average


def lane(name: str, seed: int) -> Iterator[tuple[float, str, random.Random]]:
    """Yield the faults of a lane, by the seed alone: how long to wait, which kind, and by what it is varied."""
    chance = random.Random(f"{seed} {name}")
    kinds = {title: kind.weight for title, kind in KINDS.items() if kind.lane == name}
    while True:
        [title] = chance.choices(list(kinds), list(kinds.values()))
        yield chance.uniform(0, 2) * PAUSE[name], title, random.Random(chance.random())


@contextlib.contextmanager
def injecting(world: World, lanes: Mapping[str, Iterator[tuple[float, str, random.Random]]], met: list[str],
              told: Callable[[str], None]) -> Iterator[threading.Event]:  # fmt: skip
    """Inject faults of all lanes until the block ends; a fault that has begun comes to its end.

    Args:
        lanes: they go on where they were.
        met: gets the title of each.
        told: is told of each.

    Raises:
        Exception: a fault itself went wrong.
    """
    done, failures = threading.Event(), list[BaseException]()

    def work_off(faults: Iterator[tuple[float, str, random.Random]]) -> None:
        try:
            for pause, title, chance in faults:
                if done.wait(pause):
                    return
                met.append(title)
                told(f"{title} {KINDS[title].inject(world, chance)}".strip())
        except BaseException as error:
            failures.append(error)
            done.set()

    threads = [threading.Thread(target=work_off, args=(faults,)) for faults in lanes.values()]
    for thread in threads:
        thread.start()
    try:
        yield done
    finally:
        done.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
