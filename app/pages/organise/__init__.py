"""The organisers' pages: one module for each subject. Their templates are in `templates/organise/`."""

from fastapi import APIRouter

from vocboard.app.pages.organise import (
    challenges,
    ground_truth,
    log,
    overview,
    people,
    phase_people,
    phases,
    registrations,
    rescores,
    transfer,
)

router = APIRouter()
router.include_router(registrations.router)  # these three first: their paths would be a challenge's, too
router.include_router(log.router)
router.include_router(transfer.router)
router.include_router(overview.router)
router.include_router(people.router)
for _part in (rescores, ground_truth, phases, phase_people):
    router.include_router(_part.router)
for _forms in (phases, phase_people):
    router.include_router(_forms.form_router)
router.include_router(challenges.router)
