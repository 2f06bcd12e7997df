"""The organisers' pages: one module for each subject. Their templates are in `templates/organise/`."""

from fastapi import APIRouter

from vocboard.app.pages.organise import challenges, registrations, rescores

router = APIRouter()
router.include_router(registrations.router)  # first: its path would be a challenge's, too
router.include_router(rescores.router)
router.include_router(challenges.router)
