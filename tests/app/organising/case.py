"""A challenge with an organiser and an entrant who has published a result."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.backend import Backend
from tests.support.scored import make_scored
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge
from vocboard.app.organising import moderation as bulk
from vocboard.app.organising.moderation import Action, Outcome
from vocboard.app.participating import publishing
from vocboard.app.submissions.models import Submission


class Case:
    """A challenge with its organiser and one entrant, who has published a method."""

    def __init__(self, backend: Backend, *, owner: User | None = None) -> None:
        self.backend = backend
        self.organiser = backend.user(role=Role.ORGANISER)
        self.owner = owner or backend.user(name="Ada")
        self.challenge: Challenge = backend.challenge(organiser=self.organiser)
        self.submission_id = self.scored("Method")
        self.publish()

    def scored(self, method: str, owner: User | None = None, **given: Any) -> uuid.UUID:
        fields = {"archive_sha256": f"{uuid.uuid4().int:064x}", **given}
        with self.backend.database.writing() as session:
            return make_scored(session, self.challenge, owner or self.owner, method, **fields).id

    def do(self, action: Callable[..., Submission], user: User | None = None, **given: Any) -> Submission:
        with self.backend.database.writing() as session:
            given = {"submission_id": self.submission_id, **given}
            return action(session, user=user or self.organiser, **given)

    def act(self, action: Action, *submission_ids: uuid.UUID, **given: str) -> Sequence[Outcome]:
        """Act on several submissions as the organiser."""
        who: dict[str, Any] = {"challenge": self.challenge, "user": self.organiser}
        with self.backend.database.writing() as session:
            return bulk.act(session, **who, action=action, submission_ids=submission_ids, **given)

    def publish(self, submission_id: uuid.UUID | None = None) -> Submission:
        return self.do(publishing.publish, self.owner, submission_id=submission_id or self.submission_id)

    @property
    def row(self) -> Submission:
        return self.backend.submission(self.submission_id)
