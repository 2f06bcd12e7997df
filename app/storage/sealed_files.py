"""Encrypted files that one process writes and only another can read.

A sealed file is encrypted with a public key while it is written; the writer cannot decrypt it. Layout: `MAGIC`; a new
symmetric key, sealed to the public key (X25519, libsodium's sealed box); the header of an XChaCha20-Poly1305 secret
stream; blocks that are each authenticated together with all previous blocks, the last one marked as final. The first
block is authenticated together with the file's purpose, which is not stored in the file. So a file that was changed,
truncated, extended, combined with others or moved to another place cannot be decrypted.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from nacl import bindings
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

MAGIC = b"vocboard sealed 2\n"
BLOCK_BYTES = 1024 * 1024  # plain bytes; the last block may be shorter
_KEY_BYTES = bindings.crypto_secretstream_xchacha20poly1305_KEYBYTES
_SEALED_KEY_BYTES = _KEY_BYTES + bindings.crypto_box_SEALBYTES
_HEADER_BYTES = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_SEALED_BLOCK_BYTES = BLOCK_BYTES + bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_MESSAGE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL


class SealError(Exception):
    """A file is not sealed to this key, or was modified."""


class SealingStream:
    """Encrypts data into an open file; call `finish` to complete it.

    Args of the constructor:
        purpose: the file's purpose, which is required for decryption.
    """

    def __init__(self, target: BinaryIO, public_key: PublicKey, *, purpose: bytes) -> None:
        self._target = target
        self._purpose: bytes | None = purpose  # until the first block has been written
        self._pending = bytearray()
        self._state = bindings.crypto_secretstream_xchacha20poly1305_state()
        key = bindings.crypto_secretstream_xchacha20poly1305_keygen()
        header = bindings.crypto_secretstream_xchacha20poly1305_init_push(self._state, key)
        target.write(MAGIC + SealedBox(public_key).encrypt(key) + header)

    def write(self, chunk: bytes | memoryview) -> None:
        """Encrypt data of any size."""
        self._pending += chunk
        while len(self._pending) > BLOCK_BYTES:  # keep the last block for `finish`, even if it is full
            self._push(bytes(self._pending[:BLOCK_BYTES]), _MESSAGE)
            del self._pending[:BLOCK_BYTES]

    def finish(self) -> None:
        """Write the final block; without it, the file cannot be decrypted."""
        self._push(bytes(self._pending), _FINAL)
        self._pending.clear()

    def _push(self, block: bytes, tag: int) -> None:
        purpose, self._purpose = self._purpose, None
        self._target.write(bindings.crypto_secretstream_xchacha20poly1305_push(self._state, block, purpose, tag))


def unseal(source: Path, key: PrivateKey | Sequence[PrivateKey], *, purpose: bytes) -> Iterator[bytes]:
    """Yield the content of a sealed file, in blocks of at most `BLOCK_BYTES`.

    The content is only authentic after the iterator has ended; until then, the file may be truncated.

    Args:
        key: or several, one of which the file is sealed to.

    Raises:
        SealError: the file has another key or purpose, or was modified.
    """
    expected: bytes | None = purpose
    with source.open("rb") as file:
        state = _opened(file, [key] if isinstance(key, PrivateKey) else key)
        tag = _MESSAGE
        while tag != _FINAL:
            try:
                sealed = file.read(_SEALED_BLOCK_BYTES)
                block, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, sealed, expected)
            except CryptoError as error:
                what = "is for another purpose, or " if expected is not None else ""
                raise SealError(f"{source.name} {what}was changed or cut off after it was sealed") from error
            expected = None
            yield block
        if file.read(1):
            raise SealError(f"{source.name} goes on after its end")


def _opened(file: BinaryIO, keys: Sequence[PrivateKey]) -> "bindings.crypto_secretstream_xchacha20poly1305_state":
    """Read the header of a sealed file, and return the decryption state."""
    if file.read(len(MAGIC)) != MAGIC:
        raise SealError("this is not a sealed file")
    sealed_key = file.read(_SEALED_KEY_BYTES)
    for private_key in keys:
        with suppress(CryptoError):
            key = SealedBox(private_key).decrypt(sealed_key)
            break
    else:
        raise SealError("the file is sealed to another key")
    header = file.read(_HEADER_BYTES)
    if len(header) != _HEADER_BYTES:
        raise SealError("the file is cut off")
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, header, key)
    return state
