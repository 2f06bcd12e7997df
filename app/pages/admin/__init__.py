"""Administrators' pages of the whole server. Their templates are in `templates/admin/`."""

from vocboard.app.pages.admin import people, server

PARTS = people, server
