"""Challenges have a summary, a website, a contact, names of organisers, a citation and links to their data.

Revision: 2026_11_24_0910_challenge_pages
Follows: 2026_11_24_0640_declarations
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_0910_challenge_pages"
down_revision = "2026_11_24_0640_declarations"
branch_labels = None
depends_on = None

TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "summary": sa.String(length=200),
    "website": sa.String(length=500),
    "contact": sa.String(length=500),
    "organised_by": sa.Text(),
    "citation": sa.Text(),
    "data_links": sa.JSON(),
}


def upgrade() -> None:
    """Add the columns, empty."""
    with op.batch_alter_table("challenges") as batch:
        for name, kind in TYPES.items():
            empty = "[]" if name == "data_links" else ""
            batch.add_column(sa.Column(name, kind, nullable=False, server_default=empty))
    with op.batch_alter_table("challenges") as batch:  # the application writes all columns
        for name, kind in TYPES.items():
            batch.alter_column(name, existing_type=kind, server_default=None)
