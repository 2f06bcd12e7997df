"""What can be learnt of the ground truth from all that participants can fetch, at every detail level.

The truth has VOC2007's size: 4,952 images, 200 with the class. Somebody uploads a ranking of all of them.
"""

import re
import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import delete, select, update

from tests.app.authorisation_table import TABLE, Person
from tests.support.browsing import browser_of
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.jobs import sweep
from tests.support.other_truths import answers, certain
from tests.support.phases import show_board
from tests.support.scored import make_submission, store_scores
from tests.support.site import Site
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.challenges.queries import challenge_by_slug
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS, DiagnosisFailure
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.evaluations.service import Diagnosis
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards.models import BoardStatistics
from vocboard.app.leaderboards.statistics import Interval, MethodStatistics, Statistics, digest_of
from vocboard.app.organising.challenge_changes import set_detail
from vocboard.app.participating import publishing
from vocboard.app.submissions.models import Submission
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Interpolation, Metric, Task
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure

IMAGES, POSITIVES = 4952, 200
TRUTH_HASH = "7" * 64
LEAKED = 0.05  # of the positives, at most, below the level `everything`


def ranking(kind: str) -> NDArray[np.bool_]:
    """(4952,) whether each image of an upload is positive, by rank."""
    random = np.random.default_rng(2007)
    present = np.zeros(IMAGES, dtype=bool)
    if kind == "good":
        present[:POSITIVES] = True
        return present[np.argsort(-random.normal(3.0 * present, 1.0))]  # average precision about 0.8
    known: dict[str, list[int]] = {
        "random": [],
        "first twenty right": [*range(20)],
        "every other right": [*range(0, 40, 2)],
        # From the 40th positive on (recall 0.2), the greatest precision is 57 / 59.
        "one step below the ceiling": [*range(16), *range(17, 30), *range(31, 59)],
    }
    present[known[kind]] = True
    first = {"every other right": 40, "one step below the ceiling": 66}.get(kind, len(known[kind]))
    rest = POSITIVES - int(present.sum())
    present[first + random.permutation(IMAGES - first)[:rest]] = True
    return present


def scores(by_rank: NDArray[np.bool_], *, edition: str) -> CompetitionScores:
    """What the evaluator says of such an upload to comp1, one class entered."""
    judgement = Judgement(true=by_rank, false=~by_rank, positives=POSITIVES)
    area = judgement.average_precision(Interpolation.AREA)
    primary, secondary = Measure(Metric.AVERAGE_PRECISION, {"car": area}), ()
    if edition == "VOC2007":
        mean = judgement.average_precision(Interpolation.ELEVEN_POINT)
        primary = Measure(Metric.AVERAGE_PRECISION, {"car": mean})
        secondary = (Measure(Metric.AVERAGE_PRECISION_AREA, {"car": area}),)
    return CompetitionScores(
        competition="comp1",
        task=Task.CLASSIFICATION,
        primary=primary,
        secondary=secondary,
        details={"car": judgement.details(results=IMAGES, difficult=0)},
        curves={"car": judgement.curve()},
    )


