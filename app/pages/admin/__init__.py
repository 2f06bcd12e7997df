"""Administrators' pages of the whole server. Their templates are in `templates/admin/`."""

from fastapi import APIRouter

from vocboard.app.pages.admin import people, server

router = APIRouter(prefix="/admin")
for part in (people, server):
    router.include_router(part.router)
