"""What the API says of organisers and invitations."""

import uuid

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.schemas.values import Instant


class Organiser(BaseModel):
    """An organiser of a challenge."""

    user: uuid.UUID
    name: str
    email: str
    is_owner: bool = Field(description="Whether this person can remove organisers and hand the challenge over.")


class Invitation(BaseModel):
    """An invitation that waits for an answer."""

    id: uuid.UUID
    email: str
    created_at: Instant


class NewOrganiser(BaseModel):
    """Whom to invite."""

    model_config = ConfigDict(extra="forbid")

    email: str = Field(max_length=254)


class NewOwner(BaseModel):
    """Whom to hand a challenge over to."""

    model_config = ConfigDict(extra="forbid")

    user: uuid.UUID = Field(description="Of an organiser of the challenge.")


class OwnInvitation(BaseModel):
    """A challenge that one is invited to organise."""

    id: uuid.UUID
    challenge: str = Field(description="Its title.")
    invited_by: str | None
    created_at: Instant