class Scene:
    """A published result of an upload, and the people who look at it."""

    def __init__(
        self,
        site: Site,
        scored: CompetitionScores,
        level: Detail,
        *,
        edition: str = "VOC2007",
        diagnosis: Diagnosis | None = None,
    ) -> None:
        self.site, self.competition = site, scored.competition
        with site.writing() as session:
            organiser, owner = make_organiser(session), make_user(session)
            self.organiser, self.owner = make_token(session, organiser), make_token(session, owner)
            self.organisers_email = organiser.email
            challenge = make_challenge(
                session, organiser=organiser, edition=edition, competitions=[scored.competition], detail=level
            )
            self.slug = challenge.slug
            self.submission_id = _submission(session, challenge, owner, scored)
            assert challenge.main_phase.current_scoring_id is not None
            store_scores(
                session,
                self.submission_id,
                challenge.main_phase.current_scoring_id,
                {scored.competition: scored},
                ground_truth_sha256=TRUTH_HASH,
            )
            if diagnosis is not None:
                of_this = Evaluation.submission_id == self.submission_id
                evaluation_id = session.scalars(select(Evaluation.id).where(of_this)).one()
                evaluations.store_diagnoses(session, evaluation_id, {scored.competition: diagnosis}, noise_key=b"key")
            self.method_id = session.get_one(Submission, self.submission_id).method_id
            self.link = publishing.create_anonymous_link(session, submission_id=self.submission_id, user=owner)

    def views(self, token: str | None, *, of_others: bool = False) -> Mapping[str, str]:
        """Everything that somebody can fetch about the challenge and the submission, by address.

        Args:
            token: somebody's, for the API alone; pages know nobody by it, and are as without one.
            of_others: also what is about no challenge or submission, such as lists.
        """
        known = {
            "slug": self.slug,
            "competition": self.competition,
            "submission_id": str(self.submission_id),
            "method_id": str(self.method_id),
            "token": self.link,
        }
        with self.site.client(token) as client:
            wanted = addresses(known) - (set() if of_others else addresses({}))
            found = {address: client.get(address) for address in sorted(wanted) if not token or "/api/" in address}
        shown = {address: answer.text for address, answer in found.items() if answer.status_code == 200}
        # The hash of a static file and a time of day may happen to have the digits of a number.
        chance = re.compile(r"\?v=[0-9a-f]{12}\b|\d\d:\d\d:\d\d(\.\d+)?")
        return {address: chance.sub("", text) for address, text in shown.items()}

    def scores(self, token: str | None) -> Any:
        """What the API says of the competition."""
        with self.site.client(token) as client:
            return client.get(f"/api/v1/submissions/{self.submission_id}").json()["competitions"][self.competition]

    def curves(self, token: str | None) -> Any:
        """What the API says of the curves by class; empty if nothing."""
        with self.site.client(token) as client:
            return client.get(f"/api/v1/submissions/{self.submission_id}/curves/{self.competition}").json()["curves"]

    def diagnosis(self, token: str | None) -> Any:
        """What the API says of errors."""
        with self.site.client(token) as client:
            return client.get(f"/api/v1/submissions/{self.submission_id}/diagnosis/{self.competition}").json()

    def curve(self, token: str | None) -> Any:
        """What the API says of the curve of the class car; empty if nothing."""
        return self.curves(token).get("car", {})


def addresses(known: Mapping[str, str]) -> set[str]:
    """All addresses that the authorisation table allows participants, and which name nothing but what is known."""
    participants = {Person.VISITOR, Person.OWNER}
    allowed = {route for route, rules in TABLE.items() if any(rule.allowed & participants for rule in rules)}
    templates = {route.removeprefix("GET ") for route in allowed if route.startswith("GET ")}
    boards = {template for template in templates if template.endswith("/leaderboards/{competition}")}
    templates |= {board + ending for board in boards for ending in (".csv", ".tex")}
    exports = {template for template in templates if re.search("/(scores|curves|diagnosis)/{competition}$", template)}
    templates |= {export + ending for export in exports for ending in (".csv", ".svg")}
    fields = {template: set(re.findall(r"{(\w+)(?::\w+)?}", template)) for template in templates}
    found = {template.format_map(known) for template, needed in fields.items() if needed <= set(known)}
    return found - {"/api/v1/openapi.json"}  # which names the fields, and is the same for everybody


def _submission(session: Any, challenge: Challenge, owner: User, scored: CompetitionScores) -> uuid.UUID:
    classes = {scored.competition: list(scored.primary.per_class)}
    return make_submission(session, challenge, owner, "Method", classes, published_at=now()).id


def ranks_of_hits(curve: Mapping[str, list[float]], positives: int) -> set[int]:
    """The attack on exact curves: a corner's recall tells how many hits there are, its precision among how many."""
    best: dict[int, float] = {}
    for recall, precision in zip(curve["recall"], curve["precision"], strict=True):
        hits = round(recall * positives)
        best[hits] = max(best.get(hits, 0.0), precision)
    return {round(hits / precision) - 1 for hits, precision in best.items() if hits and precision}


def expect_counts_for_organisers(scene: Scene) -> None:
    assert scene.scores(scene.organiser)["details"]["car"]["positives"] == POSITIVES
    with scene.site.client(scene.organiser) as client:
        assert TRUTH_HASH in client.get(f"/api/v1/submissions/{scene.submission_id}").text


@pytest.mark.parametrize("kind", ["random", "good"])
def test_everything_reveals_the_truth(embedded_site: Site, kind: str) -> None:
    by_rank = ranking(kind)
    scene = Scene(embedded_site, scores(by_rank, edition="VOC2007"), Detail.EVERYTHING)
    expect_counts_for_organisers(scene)
    positives = scene.scores(None)["details"]["car"]["positives"]
    found = ranks_of_hits(scene.curve(None), positives)
    assert found <= set(np.flatnonzero(by_rank).tolist())
    assert len(found) >= 0.95 * POSITIVES


ALWAYS_TRIED = {("VOC2007", "good"), ("VOC2007", "first twenty right"), ("VOC2012", "one step below the ceiling")}


