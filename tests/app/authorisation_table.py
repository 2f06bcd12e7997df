"""Who may do what: one rule for every route of the application, and for every kind of object that it is about.

The world that it speaks of is built by `tests.app.authorisation_world`: a public challenge and a draft, both of the
same organiser, and two scored submissions of the same owner to the public one, one published and one not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tests.support.factories import PASSWORD
from vocboard.app.accounts.models import Scope


class Person(StrEnum):
    """A user in the authorisation tests."""

    VISITOR = "visitor"
    OTHER_PARTICIPANT = "other participant"
    OWNER = "owner"  # of the submissions
    OTHER_ORGANISER = "other organiser"  # who may make challenges, but not change these
    ORGANISER = "organiser"  # of the challenges, which this person owns
    SECOND_ORGANISER = "second organiser"  # of the challenges, who may not create any
    ADMINISTRATOR = "administrator"


EVERYONE = frozenset(Person)
NOBODY: frozenset[Person] = frozenset()
SIGNED_IN = EVERYONE - {Person.VISITOR}
OWNER = frozenset({Person.OWNER})

OWNING = frozenset({Person.ORGANISER, Person.ADMINISTRATOR})  # the challenges
ORGANISERS = OWNING | {Person.SECOND_ORGANISER}  # of the challenges
ADMINISTRATOR = frozenset({Person.ADMINISTRATOR})
MANAGERS = ORGANISERS | OWNER  # of the submissions
MAY_ORGANISE = ORGANISERS | {Person.OTHER_ORGANISER}
MAY_CREATE = OWNING | {Person.OTHER_ORGANISER}


@dataclass(frozen=True)
class Rule:
    """Who may use a route on which objects.

    Attributes:
        allowed: everyone else is refused, and nothing has changed.
        path: what stands for the fields of the route's path, out of the world's names.
        scope: what a token needs for it; None for pages, and for what no scope is needed.
        hidden: those refused must not even learn that there is such a thing: 404.
        query: fields of the address after the question mark; as in forms, values may be names of the world's.
        form: fields of the form, for routes of pages that take one.
        json: the body, for routes of the API that take one.
        headers: of the request, for routes of the API that need some.
    """

    allowed: frozenset[Person]
    path: Mapping[str, str] = field(default_factory=dict)
    scope: Scope | None = None
    hidden: bool = False
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


PUBLIC = {"slug": "public-challenge"}
DRAFT = {"slug": "draft-challenge"}
PUBLISHED = {"submission_id": "published"}
PRIVATE = {"submission_id": "private"}
UPLOAD = {"upload_id": "upload"}
COMPETITION = {"competition": "comp1"}
TEAM = {"team_id": "team"}  # the owner's in the public challenge
RESCORE = {"rescore_id": "rescore"}
NEW_RESCORE = {"ground_truth_version": 1, "reason": "Labels corrected"}


# Shows signed-in users, too, what visitors see, so nobody sees it of a draft.
SEEN_BY_VISITORS = (
    Rule(EVERYONE, PUBLIC | COMPETITION),
    Rule(NOBODY, DRAFT | COMPETITION, hidden=True),
)


def of_challenges(allowed: frozenset[Person], scope: Scope | None = None, **given: Any) -> tuple[Rule, ...]:
    """Rules of a route about challenges that everyone sees, and drafts."""
    path = given.pop("path", {})
    return (
        Rule(allowed, PUBLIC | path, scope, **given),
        Rule(allowed & ORGANISERS, DRAFT | path, scope, hidden=True, **given),
    )


def reading_submissions(scope: Scope | None = None, **path: str) -> tuple[Rule, ...]:
    """Rules of a route that shows a submission."""
    return (Rule(EVERYONE, PUBLISHED | path, scope), Rule(MANAGERS, PRIVATE | path, scope, hidden=True))


def changing_submissions(allowed: frozenset[Person], scope: Scope | None = None) -> tuple[Rule, ...]:
    """Rules of a route that changes a submission."""
    return (Rule(allowed, PUBLISHED, scope), Rule(allowed, PRIVATE, scope))


def of_own_team(**path: str) -> tuple[Rule, ...]:
    """Rules of a route of pages about the person's team in a challenge."""
    return (Rule(OWNER, PUBLIC | path, hidden=True), Rule(NOBODY, DRAFT | path, hidden=True))


def moderating(scope: Scope | None = None, **given: Any) -> tuple[Rule, ...]:
    """Rules of what organisers do about a submission; its owner may not."""
    return (Rule(ORGANISERS, PUBLISHED, scope, **given), Rule(ORGANISERS, PRIVATE, scope, **given))


TERMS = "Use the images for research only."  # of the public challenge, which everyone has accepted
REASON = {"reason": "Trained on the test set."}
NO_ID = "00000000-0000-4000-8000-000000000000"


def of_versions(scope: Scope | None = None) -> tuple[Rule, ...]:
    """Rules of a route about a version of ground truth."""
    return (
        Rule(ORGANISERS, PUBLIC | {"number": "public-version"}, scope),
        Rule(ORGANISERS, DRAFT | {"number": "draft-version"}, scope, hidden=True),
    )


def of_files(scope: Scope | None = None) -> tuple[Rule, ...]:
    """Rules of a route that changes a file of a challenge."""
    return (
        Rule(ORGANISERS, PUBLIC | {"file_id": "public-file"}, scope),
        Rule(ORGANISERS, DRAFT | {"file_id": "draft-file"}, scope, hidden=True),
    )


def of_reported(scope: Scope | None = None, **given: Any) -> tuple[Rule, ...]:
    """Rules of a route that changes a result which was reported elsewhere."""
    return (
        Rule(ORGANISERS, PUBLIC | COMPETITION | {"reported_id": "reported"}, scope, **given),
        Rule(ORGANISERS, DRAFT | COMPETITION | {"reported_id": "draft-reported"}, scope, hidden=True, **given),
    )


BASELINE = {"kind": "baseline", "method": "Chance", "mean": 0.01}
BASELINE_FORM = {"board": "main/comp1", "kind": "baseline", "table": "method,mean\nChance,1"}


