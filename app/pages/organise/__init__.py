"""The organisers' pages: one module for each subject. Their templates are in `templates/organise/`."""

from fastapi import APIRouter

from vocboard.app.pages.organise import (
    challenges,
    edition,
    ground_truth,
    log,
    overview,
    people,
    phase_people,
    phases,
    registrations,
    rescores,
    samples,
    statistics,
    transfer,
)

router = APIRouter()
_PARTS = (
    registrations,  # these three first: their paths would be a challenge's, too
    log,
    transfer,
    overview,
    people,
    rescores,
    edition,
    ground_truth,
    samples,
    phases,
    phase_people,
    statistics,
    challenges,
)
for part in _PARTS:
    router.include_router(part.router)