@pytest.mark.parametrize(
    ("edition", "kind"),  # the first edition shows the mean of the points, and the area
    [
        pytest.param(edition, kind, marks=[] if (edition, kind) in ALWAYS_TRIED else pytest.mark.long)
        for edition in ("VOC2007", "VOC2012")
        for kind in ("random", "good", "first twenty right", "every other right", "one step below the ceiling")
    ],
)
def test_curves_make_certain_of_few_positives(embedded_site: Site, edition: str, kind: str) -> None:
    """Of every other positive some other truth with as many positives gives the same answers."""
    ranks = np.flatnonzero(ranking(kind))
    shown = answers(ranks, IMAGES, 4, is_mean_score=edition == "VOC2007")
    scene = Scene(embedded_site, scores(ranking(kind), edition=edition), Detail.CURVES, edition=edition)
    fetched, points = scene.scores(scene.owner), scene.curve(scene.owner)["precision"]
    area = fetched["secondary"]["area_under_curve"] if edition == "VOC2007" else fetched
    assert area["per_class"]["car"] == shown.area
    assert shown.mean is None or fetched["per_class"]["car"] == shown.mean
    assert ((shown.least - 1e-6 <= points) & (points <= shown.greatest + 1e-6)).all()
    few = int(LEAKED * POSITIVES)
    assert len(certain(ranks, shown, np.random.default_rng(1), most=few)) <= few


