"""The setting `VOCBOARD_REGISTRATION`, which says who may register."""

from dataclasses import dataclass
from typing import Self

_MESSAGE = "use open, domains:a.example,b.example, approval or closed"


@dataclass(frozen=True, slots=True)
class RegistrationPolicy:
    """Who may register.

    Attributes:
        is_open: whether anybody may register; otherwise only operators create accounts.
        domains: allowed domains of email addresses; empty for all.
        needs_approval: whether an organiser has to approve each registration.
        accounts_per_domain: that may be confirmed in a week; 0 for any number. See `app.accounts.domains`.
    """

    is_open: bool = True
    domains: tuple[str, ...] = ()
    needs_approval: bool = False
    accounts_per_domain: int = 0

    @classmethod
    def parse(cls, value: str) -> Self:
        """Read the setting.

        Raises:
            ValueError: it is not one of the four forms.

        >>> RegistrationPolicy.parse("domains:Lab.example, b.example").domains
        ('lab.example', 'b.example')
        """
        mode, _, rest = value.strip().partition(":")
        if mode == "domains":
            domains = tuple(name.strip().lower() for name in rest.split(",") if name.strip())
            if not domains or any("@" in name or " " in name for name in domains):
                raise ValueError(_MESSAGE)
            return cls(domains=domains)
        if rest or mode not in {"open", "approval", "closed"}:
            raise ValueError(_MESSAGE)
        return cls(is_open=mode != "closed", needs_approval=mode == "approval")

    def accepts(self, email: str) -> bool:
        """Whether an email address (normalised) has one of the allowed domains; subdomains do not match."""
        return not self.domains or email.rpartition("@")[2] in self.domains
