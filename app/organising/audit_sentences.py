"""Events of the audit log as sentences for people. Each action that the code records has one; a test checks it.

Names are as they were when it happened, where the event has them, and current ones otherwise.
"""

from collections.abc import Callable, Mapping
from typing import Any

from vocboard.app.audit.service import instant_in
from vocboard.app.challenges.models import MAIN_PHASE

Details = Mapping[str, Any]

MAX_VALUE_LENGTH = 80  # characters of a value that was changed
_RULES = {
    "title": "title",
    "summary": "summary",
    "description": "description",
    "website": "website",
    "contact": "contact",
    "organised_by": "names of the organisers",
    "licence": "licence of the data",
    "citation": "citation",
    "data_links": "links to the data",
    "edition": "edition",
    "edition_file": "edition file",
    "competitions": "competitions",
    "opens_at": "opening date",
    "closes_at": "closing date",
    "quota_count": "quota",
    "quota_period_seconds": "quota period",
    "shared_quota": "sharing of the quota",
    "visibility": "visibility",
    "decimals": "decimals",
    "detail": "detail level",
    "admission": "admission",
    "admission_questions": "questions to people who ask to be admitted",
    "admission_domains": "admitted domains",
    "min_account_days": "minimum age of accounts, in days",
    "leaderboard_from": "date from which leaderboards are visible",
    "anonymous_until": "date until which leaderboards are anonymous",
    "freeze": "time of freezing",
    "freezes_at": "freezing date",
    "ladder_step": "step of the Ladder mechanism",
    "phase_title": "name of the main phase",
    "method_description": "description",
    "paper_url": "link to the paper",
    "code_url": "link to the code",
    "anywhere_on_earth": "display of dates anywhere on Earth",
    "team_size": "largest size of teams",
    "teams_until": "date until which teams can change",
    "statistics": "display of intervals and rank ranges",
    "overall_rank": "rank over all leaderboards",
}
_LONG = frozenset(
    {
        "description",
        "method_description",
        "edition_file",
        "organised_by",
        "citation",
        "data_links",
        "admission_questions",
    }
)  # that they changed is said, not how


def sentence(who: str, action: str, subject: str, details: Details) -> str:
    """Return what happened.

    Args:
        who: the person, the operator or the server.
        subject: what the event is about, in words, such as `“R-CNN” of Ada`.
        details: the event's, as they are stored.

    >>> sentence("Olga", "submission.disqualify", "“R-CNN” of Ada", {"reason": "Trained on test images."})
    'Olga disqualified “R-CNN” of Ada: “Trained on test images.”'
    """
    phrase = PHRASES.get(action)
    if phrase is None:  # an event of another version
        what = action.replace(".", ": ").replace("_", " ")
        return f"{who} did “{what}” to {subject}."
    said = phrase(subject, details)
    ends_with_reason = bool(details.get("reason")) and said.endswith("”")
    return f"{who} {said}" if ends_with_reason or said.endswith((".", ".”")) else f"{who} {said}."


def _plain(text: str) -> Callable[[str, Details], str]:
    """Return a phrase with `{subject}`, `{the_phase}` and keys of the details; numbers as `{count:result|results}`.

    A reason is added if there is one.
    """

    def phrase(subject: str, details: Details) -> str:
        values = {name: _instant(value, name) or value for name, value in details.items()}
        known = {**values, "subject": subject, "the_phase": _phase(details)}
        said = text.format_map(_Known({name: _Said(value) for name, value in known.items()}))
        return f"{said}: “{details['reason']}”" if details.get("reason") else said

    return phrase


class _Said(str):
    """A value in a phrase, as a number with its noun if the phrase has one in the singular and in the plural."""

    def __format__(self, nouns: str) -> str:
        one, _, several = nouns.partition("|")
        return f"{self!s} {one if self == '1' else several}" if nouns else str(self)


class _Known(dict[str, _Said]):
    """Details for a phrase; what an older event lacks is a question mark."""

    def __missing__(self, key: str) -> _Said:
        return _Said("?")


def _phase(details: Details) -> str:
    key = details.get("phase", "?")
    return "main phase" if key == MAIN_PHASE else f"phase {key}"


def _started(_subject: str, details: Details) -> str:
    what = "a re-score of one submission" if details.get("submission") else "a re-score"
    return _plain(f"started {what} with version {{ground_truth_version}} of the ground truth")("", details)


def _changed_rules(_subject: str, details: Details) -> str:
    return _changes(details, "challenge")


