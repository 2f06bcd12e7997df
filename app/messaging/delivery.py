"""Sends a message of the outbox: by SMTP, or to a file if there is no mail server."""

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from email_validator import EmailNotValidError, validate_email

from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.settings import Settings

TIMEOUT_SECONDS = 30.0  # of each SMTP step
PORTS = {"smtp": 25, "smtps": 465}
MAX_LINE_LENGTH = 998  # characters (RFC 5322, section 2.1.1)
PERMANENT = 500  # SMTP status codes from here on are permanent errors
CLOSING = 421  # the server ends the connection, for any recipient

Send = Callable[[OutgoingMail], None]


class _Unfolded(UnstructuredHeader, BaseHeader):
    """A header in one line: folding would encode a long address, which mail programs do not decode here."""

    def fold(self, *, policy: Policy) -> str:
        """Return the line."""
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("list-unsubscribe", _Unfolded)
_POLICY = SMTP.clone(header_factory=_HEADERS)


class UndeliverableError(Exception):
    """The mail server permanently rejects this message."""


class DeferredError(Exception):
    """The mail server does not take this message now, which can be retried later; it may take others."""


class MailServerError(Exception):
    """The mail server is unavailable; the message can be retried later."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A mail server.

    Attributes:
        encrypted: whether the connection uses TLS from the start (smtps).
    """

    host: str
    port: int
    encrypted: bool
    user: str = ""
    password: str = ""

    @classmethod
    def parse(cls, url: str) -> "SmtpServer":
        """Parse `smtp://user:password@host:port` or `smtps://...`.

        Raises:
            ValueError: it is neither; the message does not contain the URL, which has a password.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError("VOCBOARD_MAIL_URL must be smtp://user:password@host:port or smtps://...")
        return cls(
            host=parts.hostname,
            port=port or PORTS[parts.scheme],
            encrypted=parts.scheme == "smtps",
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
        )


def sender(settings: Settings) -> Send:
    """Return the delivery function for the settings.

    Raises:
        ValueError: the required mail server is missing or invalid.
    """
    if settings.mail_directory is not None:
        directory = settings.mail_directory
        return lambda message: _write(_email(message, settings), directory, message)
    server = SmtpServer.parse(settings.mail_url.get_secret_value())
    return lambda message: _send(_email(message, settings), server)


def _email(message: OutgoingMail, settings: Settings) -> EmailMessage:
    """Build the email.

    `EmailMessage` rejects line breaks in headers, but decodes encoded words (RFC 2047), which can stand for line breaks
    and further addresses.

    Raises:
        UndeliverableError: the recipient is not a single address, or a header is not valid.
    """
    email = EmailMessage(policy=_POLICY)
    try:
        email["From"] = settings.sender
        email["To"] = recipient = _address(message.recipient)
        email["Subject"] = message.subject.replace("=?", "= ?")
        if [address.addr_spec for address in email["To"].addresses] != [recipient]:
            raise UndeliverableError("the recipient is not an email address")
    except (ValueError, LookupError, MessageError) as error:
        raise UndeliverableError(str(error)) from error
    email["Date"] = format_datetime(message.created_at)
    email["Message-ID"] = f"<{message.id}@{settings.sender.rpartition('@')[2]}>"
    email["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic answers
    if message.unsubscribe_url is not None:  # RFC 8058: the mail program sends one POST, without signing in
        email["List-Unsubscribe"] = f"<{message.unsubscribe_url}>"
        email["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    email.set_content(message.body, cte=_encoding(message.body, to_file=settings.mail_directory is not None))
    return email


def _address(recipient: str) -> str:
    """Return an email address with the domain as mail servers know it: IDNA for one that is not ASCII."""
    try:
        checked = validate_email(recipient, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise UndeliverableError(str(error)) from error
    return f"{checked.local_part}@{checked.ascii_domain}"


def _encoding(body: str, *, to_file: bool) -> str | None:
    """Return the transfer encoding; None for the default, which breaks long links. People copy them out of files."""
    if max(map(len, body.splitlines()), default=0) > MAX_LINE_LENGTH:
        return None
    if body.isascii():
        return "7bit"
    return "8bit" if to_file else None


def _write(email: EmailMessage, directory: Path, message: OutgoingMail) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Names sort by time, even within one second.
    file = directory / f"{message.created_at:%Y%m%dT%H%M%S.%f}-{message.id}.eml"
    partial = file.with_suffix(".partial")
    partial.touch(mode=0o600)
    partial.write_bytes(email.as_bytes())
    partial.replace(file)


def _send(email: EmailMessage, server: SmtpServer) -> None:
    context, is_taken = ssl.create_default_context(), False
    try:
        with _connected(server, context) as connection:
            if not server.encrypted and connection.has_extn("starttls"):
                connection.starttls(context=context)
                connection.ehlo()
                protected = True
            else:
                protected = server.encrypted
            if server.user:
                if not protected:
                    raise MailServerError("the mail server offers no TLS, so the password is not sent to it")
                connection.login(server.user, server.password)
            try:
                connection.send_message(email)
                is_taken = True
            except smtplib.SMTPNotSupportedError as error:  # the address needs SMTPUTF8 (RFC 6531)
                raise UndeliverableError(str(error)) from error
    except smtplib.SMTPRecipientsRefused as error:
        status, text = next(iter(error.recipients.values()))
        raise _refusal(status, text, MailServerError if status == CLOSING else DeferredError) from error
    except (smtplib.SMTPDataError, smtplib.SMTPSenderRefused) as error:
        raise _refusal(error.smtp_code, error.smtp_error) from error
    except (smtplib.SMTPException, OSError) as error:
        if is_taken:  # and its answer to QUIT is another than 221
            return
        raise MailServerError(f"{type(error).__name__}: {error}") from error


def _connected(server: SmtpServer, context: ssl.SSLContext) -> smtplib.SMTP:
    if server.encrypted:
        connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_SECONDS, context=context)
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_SECONDS)
    connection.ehlo_or_helo_if_needed()
    return connection


def _refusal(status: int, text: bytes | str, temporary: type[Exception] = MailServerError) -> Exception:
    said = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    kind = UndeliverableError if status >= PERMANENT else temporary
    return kind(f"{status} {said}")
