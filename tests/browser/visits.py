"""Every page of the application, as somebody sees it: what the tests of all pages visit."""

from dataclasses import dataclass

from playwright.sync_api import FilePayload, Page

from tests.browser.exhibition import Exhibition

NO_ARCHIVE = FilePayload(name="results.tar.gz", mimeType="application/gzip", buffer=b"no archive")


@dataclass(frozen=True)
class Visit:
    """A page as somebody sees it.

    Attributes:
        who: a visitor, or somebody of the gallery.
        path: may name something of the gallery in braces.
        press: a button to press there without filling in the form (files are not archives), to see the errors.
    """

    who: str
    path: str
    press: str = ""

    def __str__(self) -> str:
        return f"{self.who} {self.path}" + (f" ({self.press})" if self.press else "")


VISITS = [
    Visit("visitor", "/"),
    Visit("visitor", "/sign-in"),
    Visit("visitor", "/register"),
    Visit("visitor", "/register/sent"),
    Visit("visitor", "/forgotten-password"),
    Visit("visitor", "/forgotten-password/sent"),
    Visit("visitor", "/docs"),
    Visit("visitor", "/docs/participants"),
    Visit("participant", "/docs/problems"),
    Visit("visitor", "/challenges/voc2012/leaderboards/comp3"),
    Visit("visitor", "/challenges/voc2012/leaderboards/comp3?view=progress"),
    Visit("visitor", "/challenges/voc2012/leaderboards/comp3?view=classes"),
    Visit("visitor", "/challenges/voc2012/leaderboards/comp3/compare?method={published}&class=dog"),
    Visit("visitor", "/challenges/voc2012/leaderboards"),
    Visit("visitor", "/anonymous/{anonymous}?competition=comp5"),
    Visit("visitor", "/api/docs"),
    Visit("visitor", "/confirm?token={confirm_link}"),
    Visit("visitor", "/reset-password?token={reset_link}"),
    Visit("visitor", "/challenges/frozen/leaderboards/comp1?results=later"),
    Visit("visitor", "/challenges/phased"),
    Visit("visitor", "/challenges/voc2012/data"),
    Visit("visitor", "/challenges/voc2012/rules"),
    Visit("visitor", "/challenges/voc2012/cite"),
    Visit("visitor", "/challenges/voc2012/announcements"),
    Visit("participant", "/challenges/voc2012/questions"),
    Visit("participant", "/challenges/on-request/take-part"),
    Visit("participant", "/"),
    Visit("participant", "/challenges/voc2012"),
    Visit("participant", "/challenges/voc2012/submit"),
    Visit("participant", "/challenges/voc2012/leaderboards/comp5"),
    Visit("participant", "/submissions"),
    Visit("participant", "/submissions/{scored}"),
    Visit("participant", "/submissions/{scored}?competition=comp5"),
    Visit("participant", "/submissions/{failed}"),
    Visit("participant", "/submissions/{scored}/declarations"),
    Visit("participant", "/submissions/{scored}/edit"),
    Visit("participant", "/submissions/{scored}/withdraw"),
    Visit("participant", "/methods/{scored_method}"),
    Visit("participant", "/account"),
    Visit("participant", "/account/address?token={address_link}"),
    Visit("participant", "/account/delete"),
    Visit("participant", "/account/second-factor"),
    Visit("participant", "/account/sign-in"),
    Visit("visitor", "/sign-in/code"),
    Visit("visitor", "/sign-in/new"),
    Visit("visitor", "/sign-in/new/address?token=no-such"),
    Visit("visitor", "/sign-in/with/no-such"),
    Visit("visitor", "/sign-in/with/no-such/callback"),
    Visit("visitor", "/unsubscribe?token={unsubscribe_token}"),
    Visit("visitor", "/privacy"),
    Visit("visitor", "/terms"),
    Visit("participant", "/challenges/teams/team"),
    Visit("organiser", "/team-invitations/{join_link}"),
    Visit("participant", "/account/notifications"),
    Visit("participant", "/account/webhooks"),
    Visit("participant", "/notifications"),
    Visit("participant", "/invitations"),
    Visit("organiser", "/organise"),
    Visit("organiser", "/organise/new"),
    Visit("organiser", "/organise/voc2012"),
    Visit("organiser", "/organise/draft"),
    Visit("organiser", "/organise/voc2012/edit"),
    Visit("organiser", "/organise/voc2012/files"),
    Visit("organiser", "/organise/voc2012/phases"),
    Visit("organiser", "/organise/voc2012/reported"),
    Visit("organiser", "/organise/voc2012/reported/comp9/{reported}"),
    Visit("organiser", "/organise/voc2012/new-phase"),
    Visit("organiser", "/challenges/voc2012/submit?rehearsal=true"),
    Visit("organiser", "/organise/import"),
    Visit("organiser", "/organise/voc2012/submissions"),
    Visit("organiser", "/organise/voc2012/entrants"),
    Visit("organiser", "/organise/voc2012/queue"),
    Visit("organiser", "/organise/voc2012/history"),
    Visit("organiser", "/organise/voc2012/statistics"),
    Visit("organiser", "/organise/voc2012/statistics/comp3"),
    Visit("organiser", "/organise/voc2012/people"),
    Visit("organiser", "/organise/voc2012/announcements"),
    Visit("organiser", "/organise/voc2012/questions"),
    Visit("organiser", "/organise/voc2012/webhooks"),
    Visit("organiser", "/organise/on-request/admission"),
    Visit("organiser", "/organise/past/rescores/{rescore}"),
    Visit("organiser", "/organise/voc2012/log"),
    Visit("organiser", "/submissions/{scored}"),
    Visit("organiser", "/organise/phased/phases/test"),
    Visit("organiser", "/organise/archived/archive"),
    Visit("organiser", "/organise/harbour/rescores/{rescore_rules}"),
    Visit("administrator", "/admin/people"),
    Visit("administrator", "/admin/people/{person}"),
    Visit("administrator", "/admin/mail"),
    Visit("administrator", "/admin/queue"),
    Visit("administrator", "/admin/storage"),
    Visit("administrator", "/organise/log"),
    Visit("administrator", "/organise/registrations"),
]