def _described(subject: str, details: Details) -> str:
    parts = _changed_parts(details)
    return f"changed {_listed(parts)} of {subject}" if parts else f"changed the description of {subject}"


def _changed_phase(_subject: str, details: Details) -> str:
    return _changes(details.get("changes", {}), _phase(details))


def _changes(details: Details, of: str) -> str:
    parts = _changed_parts(details)
    return f"changed {_listed(parts)} of the {of}" if parts else f"changed the {of}"


def _changed_parts(details: Details) -> list[str]:
    parts = []
    for name, change in details.items():
        if name == "on_behalf_of":  # of a change at the command line
            continue
        label = _RULES.get(name, name.replace("_", " "))
        if name in _LONG or not isinstance(change, Mapping):
            parts.append(f"the {label}")
        else:
            parts.append(f"the {label} from {_value(change.get('from'), name)} to {_value(change.get('to'), name)}")
    return parts


def _value(value: Any, name: str = "") -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "“yes”" if value else "“no”"
    if (instant := _instant(value, name)) is not None:
        return instant
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"“{text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + '…'}”"


def _instant(value: Any, name: str) -> str | None:
    """Return an instant of the details as pages write it; None if the value with this name is not one."""
    at = instant_in(value, name=name)
    return None if at is None else f"{at.day} {at:%b %Y, %H:%M} UTC"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _restored(text: str) -> Callable[[str, Details], str]:
    """Return a phrase that also says whether the result is published again."""

    def phrase(subject: str, details: Details) -> str:
        said = text.format(subject=subject) + ("; it is published again" if details.get("published") else "")
        return f"{said}: “{details['reason']}”" if details.get("reason") else said

    return phrase


def _banned(where: str) -> Callable[[str, Details], str]:
    def phrase(subject: str, details: Details) -> str:
        number = details.get("submissions", 0)
        results = "1 published result" if number == 1 else f"{number} published results"
        done = {"unpublish": f", and unpublished {results}", "disqualify": f", and disqualified {results}"}
        what_else = done.get(details.get("results", ""), ", keeping published results")
        return f"banned {details.get('person', subject)} from {where}{what_else}: “{details.get('reason', '')}”"

    return phrase


def _imported(_subject: str, details: Details) -> str:
    at = _instant(details.get("at"), "at") or details.get("at", "?")
    return f"imported an event of {at} from the other server: {details.get('text', '?')}"


def _started_with_edition(_subject: str, details: Details) -> str:
    changes = [
        f"{one['what']} from {_value(one['before'])} to {_value(one['after'])}"
        for one in details.get("changes", ())
        if isinstance(one, Mapping) and {"what", "before", "after"} <= one.keys()
    ]
    said = f"started a re-score with version {details.get('edition_version', '?')} of the edition"
    what = f", which changes {_listed(changes)}" if changes else ""
    return f"{said}{what}: “{details.get('reason', '')}”"


def _invited_to_team(_subject: str, details: Details) -> str:
    return f"invited {details['email']} to a team" if details.get("email") else "created a link to join a team"


def _joined_team(_subject: str, details: Details) -> str:
    brought = details.get("members", 1)
    with_others = f", with {brought - 1} more of another team" if isinstance(brought, int) and brought > 1 else ""
    return _plain("joined the team “{team}”")("", details) + with_others


def _announced(subject: str, details: Details) -> str:
    told = ", and told {told:entrant|entrants}" if details.get("told") else ""
    return _plain("announced “{title}”" + told)(subject, details)


def _answered(_subject: str, details: Details) -> str:
    return f"answered a question {'publicly' if details.get('public') else 'privately'}"


def _refused_sign_in(subject: str, details: Details) -> str:
    whose = "an unknown account" if subject == "?" else subject
    rest = "; further ones are not logged for up to 15 minutes" if details.get("is_last") else ""
    return f"refused to sign {whose} in from {details.get('address', '?')}{rest}"


def _retried_mail(_subject: str, details: Details) -> str:
    what = "{count:rejected email|rejected emails}" if "count" in details else "a rejected email to {recipient}"
    return _plain(f"had {what} sent again")("", details)


def _deleted(_subject: str, details: Details) -> str:
    # Whose account it was is not said: the name is gone.
    return "deleted the account" if details.get("own", True) else "deleted the account of somebody else"