@pytest.mark.parametrize("level", [Detail.MEAN, Detail.CLASSES, Detail.CURVES])
def test_no_view_shows_more_than_its_level(embedded_site: Site, level: Detail) -> None:
    exact = scores(ranking("good"), edition="VOC2007")
    scene = Scene(embedded_site, exact, level)
    expect_counts_for_organisers(scene)
    for token in (scene.owner, None):
        views = scene.views(token, of_others=True)
        assert len(views) >= 10
        for address, text in views.items():
            assert TRUTH_HASH not in text, address
            assert not re.search(r'"positives"|>Positives<|Final recall|final_recall', text), address
            assert str(exact.primary.per_class["car"]) not in text, address
            score = f"{exact.secondary[0].per_class['car']:.4f}"
            # The mean of one class is its score: of this measure, these views show it.
            shows_mean = address.endswith(str(scene.submission_id)) or "/scores/" in address
            if level is Detail.MEAN and not shows_mean:
                assert score not in text, address
        fetched, curve = scene.scores(token), scene.curve(token)
        assert fetched["details"] == {}
        assert fetched["confusion_matrix"] is fetched["confusion_counts"] is None
        assert bool(fetched["per_class"]) == (level is not Detail.MEAN)
        assert fetched["mean"] is not None
        if level is Detail.CURVES:
            assert curve["recall"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
            assert [round(value / 0.05) * 0.05 for value in curve["precision"]] == pytest.approx(curve["precision"])
        else:
            assert curve == {}


COUNTS = ClassDetails(
    positives=79193715, results=6101, difficult=5303, final_recall=0.876543212, final_precision=0.765432123
)
PER_CLASS = (0.432178912, 0.864213578)
CURVE_POINT = 0.654321234
CALIBRATION_ERROR = 0.197531246  # its metric is for public ground truth only
PIXELS = 1048573
OF_SOME_OBJECTS = 0.271828182  # of 40 objects: 0.3 in steps of a tenth


def scores_of(task: Task) -> CompetitionScores:
    """Scores of a task's first competition in VOC2012, of numbers that occur nowhere else."""
    competitions = editions.load("VOC2012").competitions.values()
    competition = next(each for each in competitions if each.task is task)
    names = competition.classes[:2]
    matrix = np.full((21, 21), PIXELS) if task is Task.SEGMENTATION else None
    recall, precision = np.array([0.3, CURVE_POINT, 1.0]), np.array([CURVE_POINT, 0.543212345, 0.321234567])
    return CompetitionScores(
        competition=competition.key,
        task=task,
        primary=Measure(competition.rules.metric, dict(zip(names, PER_CLASS, strict=True))),
        secondary=(
            Measure(Metric.CALIBRATION_ERROR, dict.fromkeys(names, CALIBRATION_ERROR)),
            Measure(
                Metric.NORMALISED_AP_TRUNCATED,
                dict.fromkeys(names, OF_SOME_OBJECTS),
                dict(zip(names, (40, 19), strict=True)),
            ),
        ),
        details=dict.fromkeys(names, COUNTS) if matrix is None else {},
        curves={name: Curve(recall, precision) for name in names} if matrix is None else {},
        confusion_matrix=matrix,
        images_by_label=None if matrix is None else np.full(21, 300),
        not_entered=competition.classes[2:],
    )


NUMBER, GAIN = 70919, 0.318273645  # occur nowhere else


def _diagnosis() -> Diagnosis:
    kinds = ("location", "class", "duplicate", "background", "both", "missed")
    counts = dict.fromkeys(("right", *kinds, "not_found"), NUMBER)
    gain = dict.fromkeys((*kinds, "false_positives", "false_negatives"), GAIN)
    errors = {"counts": counts, "score": 0.5, "gain": gain}
    exact = {
        "errors": {**errors, "per_class": {"car": errors}},
        "first_false_positives": {"car": dict.fromkeys(("location", "similar", "other", "background"), NUMBER)},
        "confused_with": {"car": {"bus": NUMBER}},
    }
    results = {"right": 2000.0, "location": 1000.0, "similar": 0.0, "other": 0.0, "background": 1000.0}
    return Diagnosis(exact, {"first_results": results, "objects": {"right": 900.0, "nearly": 0.0, "missed": 100.0}})


def expect_diagnosis(scene: Scene, level: Detail, shown: Mapping[str, str]) -> None:
    """Diagnoses follow the level, too, in all that the owner and visitors see."""
    exact = [str(NUMBER), f"{NUMBER:,}", str(GAIN), "31.8"]
    for token in (scene.owner, None, scene.organiser):
        with_shares = token == scene.organiser or level in {Detail.CURVES, Detail.EVERYTHING}
        found = scene.diagnosis(token)
        assert found["is_known"] == with_shares
        shares = {
            "first_results": {"right": 0.5, "location": 0.25, "similar": 0.0, "other": 0.0, "background": 0.25},
            "objects": {"right": 0.9, "nearly": 0.0, "missed": 0.1},
        }
        assert found["shares"] == (shares if with_shares else {})
        assert (found["exact"] is not None) == (level is Detail.EVERYTHING)
    pages = [f"/submissions/{scene.submission_id}", f"/anonymous/{scene.link}"]
    has_exact = {address for address, text in shown.items() if any(number in text for number in exact)}
    files = [f"/api/v1/submissions/{scene.submission_id}/diagnosis/comp3{ending}" for ending in ("", ".csv")]
    assert has_exact == (set() if level is not Detail.EVERYTHING else {*pages, *files})
    for page in (shown[address] for address in pages):
        assert ("What to improve" in page) == (level in {Detail.CURVES, Detail.EVERYTHING})
        assert ("background 25 %" in page) == (level is Detail.CURVES)


TASKS = dict.fromkeys(each.task for each in editions.load("VOC2012").competitions.values())
# What one level hides more than the one above it is the same for tasks with curves, so two tasks are tried at all four,
# and the others at the one that shows most, below the level `everything`.
LEVELS_OF_TASKS = [
    pytest.param(task, level, marks=[] if of_all or level is Detail.CURVES else pytest.mark.long)
    for task in TASKS
    for of_all in [task in {Task.DETECTION, Task.SEGMENTATION}]
    for level in Detail
]


@pytest.mark.parametrize(("task", "level"), LEVELS_OF_TASKS)
def test_no_view_of_any_task_shows_more_than_its_level(embedded_site: Site, task: Task, level: Detail) -> None:
    diagnosis = _diagnosis() if task is Task.DETECTION else None
    scene = Scene(embedded_site, scores_of(task), level, edition="VOC2012", diagnosis=diagnosis)
    exact = [str(value) for value in (*PER_CLASS, CURVE_POINT, COUNTS.final_recall, PIXELS, COUNTS.positives)]
    exact += [f"{value:,}" for value in (PIXELS, COUNTS.positives)]
    shares = ["0.0476", "4.76"]  # 1 of 21, with more decimals than a share may have
    classes = ["0.4322", "43.22", "0.8642", "86.42"]
    calibration = [str(CALIBRATION_ERROR), "0.1975", "19.75"]
    to_visitors = scene.views(None)
    for token in (scene.owner, None):
        views = {**to_visitors, **scene.views(token)} if token else to_visitors
        if diagnosis is not None and token:
            expect_diagnosis(scene, level, views)
        everything = "\n".join(views.values())
        of_some = scene.scores(token)["secondary"]["normalised_average_precision_truncated"]
        assert of_some["mean"] == 0.3  # too few objects of the other class
        assert level is Detail.MEAN or list(of_some["per_class"].values()) == [0.3, None]
        for address, text in views.items():
            assert not re.search(r"0\.2718|(?<!\d)27\.18", text), address
        if level is Detail.EVERYTHING:
            assert str(PIXELS if task is Task.SEGMENTATION else COUNTS.positives) in everything
            assert "19.75" in everything
            continue
        hidden = exact + shares + calibration + (classes if level is Detail.MEAN else [])
        for address, text in views.items():
            assert [number for number in hidden if number in text] == [], address
        assert level is Detail.MEAN or "43.22" in everything
        assert "64.82" in everything  # the mean
        has_points = bool(scene.scores(token)["confusion_matrix"] if task is Task.SEGMENTATION else scene.curves(token))
        assert has_points == (level is Detail.CURVES)


def test_a_level_that_is_raised_shows_exact_curves_once_the_worker_has_copied_them(site: Site) -> None:
    scene = Scene(site, scores(ranking("good"), edition="VOC2007"), Detail.CURVES)
    with site.client(scene.organiser) as client:
        refused = client.patch(f"/api/v1/challenges/{scene.slug}", json={"detail": "everything"})
    assert refused.status_code == 422
    assert f"vocboard admin set-detail {scene.slug} everything --organiser EMAIL" in refused.text
    with site.writing() as session:
        organiser = session.scalars(select(User).where(User.role == Role.ORGANISER)).one()
        found = challenge_by_slug(session, scene.slug, organiser)
        assert found is not None
        challenge, _ = found
        set_detail(session, challenge=challenge, user=organiser, detail=Detail.EVERYTHING)
    assert len(scene.curve(None)["recall"]) == 11
    sweep(site.database, site.settings)
    assert len(ranks_of_hits(scene.curve(None), POSITIVES)) >= 0.95 * POSITIVES
    with site.client(scene.organiser) as client:
        client.patch(f"/api/v1/challenges/{scene.slug}", json={"detail": "curves"})
    assert len(scene.curve(None)["recall"]) == 11


@pytest.mark.parametrize("level", [Detail.MEAN, Detail.CLASSES])
def test_intervals_and_differences_follow_the_detail_level(embedded_site: Site, level: Detail) -> None:
    """Numbers that occur nowhere else are only where the level permits them, rounded as workers store them."""
    scene = Scene(embedded_site, scores(ranking("good"), edition="VOC2007"), level)
    with embedded_site.writing() as session:
        found = challenge_by_slug(session, scene.slug, None)
        board = show_board(session, found[0], "comp1")
        results = [entry.result_id for entry in board.rows.entries if entry.result_id is not None]
        method = MethodStatistics(Interval(0.111, 0.222), {"car": Interval(0.333, 0.444)}, (1, 1), True)
        digest = digest_of(results, 3)
        assert digest is not None
        content = Statistics(3, IMAGES, 1_000, 1, dict.fromkeys(results, method)).as_json()
        session.add(
            BoardStatistics(
                challenge_id=found[0].id,
                phase_id=found[0].main_phase.id,
                competition="comp1",
                methods_sha256=digest,
                version=1,
                content=content,
            )
        )
    shown = scene.views(None)  # a leaderboard is the same for everyone
    with_mean = {address for address, text in shown.items() if re.search(r"(?<!\d)0\.111(?!\d)|11\.1–22\.2", text)}
    with_class = {address for address, text in shown.items() if re.search(r"(?<!\d)0\.333(?!\d)|33\.3–44\.4", text)}
    assert any(address.endswith("/leaderboards/comp1") for address in with_mean)
    assert bool(with_class) == (level is Detail.CLASSES)


def test_an_evaluation_without_a_diagnosis_says_why(embedded_site: Site) -> None:
    scene = Scene(embedded_site, scores_of(Task.DETECTION), Detail.CURVES, edition="VOC2012")
    nothing = {"competition": "comp3", "is_known": False, "shares": {}, "exact": None}
    address = f"/submissions/{scene.submission_id}"

    def check(state: str, text: str, failure: str | None = None, explanation: str | None = None) -> None:
        why = {"state": state, "failure": failure, "explanation": explanation}
        assert scene.diagnosis(None) == {**nothing, **why}
        for reader in (None, scene.organisers_email):
            with browser_of(embedded_site, reader) as client:
                page = client.get(address).text
            assert text in page
            assert ("Compute again" in page) == (reader is not None and failure is not None)

    check("waiting", "errors of this result are not known yet")
    reason, of_diagnosis = DiagnosisFailure.TOO_LARGE, Job.kind == Kind.DIAGNOSIS
    with embedded_site.writing() as session:
        session.execute(update(Job).where(of_diagnosis).values(failure=reason, finished_at=now()))
    check("failed", "could not be computed. It took more memory", reason.value, EXPLANATIONS[reason])
    with embedded_site.writing() as session:
        session.execute(delete(Job).where(of_diagnosis))
    check("none", "came with a challenge from another server")
