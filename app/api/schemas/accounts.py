"""What the API says of people."""

from pydantic import BaseModel

from app.accounts.models import Role, Scope


class Me(BaseModel):
    """The person that a token belongs to."""

    email: str
    name: str
    affiliation: str
    role: Role
    scopes: list[Scope]
