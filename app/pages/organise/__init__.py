"""The organisers' pages: one module for each subject. Their templates are in `templates/organise/`."""

from fastapi import APIRouter

from vocboard.app.pages.organise import challenges, log, overview, people, registrations, rescores, transfer

router = APIRouter()
router.include_router(registrations.router)  # these three first: their paths would be a challenge's, too
router.include_router(log.router)
router.include_router(transfer.router)
router.include_router(overview.router)
router.include_router(people.router)
router.include_router(rescores.router)
router.include_router(challenges.router)
