"""Write `.env` for docker-compose.yml: this server's name, its mail server, and secrets made just now.

Usage: python3 tools/deploy_env.py HOST TLS [MAIL]

HOST is the name under which people reach the server, with a port unless that is 443. TLS is an email address, for a
certificate from Let's Encrypt, or `internal`, for one of the proxy's own. MAIL is the mail server's address, such as
`smtps://user:password@smtp.example.org`; without one no email is sent. An `.env` that is there already keeps every
line, for its secrets are in use; without arguments it gets the secrets that this version needs and it lacks.
"""

import os
import re
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path

SECRETS = (
    "VOCBOARD_SECRET_KEY",
    "VOCBOARD_PROXY_SECRET",
    "VOCBOARD_REDIS_PASSWORD",
    "VOCBOARD_OWNER_PASSWORD",
    "VOCBOARD_WEB_PASSWORD",
    "VOCBOARD_WORKER_PASSWORD",
    "VOCBOARD_MAIL_PASSWORD",
    "POSTGRES_PASSWORD",
)
SECRET_BYTES = 32


def main(arguments: list[str], directory: Path = Path()) -> int:
    """Write or complete the file; return the exit status."""
    file = directory / ".env"
    host, tls, mail = (argument.strip() for argument in [*arguments, "", "", ""][:3])
    if file.exists():
        if host or tls or mail:
            print(".env already exists and was not changed. To change it, edit it.", file=sys.stderr)
            return 1
        return complete(file)
    if (
        not (name := re.fullmatch(r"(?P<host>[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?", host))
        or int(name["port"] or 443) not in range(1, 65536)
        or not re.fullmatch(r"internal|[^@\s]+@[^@\s]+", tls)
        or not re.fullmatch(r"|smtps?://[^\s'#?/]+/?", mail)
    ):
        print(
            "Which name, certificate and mail server? For example:\n"
            "  make deploy-env HOST=voc.example.org TLS=admin@example.org MAIL=smtps://user:password@smtp.example.org\n"
            "  make deploy-env HOST=voc.lab:8443 TLS=internal\n"
            "Special characters of the password are %-encoded, such as %27 for '.",
            file=sys.stderr,
        )
        return 2
    lines = [f"VOCBOARD_HOST={name['host']}", f"VOCBOARD_TLS={tls}"]
    lines += [f"VOCBOARD_HTTPS_PORT={name['port']}"] if name["port"] else []
    # Single quotes: what is between them is taken as it is, a dollar sign in a password too.
    lines += ["COMPOSE_PROFILES=mail", f"VOCBOARD_MAIL_URL='{mail}'"] if mail else []
    write(file, [*lines, *new_secrets(SECRETS)])
    print("Wrote .env; keep an encrypted copy on another machine. Next: docker compose up --detach")
    return 0


def complete(file: Path) -> int:
    """Append the secrets that a file lacks."""
    present = {line.partition("=")[0] for line in file.read_text(encoding="utf-8").splitlines()}
    missing = [name for name in SECRETS if name not in present]
    write(file, new_secrets(missing))
    print(f"Added to .env: {', '.join(missing)}" if missing else ".env is complete and stays as it is.")
    return 0


def new_secrets(names: Iterable[str]) -> list[str]:
    """Return lines that give each name a secret of its own."""
    return [f"{name}={secrets.token_hex(SECRET_BYTES)}" for name in names]


def write(file: Path, lines: Iterable[str]) -> None:
    """Append lines to the file; a new one can be read by its owner alone."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8") as opened:
        opened.write("\n" if before and not before.endswith("\n") else "")
        opened.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
