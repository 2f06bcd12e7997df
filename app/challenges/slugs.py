"""Slugs: names of challenges in URLs."""

import re

from vocboard.app.forms import FieldChecks

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_SLUG_LENGTH = 60
# /organise/new, /api/v1/challenges/imports and so on are not challenges; tests/app/challenges/test_slugs.py checks.
RESERVED_SLUGS = frozenset({"import", "imports", "log", "new", "people", "registrations"})


def check_slug(checks: FieldChecks, slug: str) -> None:
    """Check the slug of a new challenge."""
    if not (SLUG.fullmatch(slug) and len(slug) <= MAX_SLUG_LENGTH):
        checks.fail("slug", f"Use at most {MAX_SLUG_LENGTH} lower-case letters, digits and single hyphens.")
    elif slug in RESERVED_SLUGS:
        checks.fail("slug", "This name is reserved. Choose another one.")
