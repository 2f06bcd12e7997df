"""What is stored about people, for what, for how long, and what happens to it when an account is deleted.

The privacy page shows it. A test compares it with the tables of the database, so that no table is forgotten.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What happens to rows about a person when the account is deleted."""

    DELETED = "deleted"
    SCRUBBED = "stays without name, address and texts"
    LEFT = "you leave; what a team with others has submitted stays with it"
    CHOSEN = "published results stay, under the published name or without a name, as you choose; the rest is withdrawn"
    PUBLIC_STAY = "those with public answers stay, without a name; the others are deleted"
    DECLINED_STAY = "those that were declined stay, without a name and your answers; the others are deleted"
    KEPT = "stays, without a name"
    FORGOTTEN = "deleted, what waits once it is sent"
    EXPIRES = "stays until its time is over"


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows about a person in one table.

    Attributes:
        what: for people to read.
        kept: for how long; `{name}` is a duration of the settings.
        column: says about whom they are: it has the person's id, or that of a team, or if it is `EMAIL` the address.
            None for what the person cannot download: what only organisers see, and what the web process may not read.
    """

    what: str
    kept: str
    fate: Fate
    column: str | None = "user_id"


EMAIL = "email"
_ACCOUNT = "as long as the account"
STORED: Mapping[str, Stored] = {
    "users": Stored(
        "Email address, name, affiliation, a hash of the password, role, when the account was made and confirmed, "
        "which terms you accepted",
        _ACCOUNT,
        Fate.SCRUBBED,
        "id",
    ),
    "sessions": Stored(
        "Browsers that you are signed in with: the browser's name, when it was last used",
        "until you sign out, at most {session_lifetime}",
        Fate.DELETED,
    ),
    "api_tokens": Stored("API tokens: label, scopes, last use, a hash of the token", _ACCOUNT, Fate.DELETED),
    "email_links": Stored("Links in emails: purpose, a hash, a new email address", "at most 3 days", Fate.DELETED),
    "second_factors": Stored(
        "The second factor: the app's key, encrypted, and hashes of recovery codes", "until you remove it", Fate.DELETED
    ),
    "security_keys": Stored("Security keys: label, public key, last use", "until you remove it", Fate.DELETED),
    "identities": Stored(
        "Other services that you sign in with: the service, by what it knows you (for ORCID, your iD), last use, "
        "whether you show your iD",
        "until you unlink it",
        Fate.DELETED,
    ),
    "challenge_organisers": Stored("Which challenges you organise", "as long as you organise them", Fate.DELETED),
    "challenge_invitations": Stored(
        "Invitations to organise a challenge: your address", "until answered", Fate.DELETED, EMAIL
    ),
    "phase_admissions": Stored(
        "Phases of challenges that your address is admitted to", "until organisers end it", Fate.DELETED, EMAIL
    ),
    "admission_requests": Stored(
        "Your requests to take part in challenges: your answers, and what organisers decided",
        "as long as the challenge",
        Fate.DECLINED_STAY,
    ),
    "terms_acceptances": Stored(
        "Which terms of challenges you accepted, and when; their organisers can download it",
        "as long as the challenge",
        Fate.DELETED,
    ),
    "extra_quotas": Stored("Extra quota for your address, and why", "until organisers delete it", Fate.DELETED, EMAIL),
    "bans": Stored("Bans from challenges or the server, and why", "until they are lifted", Fate.KEPT),
    "team_members": Stored("Which teams you are in", "until you leave", Fate.LEFT),
    "teams": Stored("Your teams: name", "as long as the challenge", Fate.LEFT, "id"),
    "team_invitations": Stored(
        "Invitations to a team: your address, if it was sent to you", "14 days", Fate.DELETED, EMAIL
    ),
    "submission_people": Stored(
        "For whom a submission counts, because they were in its team", "as long as the challenge", Fate.KEPT
    ),
    "methods": Stored(
        "Your methods: name, links to paper and code", "as long as the challenge", Fate.CHOSEN, "team_id"
    ),
    "submissions": Stored(
        "Your submissions: archive, contributors, affiliation, description, declarations, a private note, scores",
        "as long as the challenge; archives of withdrawn submissions {withdrawn_archives_kept_for}",
        Fate.CHOSEN,
    ),
    "submission_sequences": Stored(
        "Which of your scored submissions differ by more than chance, for organisers",
        "as long as the challenge",
        Fate.KEPT,
        None,
    ),
    "uploads": Stored(
        "Attempts to upload: when, how much, from which network, which errors",
        "a day; of rejected uploads without the network {rejected_uploads_kept_for}",
        Fate.EXPIRES,
    ),
    "resumable_uploads": Stored("Uploads that are not finished", "{unfinished_uploads_kept_for}", Fate.EXPIRES),
    "idempotency_keys": Stored("Keys that programs have sent with uploads", "a day", Fate.DELETED),
    "kept_answers": Stored("Answers to programs that may repeat their requests, encrypted", "a day", Fate.DELETED),
    "questions": Stored(
        "Your questions to organisers, with their answers", "as long as the challenge", Fate.PUBLIC_STAY
    ),
    "notifications": Stored("What you were told, on the site and by email", "180 days", Fate.DELETED),
    "notification_settings": Stored("Which of it you get by email", _ACCOUNT, Fate.DELETED),
    "webhooks": Stored(
        "Your webhooks: address, events, the secret, encrypted; what they were told, and how they answered",
        "until you remove them; what they were told {webhook_log_kept_for}",
        Fate.DELETED,
    ),
    "audit_events": Stored(
        "The log of changes: who did what and when, and from which network people signed in",
        "as long as the server",
        Fate.SCRUBBED,
        "actor_id",
    ),
    "attempts": Stored(
        "Attempts to sign in, to register and to reset a password: email address, network", "a day", Fate.EXPIRES, None
    ),
    "outbox": Stored(
        "Emails to you: address and subject; the text until it is sent", "30 days after sending", Fate.FORGOTTEN, None
    ),
}
DELETED_WITH_ACCOUNT = {name: one.column for name, one in STORED.items() if one.column and one.fate is Fate.DELETED}