def of_announcements(scope: Scope | None = None, **given: Any) -> tuple[Rule, ...]:
    """Rules of a route that changes an announcement."""
    return (
        Rule(ORGANISERS, PUBLIC | {"announcement_id": "public-announcement"}, scope, **given),
        Rule(NOBODY, PUBLIC | {"announcement_id": "draft-announcement"}, scope, **given),
        Rule(ORGANISERS, DRAFT | {"announcement_id": "draft-announcement"}, scope, hidden=True, **given),
    )


WEBHOOK = {"url": "https://hooks.example/voc", "events": ["submission.scored"]}


def of_webhooks(scope: Scope | None = None) -> tuple[Rule, ...]:
    """Rules of a route about a webhook of the public challenge, which belongs to no other."""
    known = {"webhook_id": "challenge-webhook"}
    return (
        Rule(NOBODY, PUBLIC | {"webhook_id": "webhook"}, scope),
        Rule(NOBODY, DRAFT | known, scope, hidden=True),
        Rule(ORGANISERS, PUBLIC | known, scope),
    )


def of_questions(scope: Scope | None = None, **given: Any) -> tuple[Rule, ...]:
    """Rules of a route that changes a question or its answer, which its asker cannot."""
    return (
        Rule(NOBODY, DRAFT | {"question_id": "private-question"}, scope, hidden=True, **given),  # while there is one
        Rule(ORGANISERS, PUBLIC | {"question_id": "private-question"}, scope, **given),
    )


def of_requests(scope: Scope | None = None, **given: Any) -> tuple[Rule, ...]:
    """Rules of a route that decides on a request to be admitted."""
    return (
        Rule(ORGANISERS, PUBLIC | {"request_id": "request"}, scope, **given),
        Rule(NOBODY, DRAFT | {"request_id": "request"}, scope, hidden=True, **given),
    )


OWN_EDITION = """
name = "Own"
title = "A custom edition"
classes = ["car"]
[tasks.detection]
file = "{competition}_{class}.txt"
metric = "average_precision"
interpolation = "area"
[[competitions]]
number = 1
task = "detection"
training = "trainval"
image_set = "test"
"""

