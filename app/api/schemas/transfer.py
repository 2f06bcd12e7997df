"""Schemas for imported challenges."""

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.challenges import ChallengeDetails


class OrganiserElsewhere(BaseModel):
    """Somebody who organised the challenge on the other server, as its archive says, and not here."""

    name: str
    email: str
    invited: bool = Field(description="Whether the person is invited to organise it here.")


class ImportedChallenge(ChallengeDetails):
    """A challenge that was imported, and what its archive says of people."""

    organisers_elsewhere: list[OrganiserElsewhere] = Field(description="They have no rights here unless they accept.")
    bans: int = Field(description="People who may not take part, by email address.")
