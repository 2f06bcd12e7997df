"""The owner of a token."""

from fastapi import APIRouter

from vocboard.app.accounts.models import Scope
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.accounts import Me
from vocboard.app.web.identity import ApiIdentity

router = APIRouter(tags=["account"])


@router.get("/me", responses=problem_responses(401))
def me(identity: ApiIdentity) -> Me:
    """Return the owner and the scopes of the token."""
    user = identity.token.user if identity.token else identity.require_user()
    return Me(
        email=user.email,
        name=user.name,
        affiliation=user.affiliation,
        role=user.role,
        scopes=[scope for scope in Scope if scope in identity.scopes],
        email_confirmed=user.is_confirmed,
        approved=user.is_approved,
    )
