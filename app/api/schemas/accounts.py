"""Schemas for users."""

import uuid

from pydantic import BaseModel

from vocboard.app.accounts.models import Role, Scope
from vocboard.app.api.schemas.values import Instant


class Me(BaseModel):
    """The owner of a token."""

    email: str
    name: str
    affiliation: str
    role: Role
    scopes: list[Scope]
    email_confirmed: bool
    approved: bool


class WaitingRegistration(BaseModel):
    """A user with a confirmed email address who is waiting for an organiser's approval."""

    id: uuid.UUID
    email: str
    name: str
    affiliation: str
    registered_at: Instant
