"""What people and organisers do, by chance, and what they were answered."""

import collections
import contextlib
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import httpx

from tests.soak.world import World
from tests.support import small_world
from tests.support.factories import make_token, make_user
from tests.support.life import confirm_warnings, eventually, make_small_world, submit
from vocboard.app.accounts.models import Role

PEOPLE = 12
SECONDS_BETWEEN = 4.0  # on average, between what one person does
SECONDS_BETWEEN_RESCORES = 15.0
SECONDS_BETWEEN_READINGS = 0.3
LATER = (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS)
OF_THE_PROXY = (502, 503, 504)  # without a body: the web process was lost before it has answered
REFUSED = {403, 404, 409}  # what somebody else of the team has changed before
VARIANTS = (
    small_world.results_archive(),
    small_world.results_archive(comp3_det_test_dog=["000003 0.5 50 50 90 90"]),
    small_world.results_archive(comp1_cls_test_car=["000001 0.1", "000002 0.2", "000003 0.3", "000004 0.4"]),
)
INVALID = small_world.results_archive(comp3_det_test_dog=["000003 certainly 5 5 40 40"])
# The first image shows a dog in place of the car.
CORRECTED = small_world.ground_truth_archive({"000001": [("dog", (10, 10, 50, 50))]})
VERSIONS = (1, 2)  # of the ground truth
PAGES = ("/", "/challenges/small-world", "/challenges/small-world/leaderboards/comp3", "/docs", "/queue")
CHALLENGE = "/api/v1/challenges/small-world"

Expected = dict[tuple[str, int, int], float | None]  # mean by competition, variant and version of the ground truth


@dataclass
class Ledger:
    """What was answered.

    Attributes:
        accepted: submissions that a client was told of, with the variant that was uploaded.
        answers: how often which, by what was asked.
        wrong: what should not have been answered or seen.
        versions: how often leaderboards were seen with which version of the ground truth.
    """

    accepted: dict[str, int] = field(default_factory=dict)
    answers: collections.Counter[str] = field(default_factory=collections.Counter)
    wrong: list[str] = field(default_factory=list)
    versions: collections.Counter[int] = field(default_factory=collections.Counter)


@dataclass(frozen=True)
class Person:
    """Somebody with a token."""

    user_id: str
    email: str
    client: httpx.Client
    ledger: Ledger

    def ask(self, what: str, expected: set[int], method: str, path: str, **given: object) -> httpx.Response | None:
        """Return the answer if it is an expected one; None if there is none now, which is counted."""
        try:
            response = self.client.request(method, path, **given)  # type: ignore[arg-type]  # of httpx
        except httpx.TimeoutException:
            self.ledger.wrong.append(f"{what}: no answer in {self.client.timeout.read} s")
            return None
        except httpx.TransportError as error:  # the proxy breaks off an answer whose web process was killed
            self.ledger.answers[f"{what}: {type(error).__name__}"] += 1
            return None
        self.ledger.answers[f"{what}: {response.status_code}"] += 1
        if response.status_code in expected:
            return response
        is_later = response.status_code in LATER and "retry-after" in response.headers
        if not is_later and not (response.status_code in OF_THE_PROXY and not response.content):
            self.ledger.wrong.append(f"{what}: {response.status_code} {response.text[:300]}")
        return None


@dataclass(frozen=True)
class People:
    """Everybody, in a challenge that is open."""

    organiser: Person
    people: tuple[Person, ...]
    ledger: Ledger
    expected: Expected