TABLE: Mapping[str, tuple[Rule, ...]] = {
    # The API.
    "GET /api/v1/me": (Rule(SIGNED_IN),),
    "PATCH /api/v1/account": (Rule(SIGNED_IN, scope=Scope.SUBMIT, json={"name": "Another Name"}),),
    "POST /api/v1/account/email": (
        Rule(SIGNED_IN, scope=Scope.SUBMIT, json={"email": "another@lab.example", "password": PASSWORD}),
    ),
    "POST /api/v1/account/terms": (
        Rule(NOBODY, scope=Scope.SUBMIT, json={"version": "0"}, hidden=True),  # this server has none
    ),
    "DELETE /api/v1/account": (
        Rule(SIGNED_IN, scope=Scope.SUBMIT, json={"naming": "keep_name", "password": "wrong password"}),
    ),
    "GET /api/v1/account/export": (Rule(SIGNED_IN, scope=Scope.READ),),
    "GET /api/v1/account/emails": (Rule(SIGNED_IN, scope=Scope.READ),),
    "PATCH /api/v1/account/emails": (Rule(SIGNED_IN, scope=Scope.SUBMIT, json={"scored": False}),),
    "GET /api/v1/notifications": (Rule(SIGNED_IN, scope=Scope.READ),),
    "GET /api/v1/webhooks": (Rule(SIGNED_IN, scope=Scope.READ),),
    "POST /api/v1/webhooks": (Rule(SIGNED_IN, scope=Scope.SUBMIT, json=WEBHOOK),),
    "POST /api/v1/webhooks/{webhook_id}/test": (Rule(OWNER, {"webhook_id": "webhook"}, Scope.SUBMIT, hidden=True),),
    "GET /api/v1/webhooks/{webhook_id}/deliveries": (Rule(OWNER, {"webhook_id": "webhook"}, Scope.READ, hidden=True),),
    "DELETE /api/v1/webhooks/{webhook_id}": (Rule(OWNER, {"webhook_id": "webhook"}, Scope.SUBMIT, hidden=True),),
    "GET /api/v1/challenges/{slug}/webhooks": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/webhooks": of_challenges(ORGANISERS, Scope.ORGANISE, json=WEBHOOK),
    "POST /api/v1/challenges/{slug}/webhooks/{webhook_id}/test": of_webhooks(Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/webhooks/{webhook_id}/deliveries": of_webhooks(Scope.ORGANISE),
    "DELETE /api/v1/challenges/{slug}/webhooks/{webhook_id}": of_webhooks(Scope.ORGANISE),
    "POST /api/v1/notifications/read": (Rule(SIGNED_IN, scope=Scope.SUBMIT, json={}),),
    "GET /api/v1/challenges": (Rule(EVERYONE, scope=Scope.READ),),
    "POST /api/v1/challenges": (
        Rule(MAY_CREATE, scope=Scope.ORGANISE, json={"slug": "new", "title": "New", "edition": "VOC2007"}),
    ),
    "GET /api/v1/challenges/{slug}": of_challenges(EVERYONE, Scope.READ),
    "PATCH /api/v1/challenges/{slug}": of_challenges(ORGANISERS, Scope.ORGANISE, json={"title": "Changed"}),
    "GET /api/v1/challenges/{slug}/samples": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/edition": of_challenges(EVERYONE, Scope.READ),
    "PUT /api/v1/challenges/{slug}/edition": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"edition_file": OWN_EDITION}
    ),
    "GET /api/v1/challenges/{slug}/files": of_challenges(EVERYONE, Scope.READ),
    "POST /api/v1/challenges/{slug}/files": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/files/{file_id}": (
        Rule(EVERYONE, PUBLIC | {"file_id": "public-file"}, Scope.READ),
        Rule(SIGNED_IN, PUBLIC | {"file_id": "admitted-file"}, Scope.READ),
        Rule(ORGANISERS, DRAFT | {"file_id": "draft-file"}, Scope.READ, hidden=True),
    ),
    "DELETE /api/v1/challenges/{slug}/files/{file_id}": of_files(Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/image-sets": of_challenges(EVERYONE, Scope.READ),
    "GET /api/v1/challenges/{slug}/leaderboards/{competition}": of_challenges(EVERYONE, Scope.READ, path=COMPETITION),
    "GET /api/v1/challenges/{slug}/leaderboards/{competition}/reported": of_challenges(
        EVERYONE, Scope.READ, path=COMPETITION
    ),
    "POST /api/v1/challenges/{slug}/leaderboards/{competition}/reported": of_challenges(
        ORGANISERS, Scope.ORGANISE, path=COMPETITION, json=BASELINE
    ),
    "PUT /api/v1/challenges/{slug}/leaderboards/{competition}/reported/{reported_id}": of_reported(
        Scope.ORGANISE, json=BASELINE
    ),
    "DELETE /api/v1/challenges/{slug}/leaderboards/{competition}/reported/{reported_id}": of_reported(Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/overall": of_challenges(EVERYONE, Scope.READ),
    "GET /api/v1/challenges/{slug}/phases": of_challenges(EVERYONE, Scope.READ),
    "POST /api/v1/challenges/{slug}/phases": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"key": "new", "title": "New"}
    ),
    "GET /api/v1/challenges/{slug}/phases/{key}": of_challenges(EVERYONE, Scope.READ, path={"key": "later"}),
    "PATCH /api/v1/challenges/{slug}/phases/{key}": of_challenges(
        ORGANISERS, Scope.ORGANISE, path={"key": "main"}, json={"quota_count": 3}
    ),
    "DELETE /api/v1/challenges/{slug}/phases/{key}": of_challenges(ORGANISERS, Scope.ORGANISE, path={"key": "later"}),
    "GET /api/v1/challenges/{slug}/admissions": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/admissions": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"email": "invited@lab.example"}
    ),
    "DELETE /api/v1/challenges/{slug}/admissions/{admission_id}": (
        Rule(ORGANISERS, PUBLIC | {"admission_id": "admission"}, Scope.ORGANISE),
    ),
    "GET /api/v1/challenges/{slug}/terms": of_challenges(EVERYONE, Scope.READ),
    "GET /api/v1/challenges/{slug}/terms/versions": of_challenges(EVERYONE, Scope.READ),
    "PUT /api/v1/challenges/{slug}/terms": (
        Rule(ORGANISERS, PUBLIC, Scope.ORGANISE, json={"text": TERMS}),
        Rule(ORGANISERS, DRAFT, Scope.ORGANISE, json={"text": ""}, hidden=True),
    ),
    "POST /api/v1/challenges/{slug}/terms/accept": (
        Rule(SIGNED_IN, PUBLIC, Scope.SUBMIT, json={"version": 1}),
        Rule(NOBODY, DRAFT, Scope.SUBMIT, json={"version": 1}, hidden=True),  # it has none
    ),
    "GET /api/v1/challenges/{slug}/terms/acceptances": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/admission-requests": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/admission-requests/mine": of_challenges(SIGNED_IN, Scope.READ),
    "POST /api/v1/challenges/{slug}/admission-requests": of_challenges(SIGNED_IN, Scope.SUBMIT, json={"phase": "main"}),
    "DELETE /api/v1/challenges/{slug}/admission-requests/{phase}": of_challenges(
        SIGNED_IN, Scope.SUBMIT, path={"phase": "main"}
    ),
    "POST /api/v1/challenges/{slug}/admission-requests/{request_id}/admit": of_requests(Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/admission-requests/{request_id}/decline": of_requests(Scope.ORGANISE, json=REASON),
    "GET /api/v1/challenges/{slug}/extra-quotas": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/extra-quotas": of_challenges(
        ORGANISERS,
        Scope.ORGANISE,
        json={"email": "invited@lab.example", "count": 1, "until": "2100-01-01T00:00:00Z"},
    ),
    "PATCH /api/v1/challenges/{slug}/extra-quotas/{grant_id}": (
        Rule(ORGANISERS, PUBLIC | {"grant_id": "extra-quota"}, Scope.ORGANISE, json={"count": 3}),
    ),
    "DELETE /api/v1/challenges/{slug}/extra-quotas/{grant_id}": (
        Rule(ORGANISERS, PUBLIC | {"grant_id": "extra-quota"}, Scope.ORGANISE),
    ),
    "GET /api/v1/challenges/{slug}/ground-truth": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/ground-truth": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/ground-truth/{number}/confirm": of_versions(Scope.ORGANISE),
    "DELETE /api/v1/challenges/{slug}/ground-truth/{number}": of_versions(Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/rescores": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/rescores": of_challenges(ORGANISERS, Scope.ORGANISE, json=NEW_RESCORE),
    "GET /api/v1/rescores/{rescore_id}": (Rule(ORGANISERS, RESCORE, Scope.ORGANISE, hidden=True),),
    "GET /api/v1/rescores/{rescore_id}/events": (Rule(ORGANISERS, RESCORE, Scope.ORGANISE, hidden=True),),
    "POST /api/v1/rescores/{rescore_id}/apply": (Rule(ORGANISERS, RESCORE, Scope.ORGANISE, hidden=True),),
    "POST /api/v1/rescores/{rescore_id}/discard": (Rule(ORGANISERS, RESCORE, Scope.ORGANISE, hidden=True),),
    "POST /api/v1/submissions/{submission_id}/evaluate-again": changing_submissions(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/submissions": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/submissions": of_challenges(SIGNED_IN, Scope.SUBMIT),
    "OPTIONS /api/v1/uploads": (Rule(EVERYONE),),
    "POST /api/v1/uploads": (
        Rule(SIGNED_IN, scope=Scope.SUBMIT, query={"challenge": "public-challenge"}, headers={"Upload-Length": "9"}),
        Rule(
            ORGANISERS,
            scope=Scope.SUBMIT,
            hidden=True,
            query={"challenge": "draft-challenge"},
            headers={"Upload-Length": "9"},
        ),
    ),
    "GET /api/v1/uploads": (Rule(SIGNED_IN, scope=Scope.READ),),
    "GET /api/v1/uploads/{upload_id}": (Rule(OWNER, UPLOAD, Scope.SUBMIT, hidden=True),),
    "PATCH /api/v1/uploads/{upload_id}": (
        Rule(
            OWNER,
            UPLOAD,
            Scope.SUBMIT,
            hidden=True,
            headers={"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"},
        ),
    ),
    "POST /api/v1/uploads/{upload_id}/check": (Rule(OWNER, UPLOAD, Scope.SUBMIT, hidden=True),),
    "DELETE /api/v1/uploads/{upload_id}": (Rule(OWNER, UPLOAD, Scope.SUBMIT, hidden=True),),
    "GET /api/v1/submissions": (Rule(SIGNED_IN, scope=Scope.READ),),
    "GET /api/v1/submissions/{submission_id}": reading_submissions(Scope.READ),
    "PATCH /api/v1/submissions/{submission_id}": tuple(
        replace(rule, json={"training_data": "Changed"}) for rule in changing_submissions(OWNER, Scope.SUBMIT)
    ),
    "GET /api/v1/submissions/{submission_id}/archive": changing_submissions(MANAGERS, Scope.READ),
    "GET /api/v1/submissions/{submission_id}/flickr-images": changing_submissions(MANAGERS, Scope.READ),
    "GET /api/v1/submissions/{submission_id}/showcase": reading_submissions(Scope.READ),
    "GET /api/v1/submissions/{submission_id}/events": reading_submissions(Scope.READ),
    "GET /api/v1/submissions/{submission_id}/curves/{competition}": reading_submissions(Scope.READ, **COMPETITION),
    "GET /api/v1/submissions/{submission_id}/diagnosis/{competition}": reading_submissions(Scope.READ, **COMPETITION),
    "GET /api/v1/submissions/{submission_id}/scores/{competition}": reading_submissions(Scope.READ, **COMPETITION),
    "POST /api/v1/submissions/{submission_id}/publish": changing_submissions(OWNER, Scope.SUBMIT),
    "POST /api/v1/submissions/{submission_id}/unpublish": changing_submissions(MANAGERS, Scope.SUBMIT),
    "POST /api/v1/submissions/{submission_id}/withdraw": changing_submissions(OWNER, Scope.SUBMIT),
    "POST /api/v1/submissions/{submission_id}/anonymous-link": changing_submissions(OWNER, Scope.SUBMIT),
    "DELETE /api/v1/submissions/{submission_id}/anonymous-link": changing_submissions(OWNER, Scope.SUBMIT),
    "POST /api/v1/submissions/{submission_id}/disqualify": moderating(Scope.ORGANISE, json=REASON),
    "POST /api/v1/submissions/{submission_id}/reinstate": moderating(Scope.ORGANISE, json=REASON),
    "POST /api/v1/submissions/{submission_id}/fail": moderating(Scope.ORGANISE, json=REASON),
    "POST /api/v1/submissions/{submission_id}/allow-publishing": moderating(Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/submissions/actions": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"action": "disqualify", "submissions": ["published"], **REASON}
    ),
    "GET /api/v1/challenges/{slug}/entrants": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/statistics": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/statistics": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/statistics/{competition}": of_challenges(
        ORGANISERS, Scope.ORGANISE, path=COMPETITION
    ),
    "GET /api/v1/challenges/{slug}/queue": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/log": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/log.csv": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/bans": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/bans": (
        Rule(ORGANISERS, PUBLIC, Scope.ORGANISE, json={"user": "owner", "results": "keep", **REASON}),
        Rule(NOBODY, DRAFT, Scope.ORGANISE, json={"user": NO_ID, "results": "keep", **REASON}, hidden=True),
    ),
    "DELETE /api/v1/challenges/{slug}/bans/{user_id}": (
        Rule(ORGANISERS, PUBLIC | {"user_id": "owner"}, Scope.ORGANISE),
    ),
    "POST /api/v1/challenges/{slug}/archive": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/copy": (Rule(OWNING, PUBLIC, Scope.ORGANISE, json={"slug": "copied"}),),
    "POST /api/v1/challenges/{slug}/admissions/batch": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"emails": ["one@lab.example", "two@lab.example"]}
    ),
    "POST /api/v1/challenges/{slug}/reopen": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/export": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/imports": (Rule(MAY_CREATE, scope=Scope.ORGANISE),),
    "DELETE /api/v1/challenges/{slug}": (Rule(OWNING, PUBLIC, Scope.ORGANISE),),
    "GET /api/v1/challenges/{slug}/announcements": of_challenges(EVERYONE, Scope.READ),
    "POST /api/v1/challenges/{slug}/announcements": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"title": "New data", "text": "Downloads are faster."}
    ),
    "PATCH /api/v1/challenges/{slug}/announcements/{announcement_id}": of_announcements(
        Scope.ORGANISE, json={"title": "New data", "text": "Changed"}
    ),
    "DELETE /api/v1/challenges/{slug}/announcements/{announcement_id}": of_announcements(Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/feed.atom": (
        Rule(EVERYONE, PUBLIC, Scope.READ),
        Rule(NOBODY, DRAFT, Scope.READ, hidden=True),
    ),
    "GET /api/v1/challenges/{slug}/questions": of_challenges(EVERYONE, Scope.READ),
    "POST /api/v1/challenges/{slug}/questions": of_challenges(SIGNED_IN, Scope.SUBMIT, json={"text": "Why?"}),
    "PUT /api/v1/challenges/{slug}/questions/{question_id}/answer": of_questions(
        Scope.ORGANISE, json={"text": "Because"}
    ),
    "DELETE /api/v1/challenges/{slug}/questions/{question_id}": of_questions(Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/organisers": of_challenges(ORGANISERS, Scope.ORGANISE),
    "GET /api/v1/challenges/{slug}/invitations": of_challenges(ORGANISERS, Scope.ORGANISE),
    "POST /api/v1/challenges/{slug}/invitations": of_challenges(
        ORGANISERS, Scope.ORGANISE, json={"email": "new@lab.example"}
    ),
    "DELETE /api/v1/challenges/{slug}/invitations/{invitation_id}": (
        Rule(NOBODY, PUBLIC | {"invitation_id": "draft-invitation"}, Scope.ORGANISE),
    ),
    "DELETE /api/v1/challenges/{slug}/organisers/{user_id}": (
        Rule(OWNING, PUBLIC | {"user_id": "organiser"}, Scope.ORGANISE),
    ),
    "PUT /api/v1/challenges/{slug}/owner": (
        Rule(OWNING, PUBLIC, Scope.ORGANISE, json={"user": "organiser"}),
        Rule(OWNING, DRAFT, Scope.ORGANISE, json={"user": "organiser"}),
    ),
    "GET /api/v1/invitations": (Rule(SIGNED_IN, scope=Scope.READ),),
    "POST /api/v1/invitations/{invitation_id}/accept": (
        Rule(OWNER, {"invitation_id": "accepted-invitation"}, Scope.SUBMIT),
    ),
    "POST /api/v1/invitations/{invitation_id}/decline": (
        Rule(OWNER, {"invitation_id": "declined-invitation"}, Scope.SUBMIT),
    ),
    "GET /api/v1/challenges/{slug}/teams/mine": (
        Rule(OWNER, PUBLIC, Scope.READ, hidden=True),
        Rule(NOBODY, DRAFT, Scope.READ, hidden=True),
    ),
    "POST /api/v1/challenges/{slug}/teams": of_challenges(SIGNED_IN, Scope.SUBMIT, json={"name": "New team"}),
    "POST /api/v1/team-invitations/{token}/accept": (
        Rule(SIGNED_IN, {"token": "join-link"}, Scope.SUBMIT),  # the team is full
        Rule(NOBODY, {"token": "guessed"}, Scope.SUBMIT, hidden=True),
    ),
    "PATCH /api/v1/teams/{team_id}": (Rule(OWNER, TEAM, Scope.SUBMIT, json={"name": "New name"}, hidden=True),),
    "POST /api/v1/teams/{team_id}/invitations": (Rule(OWNER, TEAM, Scope.SUBMIT, json={}, hidden=True),),
    "DELETE /api/v1/teams/{team_id}/invitations/{invitation_id}": (
        Rule(OWNER, TEAM | {"invitation_id": "team-invitation"}, Scope.SUBMIT, hidden=True),
    ),
    "PUT /api/v1/teams/{team_id}/members/{user_id}/role": (
        Rule(OWNER, TEAM | {"user_id": "team-member"}, Scope.SUBMIT, json={"role": "member"}, hidden=True),
    ),
    "DELETE /api/v1/teams/{team_id}/members/{user_id}": (
        Rule(OWNER, TEAM | {"user_id": "team-member"}, Scope.SUBMIT, hidden=True),
    ),
    "GET /api/v1/people": (Rule(ADMINISTRATOR, scope=Scope.ORGANISE),),
    "POST /api/v1/people/{user_id}/disable": (Rule(ADMINISTRATOR, {"user_id": "owner"}, Scope.ORGANISE),),
    "POST /api/v1/people/{user_id}/enable": (Rule(ADMINISTRATOR, {"user_id": "owner"}, Scope.ORGANISE),),
    "GET /api/v1/status": (Rule(ADMINISTRATOR, scope=Scope.ORGANISE),),
    "GET /api/v1/mail/undelivered": (Rule(ADMINISTRATOR, scope=Scope.ORGANISE),),
    "POST /api/v1/mail/{message_id}/retry": (Rule(ADMINISTRATOR, {"message_id": NO_ID}, Scope.ORGANISE),),
    "GET /api/v1/registrations": (Rule(ADMINISTRATOR, scope=Scope.ORGANISE),),
    "POST /api/v1/registrations/{registration_id}/approve": (
        Rule(ADMINISTRATOR, {"registration_id": "waiting"}, Scope.ORGANISE),
    ),
    "POST /api/v1/registrations/{registration_id}/reject": (
        Rule(ADMINISTRATOR, {"registration_id": "waiting"}, Scope.ORGANISE),
    ),
    "GET /api/v1/openapi.json": (Rule(EVERYONE),),
    "GET /api/docs": (Rule(EVERYONE),),
    # What operators ask.
    "GET /healthz": (Rule(EVERYONE),),
    "GET /readyz": (Rule(EVERYONE),),
    "GET /metrics": (Rule(NOBODY, hidden=True),),  # no token is set
    "GET /.well-known/security.txt": (Rule(EVERYONE),),
    # Pages for everyone.
    "GET /docs": (Rule(EVERYONE),),
    "GET /docs/{path:path}": (Rule(EVERYONE, {"path": "problems"}),),
    "GET /": (Rule(EVERYONE),),
    "GET /challenges/{slug}": of_challenges(EVERYONE),
    "GET /challenges/{slug}/cite": of_challenges(EVERYONE),
    "GET /challenges/{slug}/data": of_challenges(EVERYONE),
    "GET /challenges/{slug}/rules": of_challenges(EVERYONE),
    "GET /challenges/{slug}/announcements": of_challenges(EVERYONE),
    "GET /challenges/{slug}/feed.atom": (Rule(EVERYONE, PUBLIC), Rule(NOBODY, DRAFT, hidden=True)),
    "GET /challenges/{slug}/questions": of_challenges(EVERYONE),
    "POST /challenges/{slug}/questions": of_challenges(SIGNED_IN, form={"text": "Why?"}),
    "GET /challenges/{slug}/take-part": of_challenges(EVERYONE),
    "POST /challenges/{slug}/take-part/terms": (
        Rule(SIGNED_IN, PUBLIC, form={"version": "1"}),
        Rule(NOBODY, DRAFT, form={"version": "1"}, hidden=True),  # it has none
    ),
    "POST /challenges/{slug}/take-part/request": of_challenges(SIGNED_IN, form={"phase": "main"}),
    "POST /challenges/{slug}/take-part/withdraw": of_challenges(SIGNED_IN, form={"phase": "main"}),
    "GET /challenges/{slug}/CITATION.cff": of_challenges(EVERYONE),
    "GET /challenges/{slug}/citation.bib": of_challenges(EVERYONE),
    "GET /challenges/{slug}/croissant.json": of_challenges(EVERYONE),
    "GET /challenges/{slug}/leaderboards/{competition}/embed": SEEN_BY_VISITORS,
    "GET /challenges/{slug}/leaderboards/{competition}/preview.png": SEEN_BY_VISITORS,
    "GET /challenges/{slug}/leaderboards": of_challenges(EVERYONE),
    "GET /challenges/{slug}/leaderboards/{competition}": of_challenges(EVERYONE, path=COMPETITION),
    "GET /challenges/{slug}/leaderboards/{competition}/compare": of_challenges(EVERYONE, path=COMPETITION),
    "GET /anonymous/{token}": (
        Rule(EVERYONE, {"token": "anonymous"}),
        Rule(NOBODY, {"token": "guessed"}, hidden=True),
    ),
    "GET /sign-in": (Rule(EVERYONE),),
    "POST /sign-in": (Rule(EVERYONE, form={"email": "owner@lab.example", "password": PASSWORD}),),
    # Only after the password of an account with a second factor, which none of them has.
    "GET /sign-in/code": (Rule(NOBODY),),
    "POST /sign-in/code": (Rule(NOBODY),),
    # This server has no providers, and nobody has come from one.
    "GET /sign-in/with/{provider}": (Rule(NOBODY, {"provider": "guessed"}, hidden=True),),
    "GET /sign-in/with/{provider}/callback": (Rule(NOBODY, {"provider": "guessed"}, hidden=True),),
    "GET /sign-in/new": (Rule(NOBODY),),
    "POST /sign-in/new": (Rule(NOBODY),),
    "POST /sign-in/new/link": (Rule(NOBODY, form={"email": "owner@lab.example", "password": PASSWORD}),),
    "POST /sign-in/new/address": (Rule(NOBODY, form={"address": "owner@lab.example"}),),
    "GET /sign-in/new/address": (Rule(NOBODY, query={"token": "guessed"}, hidden=True),),
    "POST /sign-out": (Rule(EVERYONE),),
    "GET /register": (Rule(EVERYONE),),
    "POST /register": (Rule(EVERYONE, form={"email": "new@lab.example", "name": "New", "password": PASSWORD}),),
    "GET /terms": (Rule(NOBODY, hidden=True),),  # this server has none
    "POST /terms": (Rule(NOBODY, form={"version": "0"}, hidden=True),),
    "GET /register/sent": (Rule(EVERYONE),),
    "GET /confirm": (
        Rule(EVERYONE, query={"token": "confirm-link"}),
        Rule(NOBODY, query={"token": "guessed"}, hidden=True),
    ),
    "POST /confirm": (
        Rule(EVERYONE, form={"token": "confirm-link", "password": "wrong password"}),  # a link works once
        Rule(NOBODY, form={"token": "guessed", "password": PASSWORD}, hidden=True),
    ),
    "GET /forgotten-password": (Rule(EVERYONE),),
    "POST /forgotten-password": (Rule(EVERYONE, form={"email": "owner@lab.example"}),),
    "GET /forgotten-password/sent": (Rule(EVERYONE),),
    "GET /reset-password": (
        Rule(EVERYONE, query={"token": "reset-link"}),
        Rule(NOBODY, query={"token": "guessed"}, hidden=True),
    ),
    "POST /reset-password": (
        Rule(EVERYONE, form={"token": "reset-link", "new_password": "short"}),
        Rule(NOBODY, form={"token": "guessed", "new_password": "another password"}, hidden=True),
    ),
    # Pages for participants.
    "GET /challenges/{slug}/submit": (
        *of_challenges(SIGNED_IN),
        *of_challenges(ORGANISERS, query={"rehearsal": "true"}),
    ),
    "POST /challenges/{slug}/submit": of_challenges(SIGNED_IN),
    "POST /challenges/{slug}/submit/check": (Rule(OWNER, PUBLIC, query={"upload": "upload"}, hidden=True),),
    "GET /submissions": (Rule(SIGNED_IN),),
    "GET /submissions/{submission_id}": reading_submissions(),
    "GET /submissions/{submission_id}/archive": changing_submissions(MANAGERS),
    "GET /submissions/{submission_id}/flickr-images": changing_submissions(MANAGERS),
    "GET /methods/{method_id}": (
        Rule(EVERYONE, {"method_id": "published-method"}),
        Rule(OWNER, {"method_id": "private-method"}, hidden=True),
    ),
    "GET /methods/{method_id}/eval-results.yaml": (
        Rule(EVERYONE, {"method_id": "published-method"}),
        Rule(NOBODY, {"method_id": "private-method"}, hidden=True),
    ),
    "GET /submissions/{submission_id}/edit": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/edit": changing_submissions(OWNER),
    "GET /submissions/{submission_id}/withdraw": changing_submissions(OWNER),
    "GET /submissions/{submission_id}/declarations": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/declarations": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/publish": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/unpublish": changing_submissions(MANAGERS),
    "POST /submissions/{submission_id}/withdraw": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/anonymous-link": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/anonymous-link/revoke": changing_submissions(OWNER),
    "POST /submissions/{submission_id}/disqualify": moderating(form=REASON),
    "POST /submissions/{submission_id}/reinstate": moderating(form=REASON),
    "POST /submissions/{submission_id}/fail": moderating(form=REASON),
    "POST /submissions/{submission_id}/allow-publishing": moderating(),
    "GET /challenges/{slug}/team": of_challenges(SIGNED_IN),
    "POST /challenges/{slug}/team": of_challenges(SIGNED_IN, form={"name": "New team"}),
    "POST /challenges/{slug}/team/invitations": of_own_team(),
    "POST /challenges/{slug}/team/invitations/{invitation_id}/withdraw": of_own_team(invitation_id="team-invitation"),
    "POST /challenges/{slug}/team/members/{user_id}/remove": of_own_team(user_id="team-member"),
    "POST /challenges/{slug}/team/members/{user_id}/role": of_own_team(user_id="team-member"),
    "GET /team-invitations/{token}": (
        Rule(SIGNED_IN, {"token": "join-link"}),
        Rule(NOBODY, {"token": "guessed"}, hidden=True),
    ),
    "POST /team-invitations/{token}": (
        Rule(SIGNED_IN, {"token": "join-link"}),
        Rule(NOBODY, {"token": "guessed"}, hidden=True),
    ),
    "GET /invitations": (Rule(SIGNED_IN),),
    "POST /invitations/{invitation_id}/accept": (Rule(OWNER, {"invitation_id": "accepted-invitation"}),),
    "POST /invitations/{invitation_id}/decline": (Rule(OWNER, {"invitation_id": "declined-invitation"}),),
    "GET /account": (Rule(SIGNED_IN),),
    "POST /account/profile": (Rule(SIGNED_IN, form={"name": "Another Name"}),),
    "POST /account/email": (Rule(SIGNED_IN, form={"email": "another@lab.example", "address_password": PASSWORD}),),
    "GET /privacy": (Rule(EVERYONE),),
    "GET /account/delete": (Rule(SIGNED_IN),),
    "POST /account/delete": (Rule(SIGNED_IN, form={"naming": "keep_name", "password": "wrong password"}),),
    "GET /account/address": (Rule(OWNER, query={"token": "address-link"}, hidden=True),),
    "POST /account/address": (Rule(OWNER, form={"token": "address-link"}, hidden=True),),
    "GET /account/second-factor": (Rule(SIGNED_IN),),
    "POST /account/second-factor": (Rule(SIGNED_IN, form={"password": PASSWORD}),),
    "POST /account/second-factor/confirm": (Rule(SIGNED_IN),),
    "POST /account/second-factor/recovery-codes": (Rule(SIGNED_IN),),
    "POST /account/second-factor/remove": (Rule(SIGNED_IN),),
    "POST /account/second-factor/keys": (Rule(SIGNED_IN, form={"key_password": "wrong password"}),),
    "POST /account/second-factor/keys/add": (Rule(SIGNED_IN, form={"label": "Key", "key": "{}"}),),
    "POST /account/second-factor/keys/remove": (Rule(SIGNED_IN, form={"key_password": "wrong password"}),),
    "GET /account/sign-in": (Rule(SIGNED_IN),),
    "POST /account/sign-in/link": (Rule(SIGNED_IN, form={"provider": "guessed", "password": "wrong password"}),),
    "POST /account/sign-in/show": (Rule(NOBODY, form={"linked": "guessed"}, hidden=True),),
    "POST /account/sign-in/unlink": (Rule(SIGNED_IN, form={"linked": "guessed", "unlink_password": "wrong password"}),),
    "POST /account/password": (Rule(SIGNED_IN),),
    "GET /account/notifications": (Rule(SIGNED_IN),),
    "POST /account/notifications": (Rule(SIGNED_IN, form={"by_email": "scored"}),),
    "GET /notifications": (Rule(SIGNED_IN),),
    "POST /notifications/read": (Rule(SIGNED_IN),),
    "GET /unsubscribe": (Rule(EVERYONE, query={"token": "unsubscribe-token"}),),
    "POST /unsubscribe": (Rule(EVERYONE, query={"token": "unsubscribe-token"}),),
    "GET /account/webhooks": (Rule(SIGNED_IN),),
    "POST /account/webhooks": (Rule(SIGNED_IN, form={"url": "https://hooks.example", "events": "submission.scored"}),),
    "POST /account/webhooks/{webhook_id}/test": (Rule(OWNER, {"webhook_id": "webhook"}, hidden=True),),
    "POST /account/webhooks/{webhook_id}/remove": (Rule(OWNER, {"webhook_id": "webhook"}, hidden=True),),
    "POST /account/tokens": (Rule(SIGNED_IN),),
    "POST /account/tokens/{token_id}/revoke": (Rule(OWNER, {"token_id": "token"}),),
    "POST /account/sessions/{session_id}/revoke": (Rule(OWNER, {"session_id": "session"}),),
    # Pages for organisers.
    "GET /admin/people": (Rule(ADMINISTRATOR),),
    "GET /admin/people/{user_id}": (Rule(ADMINISTRATOR, {"user_id": "owner"}),),
    "POST /admin/people/{user_id}/{action}": tuple(
        Rule(ADMINISTRATOR, {"user_id": "owner", "action": action}, form=form)
        for action, form in {
            "sign-out": {},
            "disable": {},
            "enable": {},
            "resend": {},
            "role": {"role": "administrator", "password": PASSWORD},
            "remove-second-factor": {"password": PASSWORD},
            "delete": {"naming": "keep_name", "password": "wrong password"},
        }.items()
    ),
    "GET /admin/mail": (Rule(ADMINISTRATOR),),
    "POST /admin/mail/retry": (Rule(ADMINISTRATOR), Rule(ADMINISTRATOR, form={"message": NO_ID})),
    "GET /admin/queue": (Rule(ADMINISTRATOR),),
    "POST /admin/queue/retry": (Rule(ADMINISTRATOR, form={"kind": "diagnosis", "failure": "error"}),),
    "GET /admin/storage": (Rule(ADMINISTRATOR),),
    "GET /organise/registrations": (Rule(ADMINISTRATOR),),
    "POST /organise/registrations/{user_id}/approve": (Rule(ADMINISTRATOR, {"user_id": "waiting"}),),
    "POST /organise/registrations/{user_id}/reject": (Rule(ADMINISTRATOR, {"user_id": "waiting"}),),
    "GET /organise": (Rule(MAY_ORGANISE),),
    "GET /organise/log": (Rule(ADMINISTRATOR),),
    "GET /organise/log.csv": (Rule(ADMINISTRATOR),),
    "GET /organise/new": (Rule(MAY_CREATE),),
    "POST /organise/new": (Rule(MAY_CREATE),),
    "GET /organise/{slug}": of_challenges(ORGANISERS),
    "GET /organise/{slug}/files": of_challenges(ORGANISERS),
    "POST /organise/{slug}/files": of_challenges(ORGANISERS),
    "POST /organise/{slug}/files/{file_id}/delete": of_files(),
    "GET /organise/{slug}/reported": of_challenges(ORGANISERS),
    "POST /organise/{slug}/reported": of_challenges(ORGANISERS, form=BASELINE_FORM),
    "GET /organise/{slug}/reported/{competition}/{reported_id}": of_reported(),
    "POST /organise/{slug}/reported/{competition}/{reported_id}": of_reported(form=BASELINE_FORM),
    "POST /organise/{slug}/reported/{competition}/{reported_id}/remove": of_reported(),
    "GET /organise/{slug}/phases": of_challenges(ORGANISERS),
    "GET /organise/{slug}/new-phase": of_challenges(ORGANISERS),
    "POST /organise/{slug}/new-phase": of_challenges(ORGANISERS),
    "GET /organise/{slug}/phases/{key}": of_challenges(ORGANISERS, path={"key": "later"}),
    "POST /organise/{slug}/phases/{key}": of_challenges(ORGANISERS, path={"key": "later"}),
    "POST /organise/{slug}/phases/{key}/remove": of_challenges(ORGANISERS, path={"key": "later"}),
    "POST /organise/{slug}/admissions": of_challenges(ORGANISERS, form={"email": "invited@lab.example"}),
    "POST /organise/{slug}/admissions/{admission_id}/end": (Rule(ORGANISERS, PUBLIC | {"admission_id": "admission"}),),
    "POST /organise/{slug}/extra-quotas": of_challenges(ORGANISERS, form={"email": "invited@lab.example"}),
    "POST /organise/{slug}/extra-quotas/{grant_id}": (
        Rule(ORGANISERS, PUBLIC | {"grant_id": "extra-quota"}, form={"count": "3", "until": "2100-01-01T00:00"}),
    ),
    "POST /organise/{slug}/extra-quotas/{grant_id}/end": (Rule(ORGANISERS, PUBLIC | {"grant_id": "extra-quota"}),),
    "GET /organise/{slug}/edit": of_challenges(ORGANISERS),
    "POST /organise/{slug}/edit": of_challenges(ORGANISERS),
    "POST /organise/{slug}/edition": of_challenges(ORGANISERS),
    "POST /organise/{slug}/open": of_challenges(ORGANISERS, form={"visibility": "public"}),
    "POST /organise/{slug}/ground-truth": of_challenges(ORGANISERS),
    "POST /organise/{slug}/ground-truth/{number}/confirm": of_versions(),
    "POST /organise/{slug}/ground-truth/{number}/remove": of_versions(),
    "POST /organise/{slug}/ground-truth/{number}/remove-competitions": of_versions(),
    "POST /organise/{slug}/rescores": of_challenges(ORGANISERS, form={"ground_truth_version": "1", "reason": "x"}),
    "GET /organise/{slug}/rescores/{rescore_id}": (Rule(ORGANISERS, PUBLIC | RESCORE),),
    "POST /organise/{slug}/rescores/{rescore_id}/apply": (Rule(ORGANISERS, PUBLIC | RESCORE),),
    "POST /organise/{slug}/rescores/{rescore_id}/discard": (Rule(ORGANISERS, PUBLIC | RESCORE),),
    "POST /submissions/{submission_id}/evaluate-again": changing_submissions(ORGANISERS),
    "GET /organise/{slug}/submissions": of_challenges(ORGANISERS),
    "POST /organise/{slug}/submissions/actions": of_challenges(
        ORGANISERS, form={"action": "disqualify", "submission": "published", **REASON}
    ),
    "GET /organise/{slug}/entrants": of_challenges(ORGANISERS),
    "POST /organise/{slug}/bans": (
        Rule(ORGANISERS, PUBLIC, form={"person": "owner", "results": "keep", **REASON}),
        Rule(NOBODY, DRAFT, form={"person": NO_ID, "results": "keep", **REASON}, hidden=True),
    ),
    "POST /organise/{slug}/bans/{user_id}/lift": (Rule(ORGANISERS, PUBLIC | {"user_id": "owner"}),),
    "GET /organise/import": (Rule(MAY_CREATE),),
    "POST /organise/import": (Rule(MAY_CREATE),),
    "GET /organise/{slug}/samples": of_challenges(ORGANISERS),
    "GET /organise/{slug}/archive": of_challenges(ORGANISERS),
    "POST /organise/{slug}/archive": of_challenges(ORGANISERS),
    "POST /organise/{slug}/copy": (Rule(OWNING, PUBLIC, form={"new_slug": "copied", "title": "Copied"}),),
    "POST /organise/{slug}/reopen": of_challenges(ORGANISERS),
    "POST /organise/{slug}/export": of_challenges(ORGANISERS),
    "POST /organise/{slug}/delete": (Rule(OWNING, PUBLIC),),
    "GET /organise/{slug}/people": of_challenges(ORGANISERS),
    "POST /organise/{slug}/people": of_challenges(ORGANISERS, form={"email": "new@lab.example"}),
    "POST /organise/{slug}/people/invitations/{invitation_id}/withdraw": (
        Rule(NOBODY, PUBLIC | {"invitation_id": "draft-invitation"}),
    ),
    "POST /organise/{slug}/people/{user_id}/remove": (Rule(OWNING, PUBLIC | {"user_id": "organiser"}),),
    "POST /organise/{slug}/people/{user_id}/hand-over": (Rule(OWNING, PUBLIC | {"user_id": "organiser"}),),
    "GET /organise/{slug}/admission": of_challenges(ORGANISERS),
    "POST /organise/{slug}/admission/requests/{request_id}/admit": of_requests(),
    "POST /organise/{slug}/admission/requests/{request_id}/decline": of_requests(form=REASON),
    "POST /organise/{slug}/admission/terms": of_challenges(ORGANISERS, form={"text": TERMS}),
    "GET /organise/{slug}/admission/acceptances.csv": of_challenges(ORGANISERS),
    "GET /organise/{slug}/webhooks": of_challenges(ORGANISERS),
    "POST /organise/{slug}/webhooks": of_challenges(ORGANISERS, form={"url": "https://hooks.example"}),
    "POST /organise/{slug}/webhooks/{webhook_id}/test": of_webhooks(),
    "POST /organise/{slug}/webhooks/{webhook_id}/remove": of_webhooks(),
    "GET /organise/{slug}/announcements": of_challenges(ORGANISERS),
    "POST /organise/{slug}/announcements": of_challenges(ORGANISERS, form={"title": "New data", "text": "Faster."}),
    "POST /organise/{slug}/announcements/{announcement_id}/correct": of_announcements(
        form={"title": "New data", "text": "Changed"}
    ),
    "POST /organise/{slug}/announcements/{announcement_id}/remove": of_announcements(),
    "GET /organise/{slug}/questions": of_challenges(ORGANISERS),
    "POST /organise/{slug}/questions/{question_id}/answer": of_questions(form={"text": "Because"}),
    "POST /organise/{slug}/questions/{question_id}/remove": of_questions(),
    "GET /organise/{slug}/history": of_challenges(ORGANISERS),
    "GET /organise/{slug}/statistics": of_challenges(ORGANISERS),
    "GET /organise/{slug}/statistics/{competition}": of_challenges(ORGANISERS, path=COMPETITION),
    "POST /organise/{slug}/statistics": of_challenges(ORGANISERS),
    "GET /organise/{slug}/queue": of_challenges(ORGANISERS),
    "GET /organise/{slug}/log": of_challenges(ORGANISERS),
    "GET /organise/{slug}/log.csv": of_challenges(ORGANISERS),
}
