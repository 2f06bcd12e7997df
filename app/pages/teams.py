"""The person's team in a challenge, and the page of an invitation to one."""

import uuid
from typing import Annotated

from fastapi import Depends, Form, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.bans import bans_of_people
from vocboard.app.database import Database
from vocboard.app.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    LimitedError,
    NotFoundError,
    ServiceError,
)
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.participating import teams
from vocboard.app.settings import Settings
from vocboard.app.teams import queries
from vocboard.app.teams.models import TeamRole
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import SignedIn
from vocboard.app.web.routes import Routes
from vocboard.app.web.shown_once import forget, show_once, shown_once

router = Routes()
PAGE = "/challenges/{slug}/team"
_REFUSALS = (ConflictError, ForbiddenError, InvalidInputError, LimitedError)


class TeamPage:
    """The page of the person's team: what changes it, and then shows it again."""

    def __init__(
        self, request: Request, database: DatabaseDep, settings: SettingsDep, user: SignedIn, slug: str
    ) -> None:
        self.request, self.user, self.slug = request, user, slug
        self.database: Database = database
        self.settings: Settings = settings
        self.path = f"/challenges/{slug}/team"

    def show(self, errors: FormErrors = NO_ERRORS, **form: str) -> Response:
        """Render the page."""
        with self.database.reading() as session:
            challenge = challenges.get_visible(session, self.slug, self.user)
            team = queries.team_of(session, challenge.id, self.user)
            members = queries.members_of(session, team.id) if team else ()
            link = None if self.request.method == "POST" else shown_once(self.request, self.settings)
            response = render(
                self.request,
                "team.html",
                errors=errors,
                form={"name": team.name if team else "", **form},
                challenge=challenge,
                team=team,
                members=members,
                owns=any(one.user_id == self.user.id and one.role is TeamRole.OWNER for one in members),
                banned=bans_of_people(session, user_ids=[one.user_id for one in members], challenge_id=challenge.id),
                invitations=teams.invitations_of(session, team.id) if team else (),
                link=link,
                lifetime=teams.INVITATION_LIFETIME,
            )
        if link:
            forget(response, self.settings)
        return response

    def team_id(self, session: Session) -> uuid.UUID:
        """Return the id of the team.

        Raises:
            NotFoundError: the person has none.
        """
        team = queries.team_of(session, challenges.get_visible(session, self.slug, self.user).id, self.user)
        if team is None:
            raise NotFoundError("You have no team in this challenge.")
        return team.id


OwnTeam = Annotated[TeamPage, Depends()]


@router.get(PAGE)
def team_page(page: OwnTeam) -> Response:
    """The person's team, its members and invitations."""
    return page.show()


@router.post(PAGE, dependencies=[Depends(protect_form)])
def name_team(page: OwnTeam, name: Annotated[str, Form()] = "") -> Response:
    """Found a team, or rename it."""
    try:
        with page.database.writing() as session:
            challenge = challenges.get_visible(session, page.slug, page.user)
            team = queries.team_of(session, challenge.id, page.user)
            if team is not None and team.name:
                teams.rename(session, team_id=team.id, user=page.user, name=name)
            else:
                teams.create(session, challenge=challenge, user=page.user, name=name)
    except _REFUSALS as error:
        return page.show(FormErrors.of(error), name=name)
    return go_to(page.path, done="saved")


@router.post(PAGE + "/invitations", dependencies=[Depends(protect_form)])
def invite(page: OwnTeam, email: Annotated[str, Form()] = "") -> Response:
    """Invite somebody by email, or make a link."""
    site = page.settings.public_url
    try:
        with page.database.writing() as session:
            _, token = teams.invite(session, team_id=page.team_id(session), user=page.user, email=email, site=site)
    except _REFUSALS as error:
        return page.show(FormErrors.of(error), email=email)
    response = go_to(page.path, done="team-invited" if email else None)
    if not email:
        show_once(response, page.request, page.settings, page=page.path, secret=teams.address(site, token))
    return response


@router.post(PAGE + "/invitations/{invitation_id}/withdraw", dependencies=[Depends(protect_form)])
def withdraw_invitation(page: OwnTeam, invitation_id: uuid.UUID) -> Response:
    """Withdraw an invitation."""
    with page.database.writing() as session:
        teams.withdraw_invitation(session, team_id=page.team_id(session), user=page.user, invitation_id=invitation_id)
    return go_to(page.path, done="invitation-withdrawn")


@router.post(PAGE + "/members/{user_id}/remove", dependencies=[Depends(protect_form)])
def remove(page: OwnTeam, user_id: uuid.UUID) -> Response:
    """Remove a member, or leave."""
    try:
        with page.database.writing() as session:
            teams.remove(session, team_id=page.team_id(session), user=page.user, user_id=user_id)
    except _REFUSALS as error:
        return page.show(FormErrors.of(error))
    return go_to(page.path, done="team-left" if user_id == page.user.id else "member-removed")


@router.post(PAGE + "/members/{user_id}/role", dependencies=[Depends(protect_form)])
def set_role(page: OwnTeam, user_id: uuid.UUID, role: Annotated[TeamRole, Form()] = TeamRole.OWNER) -> Response:
    """Make a member an owner, or an owner a member."""
    try:
        with page.database.writing() as session:
            teams.set_role(session, team_id=page.team_id(session), user=page.user, user_id=user_id, role=role)
    except _REFUSALS as error:
        return page.show(FormErrors.of(error))
    return go_to(page.path, done="saved")


@router.get("/team-invitations/{token}")
def invitation_page(request: Request, database: DatabaseDep, user: SignedIn, token: str) -> Response:
    """An invitation to a team."""
    return _invitation(request, database, user, token)


@router.post("/team-invitations/{token}", dependencies=[Depends(protect_form)])
def accept(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    token: str,
    bring_team: Annotated[bool, Form()] = False,
) -> Response:
    """Join the team."""
    try:
        with database.writing() as session:
            slug = teams.accept(session, token=token, user=user, bring_team=bring_team).challenge.slug
    except _REFUSALS as error:
        return _invitation(request, database, user, token, error)
    return go_to(f"/challenges/{slug}/team", done="joined")


def _invitation(
    request: Request, database: Database, user: SignedIn, token: str, error: ServiceError | None = None
) -> Response:
    with database.reading() as session:
        found = teams.invitation_with(session, token, user)
        own = queries.team_of(session, found.team.challenge_id, user)
        members = queries.members_of(session, own.id) if own else ()
        return render(
            request,
            "team_invitation.html",
            errors=NO_ERRORS if error is None else FormErrors.of(error),
            invitation=found,
            challenge=found.team.challenge,
            own=own,
            others=[one for one in members if one.user_id != user.id],
        )