@contextlib.contextmanager
def people_of(world: World) -> Iterator[People]:
    """Make the accounts and the challenge, with both versions of the ground truth, and what each variant scores."""
    ledger = Ledger()
    roles = [Role.ORGANISER] + PEOPLE * [Role.PARTICIPANT]
    with contextlib.ExitStack() as stack:
        with world.database() as database, database.writing() as session:
            users = [make_user(session, role=role) for role in roles]
            tokens = [make_token(session, user) for user in users]
        clients = [stack.enter_context(world.proxy.client({"Authorization": f"Bearer {token}"})) for token in tokens]
        organiser, *people = (
            Person(str(user.id), user.email, client, ledger) for user, client in zip(users, clients, strict=True)
        )
        make_small_world(organiser.client, quota_count=10_000, statistics=True)
        found = People(organiser, tuple(people), ledger, {})
        for variant, archive in enumerate(VARIANTS):
            made = submit(people[0].client, CHALLENGE, archive, method_name=f"Method {variant}")["id"]
            path = f"/api/v1/submissions/{made}"
            eventually(partial(_is_scored, people[0], path))
            assert people[0].client.post(f"{path}/publish").status_code == httpx.codes.OK
            ledger.accepted[made] = variant
        upload = {"archive": ("devkit.tar.gz", CORRECTED)}
        assert organiser.client.post(f"{CHALLENGE}/ground-truth", files=upload).status_code == httpx.codes.ACCEPTED
        versions = f"{CHALLENGE}/ground-truth"
        eventually(lambda: organiser.client.get(versions).json()["items"][0]["state"] == "ready")
        confirm_warnings(organiser.client, CHALLENGE)
        for version in VERSIONS:
            while _rescore(organiser, version) != version:
                time.sleep(0.2)
            for competition in small_world.COMPETITIONS:
                for row in people[0].client.get(f"{CHALLENGE}/leaderboards/{competition}").json()["rows"]:
                    found.expected[competition, ledger.accepted[row["submission"]], version] = row["mean"]
        assert found.expected["comp3", 0, 1] == round(small_world.MEAN_AP, 4), found.expected
        differing = {key[:2] for key, mean in found.expected.items() if mean != found.expected[*key[:2], 2]}
        assert len(differing) == len(VARIANTS) * len(small_world.COMPETITIONS), found.expected
        ledger.answers.clear()
        yield found


def _is_scored(person: Person, submission: str) -> bool:
    return bool(person.client.get(submission).json()["state"] == "scored")


