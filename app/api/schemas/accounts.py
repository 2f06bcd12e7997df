"""What the API says of people."""

import uuid

from pydantic import BaseModel

from vocboard.app.accounts.models import Role, Scope
from vocboard.app.api.schemas.values import Instant


class Me(BaseModel):
    """The person that a token belongs to."""

    email: str
    name: str
    affiliation: str
    role: Role
    scopes: list[Scope]
    email_confirmed: bool
    approved: bool


class WaitingRegistration(BaseModel):
    """A person who has confirmed the e-mail address and waits for an organiser's approval."""

    id: uuid.UUID
    email: str
    name: str
    affiliation: str
    registered_at: Instant