PHRASES: Mapping[str, Callable[[str, Details], str]] = {
    "challenge.create": _plain("created the challenge “{title}” of {edition}"),
    "challenge.copy": _plain("copied the rules of the challenge {slug}"),
    "challenge.update": _changed_rules,
    "challenge.replace_edition": _plain("replaced the edition {from} by {to}"),
    "challenge.make_scoring_current": _plain("switched the {the_phase} to new ground truth or results"),
    "challenge.ban": _banned("the challenge"),
    "challenge.lift_ban": _plain("lifted the ban of {person} from the challenge"),
    "challenge.invite": _plain("invited {email} to organise the challenge"),
    "challenge.withdraw_invitation": _plain("withdrew the invitation of {email} to organise the challenge"),
    "challenge.accept_invitation": _plain("accepted the invitation to organise the challenge"),
    "challenge.decline_invitation": _plain("declined the invitation to organise the challenge"),
    "challenge.add_organiser": _plain("made {person} an organiser of the challenge"),
    "challenge.remove_organiser": _plain("removed {person} from the organisers of the challenge"),
    "challenge.leave": _plain("left the organisers of the challenge"),
    "challenge.hand_over": _plain("handed the challenge over to {person}"),
    "challenge.add_file": _plain("uploaded the file “{file}” ({kind}, {audience})"),
    "challenge.remove_file": _plain("deleted the file “{file}” ({kind})"),
    "challenge.add_reported": _plain("added “{method}” ({kind}) to the reported results of {competition}, {the_phase}"),
    "challenge.change_reported": _plain(
        "changed the reported result “{method}” ({kind}) of {competition}, {the_phase}"
    ),
    "challenge.remove_reported": _plain(
        "removed the reported result “{method}” ({kind}) of {competition}, {the_phase}"
    ),
    "challenge.archive": _plain("archived the challenge"),
    "challenge.reopen": _plain("reopened the archived challenge"),
    "challenge.delete": _plain("deleted the draft “{title}”"),
    "challenge.export": _plain("exported the challenge"),
    "challenge.request_statistics": _plain("asked for the statistics that are missing to be computed again"),
    "challenge.import": _plain("imported the challenge from another server, with {submissions:submission|submissions}"),
    "challenge.imported_event": _imported,
    "announcement.create": _announced,
    "announcement.correct": _plain("corrected the announcement “{title}”"),
    "announcement.remove": _plain("removed the announcement “{title}”"),
    "question.ask": _plain("asked a question"),
    "question.answer": _answered,
    "question.remove": _plain("removed a question"),
    "mail.retry": _retried_mail,
    "job.retry": _plain("tried {count:failed job|failed jobs} again: {kind}, {failure}"),
    "phase.create": _plain("added the phase “{title}” ({phase})"),
    "phase.update": _changed_phase,
    "phase.remove": _plain("removed the {the_phase}"),
    "phase.ask_admission": _plain("asked to be admitted to the {the_phase}"),
    "phase.withdraw_request": _plain("withdrew the request to be admitted to the {the_phase}"),
    "phase.decline_request": _plain("declined {person}’s request to be admitted to the {the_phase}"),
    "challenge.set_terms": _plain("published version {version} of the terms"),
    "challenge.end_terms": _plain("removed the terms (version {version} is empty)"),
    "challenge.accept_terms": _plain("accepted version {version} of the terms"),
    "phase.admit": _plain("admitted {email} to the {the_phase}"),
    "phase.end_admission": _plain("ended the admission of {email} to the {the_phase}"),
    "quota.grant": _plain(
        "gave {email} {count:extra submission|extra submissions} per competition in the {the_phase} until {until}"
    ),
    "quota.change_grant": _plain(
        "changed the extra quota of {email} in the {the_phase} to {count:submission|submissions} per competition"
        " until {until}"
    ),
    "quota.end_grant": _plain("revoked the extra quota of {email} in the {the_phase}"),
    "ground_truth.upload": _plain("uploaded version {number} of the ground truth, {file_name}"),
    "ground_truth.confirm": _plain("confirmed the warnings of version {number} of the ground truth"),
    "ground_truth.remove": _plain("removed version {number} of the ground truth, which could not be imported"),
    "rescore.start": _started,
    "rescore.start_edition": _started_with_edition,
    "rescore.apply": _plain("asked for a re-score to be applied"),
    "rescore.applied": _plain("applied a re-score that changed {changes:result|results}"),
    "rescore.applied_edition": _plain(
        "applied version {edition_version} of the edition, which changed {changes:result|results}"
    ),
    "rescore.discard": _plain("discarded a re-score"),
    "rescore.fail": _plain("ended a re-score that failed"),
    "server.back_up": _plain("took the backup {backup} of the server"),
    "server.rotate_secret_key": _plain("changed the secret key of the server"),
    "server.rotate_worker_key": _plain("changed the key pair of the workers"),
    "server.restore": _plain("restored the backup {backup} of the server"),
    "submission.evaluate_again": _plain("had {subject} evaluated again"),
    "submission.publish": _plain("published {subject}"),
    "submission.unpublish": _plain("unpublished {subject}"),
    "submission.withdraw": _plain("withdrew {subject}"),
    "submission.describe": _described,
    "submission.declare": _plain("changed the declarations of {subject}"),
    "submission.create_anonymous_link": _plain("created an anonymous link to {subject}"),
    "submission.revoke_anonymous_link": _plain("revoked the anonymous link to {subject}"),
    "submission.remove_archive": _plain("removed the archive of {subject}, which was withdrawn long ago"),
    "submission.disqualify": _plain("disqualified {subject}"),
    "submission.reinstate": _restored("lifted the disqualification of {subject}"),
    "submission.hold_back": _plain("unpublished {subject} until an organiser allows it again"),
    "submission.allow_publishing": _restored("allowed {subject} to be published again"),
    "submission.fail": _plain("marked {subject} as failed and gave the quota back"),
    "team.create": _plain("founded the team “{team}”"),
    "team.rename": _plain("renamed the team “{from}” to “{to}”"),
    "team.invite": _invited_to_team,
    "team.join": _joined_team,
    "team.leave": _plain("left the team “{team}”"),
    "team.remove": _plain("removed {person} from the team “{team}”"),
    "team.set_role": _plain("made {person} {role} of the team “{team}”"),
    "token.create": _plain("created the API token “{label}” with the scopes {scopes}"),
    "token.revoke": _plain("revoked the API token “{label}”"),
    "webhook.add": _plain("added a webhook to {host} for {events}"),
    "webhook.remove": _plain("removed a webhook to {host}"),
    "user.register": _plain("registered"),
    "user.accept_terms": _plain("accepted the terms of the server (version {version})"),
    "user.create": _plain("created the account of {subject} as {role}"),
    "user.confirm_address": _plain("confirmed the email address"),
    "user.confirm": _plain("confirmed the email address of {subject}"),
    "user.approve": _plain("approved the registration of {subject}"),
    "user.reject": _plain("rejected the registration of {subject}"),
    "user.sign_in": _plain("signed in from {address}"),
    "user.sign_in_failed": _refused_sign_in,
    "user.sign_out": _plain("signed out"),
    "user.end_session": _plain("signed another browser out"),
    "user.set_role": _plain("changed the role of {subject} from {from} to {to}"),
    "user.disable": _plain("disabled the account of {subject}"),
    "user.enable": _plain("enabled the account of {subject}"),
    "user.end_sessions": _plain("signed {subject} out everywhere and revoked the API tokens"),
    "user.resend_confirmation": _plain("sent {subject} another link to confirm the email address"),
    "user.ban": _banned("the server"),
    "user.lift_ban": _plain("lifted the ban of {subject} from the server"),
    "user.change_profile": _plain("changed the name or affiliation of {subject}"),
    "user.set_up_second_factor": _plain("set up a second factor"),
    "user.remove_second_factor": _plain("removed the second factor of {subject}"),
    "user.add_security_key": _plain("added the security key “{label}”"),
    "user.remove_security_key": _plain("removed the security key “{label}”"),
    "user.link_identity": _plain("linked {issuer} to the account"),
    "user.show_orcid": _plain("showed the ORCID iD on the pages of methods"),
    "user.hide_orcid": _plain("removed the ORCID iD from the pages of methods"),
    "user.unlink_identity": _plain("unlinked {issuer} from the account of {subject}"),
    "user.replace_recovery_codes": _plain("created new recovery codes"),
    "user.use_recovery_code": _plain("signed in with a recovery code; {left} are left"),
    "user.second_factor_failed": _plain("refused a code of the second factor of {subject}"),
    "user.delete": _deleted,
    "user.register_again": _plain("registered again after deleting the account"),
    "user.change_address": _plain("changed the email address of {subject}"),
    "user.change_password": _plain("changed the password"),
    "user.reset_password": _plain("set another password of {subject}"),
}
