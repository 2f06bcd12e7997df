"""The organisers' pages: one module for each subject. Their templates are in `templates/organise/`."""

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

# `/organise/log`, `/organise/import`, `/organise/registrations` and `/organise/new` would be a challenge's, too:
# their modules come before `challenge`.
PARTS = (
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
)
