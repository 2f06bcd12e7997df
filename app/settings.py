"""Settings, from the environment (prefix `VOCBOARD_`) and nowhere else."""

from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1024 * 1024
SAMPLE_SECRETS = frozenset({"", "secret", "changeme", "change-me", "insecure", "example"})
LEAST_SECRET_CHARACTERS = 32


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
    secret_key: SecretStr = SecretStr("")
    public_url: str = "http://127.0.0.1:8000"
    trusted_proxies: str = ""  # addresses or networks, by commas, whose X-Forwarded-* headers are believed

    data_directory: Path = Path("demo-data")
    database_url: str = ""  # default: SQLite in the data directory
    broker_url: str = ""  # default: Celery over the data directory
    archives_directory: Path | None = None  # submissions' archives: web writes, worker reads
    truth_inbox_directory: Path | None = None  # sealed uploads of ground truth: web writes, worker reads and deletes
    truth_directory: Path | None = None  # imported ground truth and the worker's private key: worker only

    upload_limit_bytes: int = Field(default=512 * MEBIBYTE, gt=0)
    ground_truth_limit_bytes: int = Field(default=4096 * MEBIBYTE, gt=0)
    validation_processes: int = Field(default=2, gt=0)
    validation_time_limit: timedelta = timedelta(minutes=2)
    validation_memory_limit_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)
    rejected_uploads_per_hour: int = Field(default=30, gt=0)

    registration_open: bool = True  # closed: accounts are made by `vocboard admin create-user` alone
    session_lifetime: timedelta = timedelta(days=14)
    token_lifetime: timedelta = timedelta(days=365)

    worker_processes: int = Field(default=2, gt=0)
    lease: timedelta = timedelta(seconds=60)  # a worker that is silent for so long is taken for dead
    sweep_interval: timedelta = timedelta(seconds=15)
    evaluation_attempts: int = Field(default=3, gt=0)
    evaluation_time_limit: timedelta = timedelta(minutes=30)
    evaluation_memory_limit_bytes: int = Field(default=4096 * MEBIBYTE, gt=0)

    @model_validator(mode="after")
    def _refuse_unsafe_production(self) -> Self:
        """Production does not start with debug on, without a secret of its own, or without a real database."""
        if self.environment is not Environment.PRODUCTION:
            return self
        secret = self.secret_key.get_secret_value()
        wrong = []
        if self.debug:
            wrong.append("VOCBOARD_DEBUG is on")
        if len(secret) < LEAST_SECRET_CHARACTERS or secret.lower() in SAMPLE_SECRETS or len(set(secret)) < 8:
            wrong.append(f"VOCBOARD_SECRET_KEY needs at least {LEAST_SECRET_CHARACTERS} random characters")
        if not self.database_url.startswith("postgresql"):
            wrong.append("VOCBOARD_DATABASE_URL is not a PostgreSQL address")
        if not self.broker_url:
            wrong.append("VOCBOARD_BROKER_URL is missing")
        if not self.public_url.startswith("https://"):
            wrong.append("VOCBOARD_PUBLIC_URL is not an https address")
        if wrong:
            raise ValueError("refusing to start in production: " + "; ".join(wrong))
        return self

    @cached_property
    def database(self) -> str:
        """SQLAlchemy's address of the database."""
        return self.database_url or f"sqlite:///{self.data_directory.resolve() / 'vocboard.sqlite3'}"

    @property
    def broker(self) -> str:
        """Address of the broker: `redis://...`, or `filesystem://` and a directory."""
        return self.broker_url or f"filesystem://{self.data_directory.resolve() / 'broker'}"

    @property
    def archives(self) -> Path:
        """Where submissions' archives lie, by content hash."""
        return self.archives_directory or self.data_directory / "archives"

    @property
    def truth_inbox(self) -> Path:
        """Where sealed uploads of ground truth wait for the worker."""
        return self.truth_inbox_directory or self.data_directory / "truth-inbox"

    @property
    def truth(self) -> Path:
        """Where imported ground truth and the worker's private key lie; the web process has no such directory."""
        return self.truth_directory or self.data_directory / "truth"

    @property
    def secure_cookies(self) -> bool:
        """Whether the site is reached over TLS."""
        return self.public_url.startswith("https://")
