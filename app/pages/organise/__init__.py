"""The organisers' pages: one module for each subject. Their templates are in `templates/organise/`."""

from fastapi import APIRouter

from vocboard.app.pages.organise import (
    admission,
    announcements,
    challenge,
    challenges,
    files,
    history,
    log,
    overview,
    people,
    phases,
    reported,
    rescores,
    rules,
    statistics,
    transfer,
)

router = APIRouter()
# `/organise/log`, `/organise/import`, `/organise/registrations` and `/organise/new` would be a challenge's, too:
# their modules come before `challenge`.
for part in (
    challenges,
    log,
    transfer,
    overview,
    people,
    admission,
    announcements,
    files,
    reported,
    rescores,
    rules,
    phases,
    history,
    statistics,
    challenge,
):
    router.include_router(part.router)
