"""How many accounts one email domain may have: its owner has any number of mailboxes in it.

What counts are confirmed addresses. So nobody can use up the accounts of a domain without receiving its email.
"""

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.app.errors import LimitedError
from vocboard.app.settings import RegistrationPolicy

PERIOD = timedelta(days=7)
_SECOND_LEVEL = frozenset(
    {"ac", "asn", "co", "com", "ed", "edu", "go", "gob", "gouv", "gov", "net", "or", "org", "uni"}
)
# Everybody can have a mailbox there, and few can have many at once.
_LARGE = """
    126.com 139.com 163.com aliyun.com aol.com bluewin.ch daum.net fastmail.com fastmail.fm foxmail.com free.fr
    gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.co.uk hotmail.com
    hotmail.de hotmail.es hotmail.fr hotmail.it icloud.com laposte.net libero.it live.co.uk live.com live.fr
    mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com orange.fr outlook.com outlook.de outlook.es
    outlook.fr outlook.it outlook.jp pm.me posteo.de proton.me protonmail.ch protonmail.com qq.com rediffmail.com
    seznam.cz sina.com sohu.com t-online.de tuta.com tuta.io tutanota.com tutanota.de vip.qq.com web.de wp.pl ya.ru
    yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.au yahoo.com.br yahoo.com.cn yahoo.de yahoo.es
    yahoo.fr yahoo.in yahoo.it yandex.com yandex.ru yeah.net ymail.com zoho.com
"""
LARGE_PROVIDERS = frozenset(_LARGE.split())


def registered_domain(email: str) -> str:
    """Return the domain that somebody has registered, without its subdomains.

    Without a list of public suffixes: `ac.uk`, `edu.cn` and the like are known by their second level.

    >>> registered_domain("ada@cs.lab.example"), registered_domain("ada@mail.cs.uni.ac.uk")
    ('lab.example', 'uni.ac.uk')
    """
    labels = email.rpartition("@")[2].lower().rstrip(".").split(".")
    is_deeper = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3:] if is_deeper else labels[-2:])


def check_room(session: Session, email: str, policy: RegistrationPolicy) -> None:
    """Check that another account of an address's domain may be confirmed.

    Large mail providers, the domains that the operators have named, and accounts that need an approval are not limited.

    Raises:
        LimitedError: as many as may be were confirmed in the last days.
    """
    domain = registered_domain(email)
    if (
        not policy.accounts_per_domain
        or policy.needs_approval
        or policy.domains
        or {domain, email.rpartition("@")[2]} & LARGE_PROVIDERS
    ):
        return
    recent = select(User.email, User.email_confirmed_at).where(
        User.email_confirmed_at > now() - PERIOD,
        func.lower(User.email).endswith(domain, autoescape=True),
    )
    found = [row.email_confirmed_at for row in session.execute(recent) if registered_domain(row.email) == domain]
    if len(found) < policy.accounts_per_domain:
        return
    allowed_at = sorted(found)[-policy.accounts_per_domain] + PERIOD
    raise LimitedError(
        f"{policy.accounts_per_domain} accounts with addresses of {domain} were confirmed in the last {PERIOD.days} "
        f"days, and no more may be. Try again after {allowed_at:%Y-%m-%d %H:%M} UTC, or ask the operators of this "
        "server.",
        allowed_at=allowed_at,
    )
