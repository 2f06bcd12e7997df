"""Units of bytes, and sizes as text."""

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


def size_text(number: int) -> str:
    """Bytes in the largest unit that leaves a whole number.

    >>> size_text(512 * MIB), size_text(1000)
    ('512 MiB', '1000 bytes')
    """
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if number >= unit and number % unit == 0:
            return f"{number // unit} {name}"
    return f"{number} bytes"
