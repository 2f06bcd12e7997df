"""`/.well-known/security.txt`: where to report vulnerabilities.

Source: RFC 9116, "A File Format to Aid in Security Vulnerability Disclosure".
"""

from datetime import timedelta

from starlette.responses import PlainTextResponse

from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.web.dependencies import SettingsDep
from vocboard.app.web.routes import Routes

PATH = "/.well-known/security.txt"
VALIDITY = timedelta(days=180)  # default expiry; RFC 9116 recommends less than a year

router = Routes()


@router.get(PATH)
async def security_txt(settings: SettingsDep) -> PlainTextResponse:
    """Return the operator's contact; 404 if none is set."""
    if not settings.security_contact:
        raise NotFoundError("The operator of this server has not set a contact for vulnerability reports.")
    expires = settings.security_expires or now() + VALIDITY
    lines = (
        f"Contact: {settings.security_contact}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {settings.public_url}{PATH}",
    )
    return PlainTextResponse("\n".join((*lines, "")))
