"""Schemas for imported challenges."""

from pydantic import BaseModel, Field

from vocboard.app.api.schemas.challenges import ChallengeDetails


class OrganiserElsewhere(BaseModel):
    """A person whom the archive names as an organiser, and who does not organise the challenge on this server."""

    name: str
    email: str
    invited: bool = Field(description="Whether the person is invited to organise it here.")


class ImportedChallenge(ChallengeDetails):
    """A challenge that was imported, with the organisers and bans in its archive."""

    organisers_elsewhere: list[OrganiserElsewhere] = Field(
        description="Organisers whom the archive names. They have no rights on this server until they accept an "
        "invitation."
    )
    bans: int = Field(description="Number of imported bans. Each holds for an email address.")