# More states of these pages, for `make test-long`.
OTHER_STATES = [
    Visit("visitor", "/confirm?token=no-such"),
    Visit("visitor", "/challenges/no-such"),
    Visit("visitor", "/challenges/archived"),
    Visit("participant", "/challenges/next"),
    Visit("visitor", "/challenges/voc2012/leaderboards/comp3?method={published}&sort=sofa"),
    Visit("visitor", "/challenges/hidden/leaderboards/comp1"),
    Visit("visitor", "/challenges/anonymous/leaderboards/comp1"),
    Visit("visitor", "/challenges/frozen/leaderboards/comp1"),
    Visit("participant", "/challenges/voc2012/leaderboards/comp7?sort=head"),
    Visit("participant", "/challenges/voc2012/leaderboards/comp9"),
    Visit("participant", "/challenges/voc2012/leaderboards/comp3?q=nobody"),
    Visit("visitor", "/challenges/voc2012/leaderboards/comp3/compare"),
    Visit("visitor", "/challenges/voc2005/leaderboards"),
    Visit("visitor", "/challenges/anonymous/leaderboards"),
    Visit("visitor", "/anonymous/{anonymous}"),
    Visit("visitor", "/challenges/archived/data"),
    Visit("visitor", "/challenges/phased/rules"),
    Visit("visitor", "/challenges/phased/cite"),
    Visit("visitor", "/challenges/archived/questions"),
    Visit("participant", "/challenges/past/submit"),
    Visit("participant", "/challenges/phased/submit?phase=test"),
    Visit("participant", "/challenges/archived/submit"),
    Visit("participant", "/submissions/{scored}?competition=comp3"),
    Visit("participant", "/submissions/{scored}?competition=comp7"),
    Visit("participant", "/submissions/{queued}"),
    Visit("participant", "/submissions/{evaluating}"),
    Visit("participant", "/submissions/{withdrawn}"),
    Visit("participant", "/submissions/{disqualified}"),
    Visit("organiser", "/submissions/{disqualified}"),
    Visit("visitor", "/methods/{published_method}"),
    Visit("organiser", "/challenges/voc2012/team"),
    Visit("organiser", "/organise/doubtful"),
    Visit("organiser", "/organise/corrected"),
    Visit("organiser", "/organise/phased"),
    Visit("organiser", "/organise/phased/phases"),
    Visit("organiser", "/organise/voc2012/submissions?state=failed&sort=mean"),
    Visit("organiser", "/organise/voc2012/submissions?q=nobody"),
    Visit("organiser", "/organise/draft/submissions"),
    Visit("organiser", "/organise/draft/entrants"),
    Visit("organiser", "/organise/corrected/rescores/{rescore_ready}"),
    Visit("organiser", "/organise/corrected/rescores/{rescore_applied}"),
    Visit("organiser", "/organise/corrected/rescores/{rescore_discarded}"),
    Visit("organiser", "/organise/corrected/rescores/{rescore_failed}"),
    Visit("organiser", "/organise/voc2012/archive"),
    Visit("organiser", "/organise/draft/archive"),
]

# Shown inside of other sites' pages: without header and footer.
EMBEDDED = [Visit("visitor", "/challenges/voc2012/leaderboards/comp3/embed")]

# Forms that show something of what was typed, and store nothing.
PREVIEWS = [Visit("organiser", "/organise/voc2012/edit", "Preview description")]

REFUSED_FORMS = [
    Visit("visitor", "/sign-in", "Sign in"),
    Visit("visitor", "/register", "Register"),
    Visit("visitor", "/reset-password?token={reset_link}", "Set password"),
    Visit("participant", "/account", "Change password"),
    Visit("participant", "/challenges/voc2007/submit", "Result files in one archive"),
    Visit("organiser", "/organise/new", "Create challenge"),
    Visit("organiser", "/organise/voc2012/new-phase", "Add phase"),
    Visit("organiser", "/organise/voc2012/people", "Invite"),
    Visit("organiser", "/organise/voc2012/phases", "Give extra quota"),
    Visit("organiser", "/organise/voc2012/announcements", "Announce"),
    Visit("participant", "/challenges/voc2012/questions", "Send question"),
    Visit("organiser", "/organise/import", "Import"),
]


def open_page(page: Page, exhibition: Exhibition, visit: Visit) -> str:
    """Go there, and send an empty form if the visit says so; return the page as the server sent it before that."""
    if visit.who != "visitor":
        page.context.add_cookies(exhibition.cookies(visit.who))
    response = page.goto(exhibition.url + exhibition.gallery.address(visit.path))
    assert response is not None
    assert response.status < 500, visit
    content = response.text()
    if visit.press:
        # Otherwise the browser itself asks for what is missing, and the server is never asked.
        page.evaluate("() => { for (const form of document.forms) form.noValidate = true; }")
        for file in page.locator("form[data-upload] input[type=file]").all():
            file.set_input_files(NO_ARCHIVE)
        page.get_by_role("button", name=visit.press, exact=True).click()
        page.locator(".wrong, .note.bad, [role=alert], .preview").first.wait_for()
    return content