@contextlib.contextmanager
def acting(people: People, seed: object) -> Iterator[None]:
    """Let everybody act, and look at the leaderboards, until the block ends."""
    done = threading.Event()
    actions = [_person(people, number, random.Random(f"{seed} person {number}")) for number in range(PEOPLE)]
    actions += [_organiser(people.organiser, random.Random(f"{seed} organiser")), _reader(people)]

    def act(steps: Iterator[float]) -> None:
        try:
            for pause in steps:
                if done.wait(pause):
                    return
        except Exception as error:
            people.ledger.wrong.append(f"the program itself: {error!r}")
            raise

    threads = [threading.Thread(target=act, args=(steps,)) for steps in actions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def _person(people: People, number: int, chance: random.Random) -> Iterator[float]:
    """What one person does, step by step: each yields how long it pauses then."""
    me, partner = people.people[number], people.people[number ^ 1]
    mine: list[str] = []

    def upload() -> Iterator[float]:
        """Upload until it is known that it was accepted, as clients do: each repetition has the same key."""
        variant, key = chance.randrange(len(VARIANTS)), f"{chance.getrandbits(128):032x}"
        form = {"method_name": f"Method {variant} of {number}", "method_description": key}
        files = {"archive": ("results.tar.gz", VARIANTS[variant])}
        headers = {"Idempotency-Key": key}
        path = f"{CHALLENGE}/submissions"
        while not (response := me.ask("upload", {201, 409}, "POST", path, data=form, files=files, headers=headers)):
            yield 1.0
        if response.status_code == httpx.codes.CONFLICT:  # accepted for a team that the person has left since
            return
        people.ledger.accepted[response.json()["id"]] = variant
        mine.append(response.json()["id"])

    def upload_invalid() -> None:
        files = {"archive": ("results.tar.gz", INVALID)}
        me.ask("invalid upload", {422}, "POST", f"{CHALLENGE}/submissions", data={"method_name": "x"}, files=files)

    def look() -> None:
        path = chance.choice((*PAGES, *(f"/submissions/{one}" for one in mine[-1:])))
        page = me.ask("page", {200, 303, 404}, "GET", path)
        if page is not None and page.status_code == httpx.codes.OK and "</html>" not in page.text:
            people.ledger.wrong.append(f"{path} ends early")

    def publish() -> None:
        if mine:
            path = f"/api/v1/submissions/{chance.choice(mine[-3:])}"
            if chance.random() < 0.7:
                me.ask("publish", {200} | REFUSED, "POST", f"{path}/publish", json={"replace": True})
            else:
                me.ask("unpublish", {200} | REFUSED, "POST", f"{path}/unpublish")

    def change_team() -> None:
        """Found a team, invite the next person, who joins and leaves."""
        me.ask("found", {201} | REFUSED, "POST", f"{CHALLENGE}/teams", json={"name": f"Team {number}"})
        team = me.ask("team", {200} | REFUSED, "GET", f"{CHALLENGE}/teams/mine")
        if team is None or team.status_code != httpx.codes.OK:
            return
        path, to = f"/api/v1/teams/{team.json()['id']}", {"email": partner.email}
        invited = me.ask("invite", {201} | REFUSED, "POST", f"{path}/invitations", json=to)
        if invited is not None and invited.status_code == httpx.codes.CREATED:
            accepting = f"/api/v1/team-invitations/{invited.json()['token']}/accept"
            partner.ask("join", {200} | REFUSED, "POST", accepting)
            partner.ask("leave", {204} | REFUSED, "DELETE", f"{path}/members/{partner.user_id}")

    kinds: list[tuple[float, Callable[[], Iterator[float] | None]]] = [
        (60, upload), (8, upload_invalid), (16, look), (12, publish), (4, change_team)
    ]  # fmt: skip
    weights, actions = zip(*kinds, strict=True)
    while True:
        yield chance.uniform(0, 2 * SECONDS_BETWEEN)
        [action] = chance.choices(actions, weights)
        yield from action() or ()


def _organiser(organiser: Person, chance: random.Random) -> Iterator[float]:
    wanted = VERSIONS[-1]
    while True:
        yield chance.uniform(0.5, 1.5) * SECONDS_BETWEEN_RESCORES
        wanted = sum(VERSIONS) - wanted
        while _rescore(organiser, wanted) != wanted:
            yield 1.0


def _rescore(organiser: Person, wanted: int) -> int | None:
    """Take the next step to a version of the ground truth; return the one that counts if it is known."""
    listed = organiser.ask("re-scores", {200}, "GET", f"{CHALLENGE}/rescores")
    if listed is None:
        return None
    rescores = listed.json()["items"]
    applied = [each["ground_truth_version"] for each in rescores if each["state"] == "applied"]
    current = int(applied[0]) if applied else VERSIONS[0]
    latest = rescores[0] if rescores else {"state": "applied"}
    if latest["state"] == "ready":
        path, confirmed = f"/api/v1/rescores/{latest['id']}/apply", {"confirm": "small-world"}
        organiser.ask("apply", {200, 409}, "POST", path, json=confirmed)
    elif latest["state"] != "running" and current != wanted:
        started = {"ground_truth_version": wanted, "reason": "Labels corrected"}
        organiser.ask("re-score", {201, 409}, "POST", f"{CHALLENGE}/rescores", json=started)
    return current


def _reader(people: People) -> Iterator[float]:
    """Look at leaderboards: all rows have to be of one version of the ground truth, in the right order."""
    ledger, reader = people.ledger, people.people[0]
    for competition in itertools.cycle(small_world.COMPETITIONS):
        yield SECONDS_BETWEEN_READINGS
        seen = reader.ask("leaderboard", {200}, "GET", f"{CHALLENGE}/leaderboards/{competition}")
        if seen is None:
            continue
        board = seen.json()
        rows = [(ledger.accepted.get(row["submission"]), row["mean"]) for row in board["rows"]]
        fitting = [
            version
            for version in VERSIONS
            if all(mean == people.expected[competition, which, version] for which, mean in rows if which is not None)
        ]
        newest = board["corrections"][0]["ground_truth_version"] if board["corrections"] else VERSIONS[0]
        means = [mean for _, mean in rows]
        if newest not in fitting or means != sorted(means, reverse=True):
            ledger.wrong.append(f"a leaderboard of {competition} by version {newest} that mixes versions: {rows}")
        ledger.versions[newest] += 1
        ledger.answers["rows seen"] += len(rows)
