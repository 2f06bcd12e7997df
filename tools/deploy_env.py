"""Write `.env` for docker-compose.yml: this server's name and secrets made just now.

Usage: python3 tools/deploy_env.py HOST TLS

HOST is the name under which people reach the server. TLS is an e-mail address, for a certificate from Let's Encrypt, or
`internal`, for one of the proxy's own. An `.env` that is there already is never changed: its secrets are in use.
"""

import os
import re
import secrets
import sys
from pathlib import Path

SECRETS = (
    "VOCBOARD_SECRET_KEY",
    "VOCBOARD_REDIS_PASSWORD",
    "VOCBOARD_OWNER_PASSWORD",
    "VOCBOARD_WEB_PASSWORD",
    "VOCBOARD_WORKER_PASSWORD",
    "POSTGRES_PASSWORD",
)
SECRET_BYTES = 32


def main(arguments: list[str], directory: Path = Path()) -> int:
    """Write the file; return the exit status."""
    host, tls = [*arguments, "", ""][:2]
    if not re.fullmatch(r"[A-Za-z0-9.-]+", host) or not re.fullmatch(r"internal|[^@\s]+@[^@\s]+", tls):
        print(
            "Which name and certificate? For example:\n"
            "  make deploy-env HOST=voc.example.org TLS=admin@example.org\n"
            "  make deploy-env HOST=voc.lab TLS=internal",
            file=sys.stderr,
        )
        return 2
    lines = [f"VOCBOARD_HOST={host}", f"VOCBOARD_TLS={tls}"]
    lines += [f"{name}={secrets.token_hex(SECRET_BYTES)}" for name in SECRETS]
    try:
        descriptor = os.open(directory / ".env", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(".env is there already and stays as it is.", file=sys.stderr)
        return 1
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("Wrote .env; keep a copy where backups are kept. Next: docker compose up --build --detach")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
