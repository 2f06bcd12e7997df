"""Settings, read only from environment variables with the prefix `VOCBOARD_`."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from email.utils import getaddresses
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

DIRECTORY = "directory"
MEBIBYTE = 1024 * 1024
SMALL_PER_LIMIT = 128  # so many small uploads together are as large as one may be
MIN_SECRET_LENGTH = 32
MIN_DIFFERENT_CHARACTERS = 8
_DATABASES = ("postgresql+psycopg", "postgresql", "sqlite")
_BROKERS = ("redis", "rediss", "redis+socket", "filesystem")
_WITH_SECRETS = ("database_url", "broker_url")  # a password is part of them
OTHER_NAMES = {"VOCBOARD_STORE_URL": "store", "VOCBOARD_S3_ENDPOINT": "store_endpoint"}
_GENERATED_SECRETS = ("secret_key", "proxy_secret", "metrics_token", "webhook_key")
MAX_PROVIDER_TITLE = 60
_A_SITE = r"(?i)https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?(/[^?#\s]*)?"
_A_DURATION = "use ISO 8601, such as PT2M for two minutes or P14D for fourteen days"
_REGISTRATION_FORMS = "use open, domains:a.example,b.example, approval or closed"


@dataclass(frozen=True, slots=True)
class RegistrationPolicy:
    """Who may register: the setting `VOCBOARD_REGISTRATION`.

    Attributes:
        is_open: whether anybody may register; otherwise only operators create accounts.
        domains: allowed domains of email addresses; empty for all.
        needs_approval: whether administrators have to approve each registration.
        accounts_per_domain: that may be confirmed in a week; 0 for any number. See `app.accounts.registration`.
    """

    is_open: bool = True
    domains: tuple[str, ...] = ()
    needs_approval: bool = False
    accounts_per_domain: int = 0

    @classmethod
    def parse(cls, value: str) -> Self:
        """Read the setting.

        Raises:
            ValueError: it is not one of the four forms.

        >>> RegistrationPolicy.parse("domains:Lab.example, b.example").domains
        ('lab.example', 'b.example')
        """
        mode, _, rest = value.strip().partition(":")
        if mode == "domains":
            domains = tuple(name.strip().lower() for name in rest.split(",") if name.strip())
            if not domains or any("@" in name or " " in name for name in domains):
                raise ValueError(_REGISTRATION_FORMS)
            return cls(domains=domains)
        if rest or mode not in {"open", "approval", "closed"}:
            raise ValueError(_REGISTRATION_FORMS)
        return cls(is_open=mode != "closed", needs_approval=mode == "approval")

    def accepts(self, email: str) -> bool:
        """Whether an email address (normalised) has one of the allowed domains; subdomains do not match."""
        return not self.domains or email.rpartition("@")[2] in self.domains


class SecondFactorPolicy(StrEnum):
    """Who needs a second factor: the setting `VOCBOARD_SECOND_FACTOR`."""

    OPTIONAL = "optional"
    ORGANISERS = "organisers"  # of any role but participant


@dataclass(frozen=True, slots=True)
class OpenIdProvider:
    """A provider of OpenID Connect that people sign in with: one of the setting `VOCBOARD_OIDC_PROVIDERS`.

    Attributes:
        name: for addresses, such as that of the callback.
        title: for people.
        issuer: exactly as the provider writes it.
    """

    name: str
    title: str
    issuer: str
    client_id: str
    client_secret: SecretStr

    @classmethod
    def parse_all(cls, value: str) -> "tuple[OpenIdProvider, ...]":
        """Read the setting: a list of objects in JSON; empty for no providers.

        Raises:
            ValueError: it is something else; the message lists all errors, without secrets.

        >>> OpenIdProvider.parse_all('[{"name": "lab", "title": "Lab", "issuer": "http://login.lab.example"}]')
        Traceback (most recent call last):
        ...
        ValueError: provider 1: give client_id, client_secret; issuer has to be an https address
        """
        if not value.strip():
            return ()
        try:
            given = json.loads(value)
        except ValueError:
            given = None
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise ValueError("use a list of objects in JSON, as docs/operators.md shows")
        wrong = [
            f"provider {number}: {'; '.join(found)}"
            for number, one in enumerate(given, 1)
            if (found := _wrong_with(one))
        ]
        for key in ("name", "issuer"):
            if len({str(one.get(key)) for one in given}) < len(given):
                wrong.append(f"two providers have the same {key}")
        if wrong:
            raise ValueError(", ".join(wrong))
        return tuple(cls(**{**one, "client_secret": SecretStr(one["client_secret"])}) for one in given)


def _wrong_with(given: dict[str, object]) -> list[str]:
    """Return what is wrong with an object of the setting `VOCBOARD_OIDC_PROVIDERS`."""
    texts = {key: value for key, value in given.items() if isinstance(value, str) and value.strip()}
    keys = OpenIdProvider.__match_args__
    missing = [key for key in keys if key not in texts]
    unknown = sorted(given.keys() - set(keys))
    issuer = urlsplit(texts.get("issuer", "https://"))
    is_safe = issuer.scheme == "https" or (issuer.scheme == "http" and issuer.hostname in {"127.0.0.1", "localhost"})
    found = {
        f"give {', '.join(missing)}": missing,
        f"remove {', '.join(unknown)}": unknown,
        "name has to be of lower-case letters, digits and hyphens": not re.fullmatch(
            "[a-z0-9-]{1,30}", texts.get("name", "a")
        ),
        f"title is longer than {MAX_PROVIDER_TITLE} characters": len(texts.get("title", "")) > MAX_PROVIDER_TITLE,
        "issuer has to be an https address": not is_safe or issuer.query or issuer.fragment,
    }
    return [text for text, is_wrong in found.items() if is_wrong]


class UnsafeSettingsError(ValueError):
    """The settings of a production process are incomplete or unsafe; the message lists all errors."""

    def __init__(self, wrong: Iterable[str]) -> None:
        self.wrong = tuple(wrong)
        super().__init__("refusing to start in production: " + "; ".join(self.wrong))


class LogFormat(StrEnum):
    """What a process writes to its log for each event: the setting `VOCBOARD_LOG_FORMAT`."""

    TEXT = "text"
    JSON = "json"


class SecretFiles(EnvSettingsSource):
    """Reads secrets, and URLs that contain one, from files that `VOCBOARD_<NAME>_FILE` name, without white space."""

    def __call__(self) -> dict[str, Any]:
        """Return the values by the names of the settings.

        Raises:
            UnsafeSettingsError: a file cannot be read, or the setting has a value, too.
        """
        found, wrong = dict[str, Any](), list[str]()
        for name, field in Settings.model_fields.items():
            variable = f"{_variable(name)}_FILE"
            path = os.environ.get(variable)
            if not path or not (field.annotation is SecretStr or name in _WITH_SECRETS):
                continue
            if os.environ.get(_variable(name)):  # docker-compose.yml gives empty ones
                wrong.append(f"{_variable(name)} and {variable} are both set: remove one of them")
                continue
            try:
                found[name] = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                wrong.append(f"{variable}: {error}")
        if wrong:
            raise UnsafeSettingsError(wrong)
        return found


class OtherNames(EnvSettingsSource):
    """Reads settings by their other names, if those of the first name are not set."""

    def __call__(self) -> dict[str, Any]:
        """Return the values by the names of the settings."""
        return {
            name: os.environ[other]
            for other, name in OTHER_NAMES.items()
            if os.environ.get(other) and not os.environ.get(_variable(name))
        }


class Environment(StrEnum):
    """Where this process runs."""

    EMBEDDED = "embedded"  # one machine, SQLite, Celery over the file system
    PRODUCTION = "production"


class Settings(BaseSettings):
    """The settings of an installation.

    The defaults are for the embedded set-up, with all data in `data_directory`; production sets PostgreSQL and Redis
    URLs.
    """

    model_config = SettingsConfigDict(env_prefix="VOCBOARD_", frozen=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments, files of secrets and the environment, in this order, and nothing else."""
        return init_settings, SecretFiles(settings_cls), OtherNames(settings_cls), env_settings

    environment: Environment = Environment.EMBEDDED
    debug: bool = False
    log_format: LogFormat = LogFormat.TEXT
    extensions: str = ""  # packages that add to the evaluator, which reads this itself: `evaluator.extensions`
    secret_key: SecretStr = SecretStr("")  # web only
    # Web only: separated by commas; see `vocboard admin rotate-secret-key`.
    former_secret_keys: SecretStr = SecretStr("")
    proxy_secret: SecretStr = SecretStr("")  # web only: forwarding headers of requests with this secret are trusted
    # Web only: opens /metrics to a monitoring system; without it, there is none.
    metrics_token: SecretStr = SecretStr("")
    metrics_address: str = ""  # web only: host:port where `vocboard serve` publishes the same without a token
    public_url: str = "http://127.0.0.1:8000"
    notice: str = ""  # plain text on the home page; blank lines separate paragraphs

    data_directory: Path = Path("demo-data")
    database_url: str = ""  # default: SQLite in the data directory
    broker_url: str = ""  # default: Celery over the data directory
    archives_directory: Path | None = None  # archives of submissions: the web process writes, workers read
    truth_inbox_directory: Path | None = None  # encrypted ground truth: web writes, workers delete
    truth_directory: Path | None = None  # imported ground truth and the workers' private key: workers only
    backup_key: str = ""  # public key that `vocboard admin backup` seals backups to

    truth_key_file: Path | None = None  # the workers' private key; default: worker.private-key in truth_directory
    store: str = ""  # s3://bucket/prefix for archives and ground truth; without it they are in the directories above
    former_store: str = ""  # the same, or `directory`: where files were before; see `move-archives`
    store_endpoint: str = ""  # URL of a store other than Amazon's
    store_region: str = ""
    store_key_id: str = ""
    store_key: SecretStr = SecretStr("")
    store_links: bool = False  # people download from the store, by signed addresses
    store_cache_bytes: int = Field(default=10 * 1024 * MEBIBYTE, ge=0)  # of local copies

    upload_limit_bytes: int = Field(default=512 * MEBIBYTE, gt=0)  # of one archive
    upload_bytes_per_day: int = Field(default=4096 * MEBIBYTE, gt=0)  # of all uploads of one person
    upload_bytes_per_second: int = Field(default=32 * 1024, ge=0)  # the least
    upload_time_limit: timedelta = Field(default=timedelta(hours=1), gt=timedelta())  # of one body
    ground_truth_limit_bytes: int = Field(default=4096 * MEBIBYTE, gt=0)
    ground_truth_bytes_per_day: int = Field(default=32 * 1024 * MEBIBYTE, gt=0)
    ground_truth_bytes_per_second: int = Field(default=32 * 1024, ge=0)
    ground_truth_time_limit: timedelta = Field(default=timedelta(hours=4), gt=timedelta())
    challenge_file_limit_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)  # of one file that organisers upload
    challenge_files_limit_bytes: int = Field(default=8192 * MEBIBYTE, gt=0)  # of all files of a challenge
    uploads_per_hour: int = Field(default=30, gt=0)  # attempts of one person, including rejected ones
    concurrent_uploads: int = Field(default=2, gt=0)  # of one person
    concurrent_uploads_per_address: int = Field(default=8, gt=0)  # a lab may share an address
    concurrent_uploads_in_all: int = Field(default=64, gt=0)
    unfinished_uploads: int = Field(default=4, gt=0)  # of one person; the oldest make way
    # No longer than a day, for which the bytes of an upload count.
    unfinished_uploads_kept_for: timedelta = Field(default=timedelta(days=1), gt=timedelta(), le=timedelta(days=1))
    withdrawn_archives_kept_for: timedelta = Field(default=timedelta(days=30), ge=timedelta())
    rejected_uploads_kept_for: timedelta = Field(default=timedelta(days=90), ge=timedelta())  # their codes

    validation_processes: int = Field(default=2, gt=0)
    validation_time_limit: timedelta = Field(default=timedelta(minutes=2), gt=timedelta())
    validation_memory_limit_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)

    accounts_per_domain: int = Field(default=20, ge=0)  # new ones in a week; 0 for any number
    terms_file: Path | None = None  # Markdown, which people accept when they register
    registration: str = "open"  # or `domains:a.example,b.example`, `approval`, `closed`; see RegistrationPolicy
    oidc_providers: SecretStr = SecretStr("")  # a list in JSON; see OpenIdProvider
    mail_url: SecretStr = SecretStr("")  # smtp://user:password@host:port or smtps://...; also see mail_directory
    mail_from: str = ""  # default: vocboard@ and the public URL's host
    session_lifetime: timedelta = Field(default=timedelta(days=14), gt=timedelta())
    # The time of last use is stored with a precision of 5 minutes.
    session_idle_timeout: timedelta = Field(default=timedelta(days=3), ge=timedelta(minutes=10))
    second_factor: SecondFactorPolicy = SecondFactorPolicy.OPTIONAL
    token_lifetime: timedelta = Field(default=timedelta(days=365), gt=timedelta())
    # Web and mail worker: encrypts the secrets of webhooks. Production has no webhooks without it.
    webhook_key: SecretStr = SecretStr("")
    webhooks_anywhere: bool = False  # whether they may use http, and addresses of private networks
    webhook_log_kept_for: timedelta = Field(default=timedelta(days=30), ge=timedelta(days=1))
    cross_origin_reads: bool = False  # whether scripts of other sites may read what visitors may read of the API

    security_contact: str = ""  # for /.well-known/security.txt: mailto:..., https://... or tel:...
    security_expires: AwareDatetime | None = None  # expiry of the contact; default: half a year after each request

    worker_processes: int = Field(default=2, gt=0)
    # A worker that does not renew its lease for this long is considered dead.
    lease: timedelta = Field(default=timedelta(minutes=1), gt=timedelta())
    poll_interval: timedelta = Field(default=timedelta(seconds=3), gt=timedelta())  # of an idle worker
    sweep_interval: timedelta = Field(default=timedelta(seconds=15), gt=timedelta())
    evaluation_attempts: int = Field(default=3, gt=0)
    evaluation_time_limit: timedelta = Field(default=timedelta(minutes=30), gt=timedelta())
    evaluation_memory_limit_bytes: int = Field(default=4096 * MEBIBYTE, gt=0)

    @field_validator("public_url")
    @classmethod
    def _in_browsers_form(cls, value: str) -> str:
        """Write the host as browsers do in the Origin header: small letters, no default port. Remove a final slash."""
        try:
            is_known = re.fullmatch(_A_SITE, value, re.ASCII) and urlsplit(value).port != 0
        except ValueError:  # the port is no number
            is_known = False
        if not is_known:
            raise ValueError("use the address of the site, such as https://voc.example.org")
        value = re.sub(r"^[^:]*://[^/]*", lambda found: found[0].lower(), value.rstrip("/"))
        return re.sub(r"^(https://[^/]*):443(?=/|$)|^(http://[^/]*):80(?=/|$)", r"\1\2", value)

    @field_validator("database_url")
    @classmethod
    def _is_a_database(cls, value: str) -> str:
        try:
            is_known = not value or make_url(value).drivername in _DATABASES
        except (ArgumentError, ValueError):  # ValueError: the port is no number
            is_known = False
        if not is_known:
            raise ValueError("use postgresql+psycopg://user:password@host/name, with special characters %-encoded")
        return value

    @field_validator("broker_url")
    @classmethod
    def _is_a_broker(cls, value: str) -> str:
        try:
            url = urlsplit(value)
            is_known = not value or (url.scheme in _BROKERS and url.port != 0)
        except ValueError:  # the port is no number
            is_known = False
        if not is_known:
            raise ValueError("use redis://:password@host:port/0, with special characters %-encoded")
        return value

    @field_validator("metrics_address")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if value and not (host and port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
            raise ValueError("use host:port, such as 127.0.0.1:9100")
        return value

    @field_validator("store_endpoint")
    @classmethod
    def _is_a_url(cls, value: str) -> str:
        if value and not re.match(r"(?i)https?://[^/]", value):
            raise ValueError("use the URL of the store, https://...")
        return value

    @field_validator("store", "former_store")
    @classmethod
    def _is_a_place(cls, value: str, info: ValidationInfo) -> str:
        """Reject what is no place, and moving from a place to itself: what has been moved is removed from there."""
        is_former, value = info.field_name == "former_store", value.rstrip("/")
        if is_former and value == (info.data.get("store") or DIRECTORY):
            raise ValueError("this is the same place as VOCBOARD_STORE: remove it, or correct one of them")
        if is_former and value == DIRECTORY:
            return value
        if value and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._/-]*)?", value):
            raise ValueError("use the form s3://bucket or s3://bucket/prefix")
        return value

    @field_validator("registration")
    @classmethod
    def _check_registration(cls, value: str) -> str:
        RegistrationPolicy.parse(value)
        return value

    @field_validator("oidc_providers")
    @classmethod
    def _check_providers(cls, value: SecretStr) -> SecretStr:
        OpenIdProvider.parse_all(value.get_secret_value())
        return value

    @field_validator("mail_url")
    @classmethod
    def _is_a_mail_server(cls, value: SecretStr) -> SecretStr:
        try:
            url = urlsplit(value.get_secret_value())
            is_whole = url.path in {"", "/"} and not url.query and not url.fragment
            is_known = not value or (url.scheme in {"smtp", "smtps"} and url.hostname and url.port != 0 and is_whole)
        except ValueError:  # the port is no number
            is_known = False
        if not is_known:
            raise ValueError("use smtp://user:password@host:port or smtps://..., with special characters %-encoded")
        return value

    @field_validator("mail_from")
    @classmethod
    def _is_a_sender(cls, value: str) -> str:
        addresses = [address for _, address in getaddresses([value])]
        if value and not (value.isprintable() and len(addresses) == 1 and re.fullmatch(r"[!-~]+@[!-~]+", addresses[0])):
            raise ValueError("use one address, such as vocboard@example.org or Example <vocboard@example.org>")
        return value

    @field_validator("security_contact")
    @classmethod
    def _can_be_followed(cls, value: str) -> str:
        """Reject a contact that is not a URI (RFC 9116, section 2.5.3), for example a plain email address."""
        if value and not re.fullmatch(r"(mailto:|https://|tel:)[!-~]+", value):
            raise ValueError("use the form mailto:security@lab.example, https://... or tel:...")
        return value

    @model_validator(mode="after")
    def _refuse_unsafe_production(self) -> Self:
        """Reject debug mode, short secrets, SQLite and http in production.

        Processes need different settings, and none has the others' secrets; see `require`.
        """
        if self.environment is not Environment.PRODUCTION:
            return self
        wrong = []
        if self.debug:
            wrong.append("VOCBOARD_DEBUG is on: remove it")
        for name in _GENERATED_SECRETS:
            secret = getattr(self, name).get_secret_value()
            if secret and (len(secret) < MIN_SECRET_LENGTH or len(set(secret)) < MIN_DIFFERENT_CHARACTERS):
                wrong.append(
                    f"{_variable(name)} is not random, or too short: it needs at least {MIN_SECRET_LENGTH} random "
                    "characters, such as those of `openssl rand -hex 32`"
                )
        if self.database_url and not self.database_url.startswith("postgresql"):
            wrong.append("VOCBOARD_DATABASE_URL is not of PostgreSQL: use postgresql+psycopg://user:password@host/name")
        if not self.public_url.startswith("https://"):
            wrong.append("VOCBOARD_PUBLIC_URL is not an https address: use that of the site, https://...")
        if wrong:
            raise UnsafeSettingsError(wrong)
        return self

    @classmethod
    def of_process(cls, *required: str) -> Self:
        """Read the settings of a process that requires some in production.

        Raises:
            UnsafeSettingsError: settings are wrong, unsafe or missing; the message lists all of them.
        """
        try:
            settings = cls()
        except ValueError as error:
            wrong = wrong_settings(error)
            if os.environ.get("VOCBOARD_ENVIRONMENT") == Environment.PRODUCTION:
                set_ones = {name.upper().removesuffix("_FILE") for name, value in os.environ.items() if value}
                wrong += [_missing(name) for name in required if _variable(name) not in set_ones]
            raise UnsafeSettingsError(wrong) from error
        settings.require(*required)
        return settings

    def require(self, *names: str) -> None:
        """Check in production that the settings that this process requires are set.

        Raises:
            UnsafeSettingsError: settings are missing; the message lists all of them.
        """
        if self.environment is Environment.PRODUCTION:
            missing = [name for name in names if not _plain(getattr(self, name))]
            if missing:
                raise UnsafeSettingsError(map(_missing, missing))

    @cached_property
    def database(self) -> str:
        """SQLAlchemy URL of the database."""
        self.require("database_url")
        return self.database_url or f"sqlite:///{self.data_directory.resolve() / 'vocboard.sqlite3'}"

    @property
    def broker(self) -> str:
        """URL of the broker: `redis://...`, or `filesystem://` and a directory."""
        self.require("broker_url")
        return self.broker_url or f"filesystem://{self.data_directory.resolve() / 'broker'}"

    @property
    def key_of_webhooks(self) -> str | None:
        """What encrypts the secrets of webhooks; None if there are none."""
        found = self.webhook_key.get_secret_value()
        if self.environment is Environment.EMBEDDED:
            return found or self.secret_key.get_secret_value()
        return found or None

    @property
    def former_keys(self) -> tuple[str, ...]:
        """The parsed setting `former_secret_keys`."""
        return tuple(filter(None, re.split(r"[,\s]+", self.former_secret_keys.get_secret_value())))

    @property
    def small_upload_bytes(self) -> int:
        """Size up to which an upload is small, so that it has its own places and is validated before large ones."""
        return self.upload_limit_bytes // SMALL_PER_LIMIT

    @property
    def archives(self) -> Path:
        """Directory of submissions' archives, which are named by content hash."""
        return self.archives_directory or self.data_directory / "archives"

    @property
    def ground_truth_inbox(self) -> Path:
        """Directory of encrypted uploads of ground truth, until a worker imports them."""
        return self.truth_inbox_directory or self.data_directory / "truth-inbox"

    @property
    def truth(self) -> Path:
        """Directory of imported ground truth and the workers' private key. The web process has no access to it."""
        return self.truth_directory or self.data_directory / "truth"

    @property
    def registration_policy(self) -> RegistrationPolicy:
        """The parsed setting `registration`."""
        return replace(RegistrationPolicy.parse(self.registration), accounts_per_domain=self.accounts_per_domain)

    @cached_property
    def providers(self) -> tuple[OpenIdProvider, ...]:
        """The parsed setting `oidc_providers`."""
        return OpenIdProvider.parse_all(self.oidc_providers.get_secret_value())

    def title_of(self, issuer: str) -> str:
        """Return the title of the provider with an issuer, or the issuer's host if the setting has it no more."""
        titles = {provider.issuer: provider.title for provider in self.providers}
        return titles.get(issuer) or urlsplit(issuer).hostname or issuer

    @property
    def mail_directory(self) -> Path | None:
        """Directory that email is written to, in the embedded set-up without a mail server; otherwise None."""
        if self.environment is not Environment.EMBEDDED or self.mail_url.get_secret_value():
            return None
        return self.data_directory.resolve() / "mail"

    @property
    def sender(self) -> str:
        """Sender address of email."""
        host = urlsplit(self.public_url).hostname or "localhost"
        return self.mail_from or f"vocboard@{host}"

    @property
    def secure_cookies(self) -> bool:
        """Whether the site uses https."""
        return self.public_url.startswith("https://")


def wrong_settings(error: ValueError) -> list[str]:
    """Return which settings are wrong and how to fix them, without their values; empty for any other error."""
    if isinstance(error, UnsafeSettingsError):
        return list(error.wrong)
    if not isinstance(error, ValidationError) or error.title != Settings.__name__:
        return []
    found: list[str] = []
    for one in error.errors(include_input=False, include_url=False):
        cause = one.get("ctx", {}).get("error")
        if isinstance(cause, UnsafeSettingsError):
            found += cause.wrong
        else:
            said = _A_DURATION if one["type"] == "time_delta_parsing" else one["msg"].removeprefix("Value error, ")
            found.append(f"{_as_set(str(one['loc'][0]))}: {said}")
    return found


def _missing(name: str) -> str:
    return f"{_variable(name)} is missing: set it for this process"


def _variable(name: str) -> str:
    return f"VOCBOARD_{name.upper()}"


def _as_set(name: str) -> str:
    """Return the variable that a setting was read from."""
    other = next((other for other, of in OTHER_NAMES.items() if of == name and os.environ.get(other)), None)
    return _variable(name) if other is None or os.environ.get(_variable(name)) else other


def _plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
