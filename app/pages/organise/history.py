"""How a challenge has gone, for its organisers: submissions and people over time, how long results took, failures."""

from starlette.responses import Response

from vocboard.app.database import now
from vocboard.app.intake import attempts
from vocboard.app.organising.history import history
from vocboard.app.pages.organise.time_charts import durations, time_chart, wait
from vocboard.app.pages.rendering import render
from vocboard.app.web.organised import Organised
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}/history")


@router.get("")
def history_page(organised: Organised) -> Response:
    """Show how the challenge has gone."""
    kept_for = organised.settings.rejected_uploads_kept_for
    with organised.reading() as (session, challenge):
        gone = history(session, challenge, at=now())
        rejected = attempts.rejected(session, challenge.id, kept_for=kept_for)
    return render(
        organised.request,
        "organise/history.html",
        challenge=challenge,
        gone=gone,
        chart=time_chart(gone) if gone else None,
        durations=durations(gone) if gone else (),
        waits=(wait(gone, 0.5), wait(gone, 0.9)) if gone and gone.durations else None,
        rejected=rejected,
        rejected_days=kept_for.days,
    )
