"""Settings, from the environment (prefix `VOCBOARD_`) and nowhere else."""

import re
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from vocboard.app.registration_policy import RegistrationPolicy

MEBIBYTE = 1024 * 1024
LEAST_SECRET_CHARACTERS = 32
LEAST_DIFFERENT_CHARACTERS = 8
_SECRETS = ("secret_key", "proxy_secret")


class UnsafeSettingsError(ValueError):
    """The settings of a production process are incomplete or unsafe; the message lists everything that is wrong."""

    def __init__(self, wrong: Iterable[str]) -> None:
        super().__init__("refusing to start in production: " + "; ".join(wrong))


class Environment(StrEnum):
    """Where this process runs."""

    EMBEDDED = "embedded"  # one machine, SQLite, Celery over the file system
    PRODUCTION = "production"


class Settings(BaseSettings):
    """Everything that differs between two installations.

    The defaults are the embedded set-up below `data_directory`; the real one gives a PostgreSQL and a Redis address.
    """

    model_config = SettingsConfigDict(env_prefix="VOCBOARD_", frozen=True)

    environment: Environment = Environment.EMBEDDED
    debug: bool = False
    secret_key: SecretStr = SecretStr("")  # web only
    proxy_secret: SecretStr = SecretStr("")  # web only: a request that shows it may say whom it comes from
    public_url: str = "http://127.0.0.1:8000"

    data_directory: Path = Path("demo-data")
    database_url: str = ""  # default: SQLite in the data directory
    broker_url: str = ""  # default: Celery over the data directory
    archives_directory: Path | None = None  # submissions' archives: web writes, worker reads
    truth_inbox_directory: Path | None = None  # sealed uploads of ground truth: web writes, worker reads and deletes
    truth_directory: Path | None = None  # imported ground truth and the worker's private key: worker only

    upload_limit_bytes: int = Field(default=512 * MEBIBYTE, gt=0)  # of one archive
    upload_bytes_per_day: int = Field(default=4096 * MEBIBYTE, gt=0)  # of all bodies of one person
    upload_bytes_per_second: int = Field(default=32 * 1024, ge=0)  # the least
    upload_time_limit: timedelta = Field(default=timedelta(hours=1), gt=timedelta())  # of one body
    ground_truth_limit_bytes: int = Field(default=4096 * MEBIBYTE, gt=0)
    ground_truth_bytes_per_day: int = Field(default=32 * 1024 * MEBIBYTE, gt=0)
    ground_truth_bytes_per_second: int = Field(default=32 * 1024, ge=0)
    ground_truth_time_limit: timedelta = Field(default=timedelta(hours=4), gt=timedelta())
    uploads_per_hour: int = Field(default=30, gt=0)  # attempts of one person, whatever their outcome
    concurrent_uploads: int = Field(default=2, gt=0)  # of one person
    concurrent_uploads_per_address: int = Field(default=8, gt=0)  # a lab shares one; so do a person's accounts
    concurrent_uploads_in_all: int = Field(default=64, gt=0)
    withdrawn_archives_kept_for: timedelta = Field(default=timedelta(days=30), ge=timedelta())

    validation_processes: int = Field(default=2, gt=0)
    validation_time_limit: timedelta = timedelta(minutes=2)
    validation_memory_limit_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)

    registration: str = "open"  # or `domains:a.example,b.example`, `approval`, `closed`; see app.registration_policy
    mail_url: SecretStr = SecretStr("")  # smtp://user:password@host:port or smtps://...; also see mail_directory
    mail_from: str = ""  # default: vocboard@ and the public URL's host
    session_lifetime: timedelta = timedelta(days=14)
    # The last use is stored with a precision of 5 minutes.
    session_idle_timeout: timedelta = Field(default=timedelta(days=3), ge=timedelta(minutes=10))
    token_lifetime: timedelta = timedelta(days=365)

    security_contact: str = ""  # for /.well-known/security.txt: mailto:..., https://... or tel:...
    security_expires: AwareDatetime | None = None  # until when the contact holds; default: half a year from any request

    worker_processes: int = Field(default=2, gt=0)
    lease: timedelta = timedelta(seconds=60)  # a worker that is silent for so long is taken for dead
    poll_interval: timedelta = timedelta(seconds=3)  # how often a worker looks for work that no message told it of
    sweep_interval: timedelta = timedelta(seconds=15)
    evaluation_attempts: int = Field(default=3, gt=0)
    evaluation_time_limit: timedelta = timedelta(minutes=30)
    evaluation_memory_limit_bytes: int = Field(default=4096 * MEBIBYTE, gt=0)

    @field_validator("public_url")
    @classmethod
    def _in_browsers_form(cls, value: str) -> str:
        """Leave out a port that is the scheme's own, as browsers do in what they send."""
        return re.sub(r"^(https://[^/]*):443(?=/|$)|^(http://[^/]*):80(?=/|$)", r"\1\2", value)

    @field_validator("registration")
    @classmethod
    def _check_registration(cls, value: str) -> str:
        RegistrationPolicy.parse(value)
        return value

    @field_validator("security_contact")
    @classmethod
    def _can_be_followed(cls, value: str) -> str:
        """Refuse a contact that is not a URI (RFC 9116, section 2.5.3), such as a bare e-mail address."""
        if value and not re.fullmatch(r"(mailto:|https://|tel:)[!-~]+", value):
            raise ValueError("write it as mailto:security@lab.example, https://... or tel:...")
        return value

    @model_validator(mode="after")
    def _refuse_unsafe_production(self) -> Self:
        """Production does not start with debug on, with a guessable secret, or with anything but a real database.

        No process needs all settings, and none gets another's secrets: see `require`.
        """
        if self.environment is not Environment.PRODUCTION:
            return self
        wrong = []
        if self.debug:
            wrong.append("VOCBOARD_DEBUG is on")
        for name in _SECRETS:
            secret = getattr(self, name).get_secret_value()
            if secret and (len(secret) < LEAST_SECRET_CHARACTERS or len(set(secret)) < LEAST_DIFFERENT_CHARACTERS):
                wrong.append(f"{_variable(name)} needs at least {LEAST_SECRET_CHARACTERS} random characters")
        if self.database_url and not self.database_url.startswith("postgresql"):
            wrong.append("VOCBOARD_DATABASE_URL is not a PostgreSQL address")
        if not self.public_url.startswith("https://"):
            wrong.append("VOCBOARD_PUBLIC_URL is not an https address")
        if wrong:
            raise UnsafeSettingsError(wrong)
        return self

    def require(self, *names: str) -> None:
        """Check that a process in production has been given the settings that it cannot do without.

        Raises:
            UnsafeSettingsError: with all that are missing.
        """
        if self.environment is Environment.PRODUCTION:
            missing = [name for name in names if not _plain(getattr(self, name))]
            if missing:
                raise UnsafeSettingsError(f"{_variable(name)} is missing" for name in missing)

    @cached_property
    def database(self) -> str:
        """SQLAlchemy's address of the database."""
        self.require("database_url")
        return self.database_url or f"sqlite:///{self.data_directory.resolve() / 'vocboard.sqlite3'}"

    @property
    def broker(self) -> str:
        """Address of the broker: `redis://...`, or `filesystem://` and a directory."""
        self.require("broker_url")
        return self.broker_url or f"filesystem://{self.data_directory.resolve() / 'broker'}"

    @property
    def archives(self) -> Path:
        """Where submissions' archives lie, by content hash."""
        return self.archives_directory or self.data_directory / "archives"

    @property
    def ground_truth_inbox(self) -> Path:
        """Where sealed uploads of ground truth wait for the worker."""
        return self.truth_inbox_directory or self.data_directory / "truth-inbox"

    @property
    def truth(self) -> Path:
        """Where imported ground truth and the worker's private key lie; the web process has no such directory."""
        return self.truth_directory or self.data_directory / "truth"

    @property
    def registration_policy(self) -> RegistrationPolicy:
        """Who may register."""
        return RegistrationPolicy.parse(self.registration)

    @property
    def mail_directory(self) -> Path | None:
        """Where e-mail is written to files instead of being sent: in the embedded set-up without a mail server."""
        if self.environment is not Environment.EMBEDDED or self.mail_url.get_secret_value():
            return None
        return self.data_directory.resolve() / "mail"

    @property
    def sender(self) -> str:
        """The address that e-mail comes from."""
        host = urlsplit(self.public_url).hostname or "localhost"
        return self.mail_from or f"vocboard@{host}"

    @property
    def secure_cookies(self) -> bool:
        """Whether the site is reached over TLS."""
        return self.public_url.startswith("https://")


def _variable(name: str) -> str:
    return f"VOCBOARD_{name.upper()}"


def _plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
