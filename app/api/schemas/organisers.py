"""Schemas for organisers and invitations."""

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
    """An invitation that has been neither accepted nor declined."""

    id: uuid.UUID
    email: str
    created_at: Instant


class NewOrganiser(BaseModel):
    """A person to invite as an organiser."""

    model_config = ConfigDict(extra="forbid")

    email: str = Field(max_length=254)


class NewOwner(BaseModel):
    """The new owner of a challenge."""

    model_config = ConfigDict(extra="forbid")

    user: uuid.UUID = Field(description="Id of the user, who must be an organiser of the challenge.")


class OwnInvitation(BaseModel):
    """An invitation to organise a challenge."""

    id: uuid.UUID
    challenge: str = Field(description="Title of the challenge.")
    invited_by: str | None = Field(description="Name of the organiser who sent the invitation.")
    created_at: Instant
