"""The form of a challenge's rules: what an organiser types, and what the service takes."""

from datetime import UTC
from typing import Any

from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.challenges.rules import ChallengeRules, rules_of
from vocboard.app.errors import InvalidInputError
from vocboard.app.forms import chosen, whole
from vocboard.app.pages import formats
from vocboard.app.pages.organise.phase_fields import PhaseFields, as_typed

VISIBILITIES = (
    (Visibility.DRAFT.value, "only its organisers can see it."),
    (
        Visibility.UNLISTED.value,
        "everybody who has the address can see it, without signing in.",
    ),
    (Visibility.PUBLIC.value, "everyone can see it in the list."),
)
SHOWN, LEFT_OUT = "shown", "left_out"
STATISTICS = (
    (SHOWN, "Show 95 % intervals, rank ranges, and which methods cannot be distinguished from the first"),
    (LEFT_OUT, "Show scores and ranks only"),
)
UTC_ZONE, EARTH_ZONE = "utc", "aoe"
ZONES = ((UTC_ZONE, "UTC"), (EARTH_ZONE, f"A{formats.ANYWHERE_ON_EARTH_NAME[1:]}"))


def _as_typed(rules: ChallengeRules) -> dict[str, Any]:
    """Return the fields that say these rules."""
    zone = formats.ANYWHERE_ON_EARTH if rules.anywhere_on_earth else UTC
    return {
        **as_typed(rules, zone),
        "title": rules.title,
        "description": rules.description,
        "decimals": str(rules.decimals),
        "visibility": rules.visibility.value,
        "phase_title": rules.phase_title,
        "statistics": SHOWN if rules.statistics else LEFT_OUT,
        "zone": EARTH_ZONE if rules.anywhere_on_earth else UTC_ZONE,
    }


OF_A_NEW_CHALLENGE = _as_typed(ChallengeRules(title=""))


class ChallengeForm(PhaseFields):
    """The fields as they were typed."""

    title: str = ""
    slug: str = ""
    description: str = ""
    edition: str = "VOC2012"
    edition_text: str = ""  # of an edition file; if there is one, it counts and not `edition`
    decimals: str = OF_A_NEW_CHALLENGE["decimals"]
    visibility: str = OF_A_NEW_CHALLENGE["visibility"]
    phase_title: str = ""
    statistics: str = OF_A_NEW_CHALLENGE["statistics"]
    zone: str = UTC_ZONE

    @classmethod
    def of(cls, challenge: Challenge) -> "ChallengeForm":
        """The form that says what a challenge's rules are now."""
        return cls(slug=challenge.slug, edition=challenge.edition, **_as_typed(rules_of(challenge)))

    def rules(self) -> ChallengeRules:
        """What the fields mean.

        Raises:
            InvalidInputError: with every field that is not what it should be.
        """
        wrong: dict[str, str] = {}
        is_on_earth = self.zone == EARTH_ZONE
        rules = ChallengeRules(
            title=self.title,
            description=self.description,
            visibility=chosen(Visibility, self.visibility, "visibility", wrong),
            decimals=whole(self.decimals, "decimals", wrong),
            phase_title=self.phase_title,
            anywhere_on_earth=is_on_earth,
            statistics=self.statistics == SHOWN,
            **self.read(wrong, formats.ANYWHERE_ON_EARTH if is_on_earth else UTC),
        )
        if wrong:
            raise InvalidInputError(wrong)
        return rules
