"""What is encrypted with keys that are derived from the server's secret."""

import hashlib
import uuid

import pytest
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from vocboard.app.accounts import second_factor
from vocboard.app.accounts.models import SecondFactor
from vocboard.app.accounts.secret_tokens import box
from vocboard.app.webhooks import signing

SERVER_KEY = "a secret of a server, long enough"


def stored(purpose: bytes, plain: bytes) -> bytes:
    """Return what servers of all versions have stored."""
    key = hashlib.sha256(SERVER_KEY.encode()).digest()
    return bytes(SecretBox(hashlib.blake2b(purpose, key=key, digest_size=32).digest()).encrypt(plain))


def test_what_earlier_versions_have_stored_stays_readable() -> None:
    assert signing.opened(stored(b"webhooks", b"whsec_1"), server_key=SERVER_KEY) == "whsec_1"
    app = SecondFactor(user_id=uuid.uuid4(), sealed_key=stored(b"second factor", b"ABCD"), recovery_hashes=[])
    assert second_factor.app_key(app, server_key=SERVER_KEY) == "ABCD"
    assert box("an-idempotency-key", server_key=SERVER_KEY).decrypt(stored(b"an-idempotency-key", b"[]")) == b"[]"


def test_only_the_same_purpose_and_server_reads_it() -> None:
    for purpose, server_key in [("webhooks", SERVER_KEY), ("second factor", f"{SERVER_KEY}.")]:
        with pytest.raises(CryptoError):
            box(purpose, server_key=server_key).decrypt(stored(b"second factor", b"ABCD"))
