"""Stored servers and their tokens, in one file that only its owner can read."""

import json
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vocboard.client.address import normalised
from vocboard.client.errors import ClientError, MisuseError

FILE_NAME = "servers.json"
SERVER_VARIABLE, TOKEN_VARIABLE = "VOCBOARD_SERVER", "VOCBOARD_TOKEN"  # names, not a secret
ONLY_OWNER = 0o600
MAX_TOKEN_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Credentials:
    """Stored servers and tokens.

    Attributes:
        tokens: by server address. Excluded from `repr`, so that no log or traceback shows them.
        default: address of the server that commands use by default: that of the last login.
    """

    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    default: str | None = None

    def with_server(self, address: str, token: str) -> "Credentials":
        """Return a copy with one more server, which becomes the default."""
        return replace(self, tokens={**self.tokens, address: token}, default=address)

    def without_server(self, address: str) -> "Credentials":
        """Return a copy without a server; another one becomes the default."""
        tokens = {known: token for known, token in self.tokens.items() if known != address}
        default = self.default if self.default in tokens else next(reversed(tokens), None)
        return Credentials(tokens, default)


def directory(
    platform: str = sys.platform, environment: Mapping[str, str] = os.environ, home: Path | None = None
) -> Path:
    """Return the platform's directory for a user's settings.

    That is `$XDG_CONFIG_HOME/vocboard` or `~/.config/vocboard`, on macOS `~/Library/Application Support/vocboard`, on
    Windows `%APPDATA%\\vocboard`. `XDG_CONFIG_HOME` is used on every platform if it is set.
    """
    configured = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(configured):  # the specification says to ignore relative paths
        return Path(configured) / "vocboard"
    home = home or Path.home()
    if platform == "darwin":
        return home / "Library" / "Application Support" / "vocboard"
    if platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / "vocboard"
    return home / ".config" / "vocboard"


def load(file: Path | None = None) -> Credentials:
    """Read the stored credentials; empty if there is no file.

    Raises:
        ClientError: the file cannot be read or does not have the format of `save`.
    """
    file = file or directory() / FILE_NAME
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
        tokens = {str(address): str(server["token"]) for address, server in content["servers"].items()}
        default = content["default"]
    except FileNotFoundError:
        return Credentials()
    except OSError as error:
        raise ClientError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        # Without the cause: its message may quote a token from the file.
        raise ClientError(f"{file} is damaged; delete it and run `vocboard login` again") from None
    return Credentials(tokens, default if default in tokens else None)


def save(credentials: Credentials, file: Path | None = None) -> Path:
    """Write the credentials atomically, to a file that only its owner can ever read.

    Raises:
        ClientError: the file cannot be written.
    """
    file = file or directory() / FILE_NAME
    servers = {address: {"token": token} for address, token in credentials.tokens.items()}
    text = json.dumps({"default": credentials.default, "servers": servers}, indent=2) + "\n"
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ONLY_OWNER)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ClientError(f"cannot write {file}: {error.strerror}; no token was stored") from error
    return file


def readable_by_others(file: Path | None = None) -> bool:
    """Return whether other users of this machine can read the stored tokens (always False on Windows)."""
    file = file or directory() / FILE_NAME
    if sys.platform == "win32" or not file.exists():
        return False
    return bool(stat.S_IMODE(file.stat().st_mode) & 0o077)


def checked_token(text: str) -> str:
    """Return a token without surrounding white space.

    Raises:
        MisuseError: it is empty or malformed. The message does not contain the token.
    """
    token = text.strip()
    if not token:
        raise MisuseError("no token given; create one on the server's Account page")
    if len(token) > MAX_TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token:
        raise MisuseError("this is not a token; copy the complete token from the Account page")
    return token


def chosen_server(given: str | None, stored: Credentials) -> str:
    """Return the server's address: the argument, the environment variable, or the default.

    Raises:
        MisuseError: none of these is set, or the value is not an address.
    """
    address = given or os.environ.get(SERVER_VARIABLE) or stored.default
    if not address:
        ways = f"run `vocboard login URL` once, set {SERVER_VARIABLE}, or use --server URL, in Python Client(URL)"
        raise MisuseError(f"no server given; {ways}")
    return normalised(address)


def chosen_token(address: str, stored: Credentials) -> str | None:
    """Return the token for a server: the environment variable or the stored one; None if there is neither.

    Raises:
        MisuseError: the environment variable is not a valid token.
    """
    token = os.environ.get(TOKEN_VARIABLE) or stored.tokens.get(address)
    return None if token is None else checked_token(token)
