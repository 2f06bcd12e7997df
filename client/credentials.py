"""The servers this person has logged in to and the token for each, in one file that only they can read."""

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
LONGEST_TOKEN = 500


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is stored.

    Attributes:
        tokens: by the server's address. Kept out of `repr`, so that no log or traceback shows them.
        default: address of the server that commands talk to unless told otherwise; the last one logged in to.
    """

    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    default: str | None = None

    def with_server(self, address: str, token: str) -> "Credentials":
        """These and one more, which becomes the default."""
        return replace(self, tokens={**self.tokens, address: token}, default=address)

    def without_server(self, address: str) -> "Credentials":
        """These without one; the default passes to one of the others."""
        tokens = {known: token for known, token in self.tokens.items() if known != address}
        default = self.default if self.default in tokens else next(reversed(tokens), None)
        return Credentials(tokens, default)


def directory(
    platform: str = sys.platform, environment: Mapping[str, str] = os.environ, home: Path | None = None
) -> Path:
    """Return where this platform keeps a program's settings for one person.

    That is `$XDG_CONFIG_HOME/vocboard` or `~/.config/vocboard`, on macOS `~/Library/Application Support/vocboard`, on
    Windows `%APPDATA%\\vocboard`. `XDG_CONFIG_HOME` holds everywhere if it is set.
    """
    configured = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(configured):  # the specification has relative ones ignored
        return Path(configured) / "vocboard"
    home = home or Path.home()
    if platform == "darwin":
        return home / "Library" / "Application Support" / "vocboard"
    if platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / "vocboard"
    return home / ".config" / "vocboard"


def load(file: Path | None = None) -> Credentials:
    """Read what is stored; nothing if there is no file.

    Raises:
        ClientError: the file cannot be read or is not what `save` writes.
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
        # Without the cause: it may quote the file, and so a token.
        raise ClientError(f"{file} is damaged; delete it and run `vocboard login` again") from None
    return Credentials(tokens, default if default in tokens else None)


def save(credentials: Credentials, file: Path | None = None) -> Path:
    """Store, whole or not at all, in a file that is only its owner's from its first byte on.

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
        raise ClientError(f"cannot write {file}: {error.strerror}; tokens are stored nowhere else") from error
    return file


def readable_by_others(file: Path | None = None) -> bool:
    """Tell whether the stored tokens can be read by other people of this machine (never so on Windows)."""
    file = file or directory() / FILE_NAME
    if sys.platform == "win32" or not file.exists():
        return False
    return bool(stat.S_IMODE(file.stat().st_mode) & 0o077)


def checked_token(text: str) -> str:
    """Return a token without the white space around it.

    Raises:
        MisuseError: it is empty or cannot be one. The message does not repeat it.
    """
    token = text.strip()
    if not token:
        raise MisuseError("no token given; make one on the page `Account` of the server")
    if len(token) > LONGEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise MisuseError("this is not a token; copy the whole of it, and nothing else, from the page `Account`")
    return token


def chosen_server(given: str | None, stored: Credentials) -> str:
    """Return the address of the server to talk to: the one given, that of the environment, or the default.

    Raises:
        MisuseError: there is none of these, or it is not an address.
    """
    address = given or os.environ.get(SERVER_VARIABLE) or stored.default
    if not address:
        raise MisuseError("which server? run `vocboard login URL` once, or name it with --server URL")
    return normalised(address)


def chosen_token(address: str, stored: Credentials) -> str | None:
    """Return the token for a server: that of the environment, or the one stored; None without one.

    Raises:
        MisuseError: the one of the environment cannot be a token.
    """
    token = os.environ.get(TOKEN_VARIABLE) or stored.tokens.get(address)
    return None if token is None else checked_token(token)
