"""Decimal numbers: read from text, computed without rounding, and written without loss."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, InvalidOperation, localcontext

# A double has at most 1074 decimals, but numbers in real files have about twenty digits at most.
_DIGITS = 400
QUOTIENT_DIGITS = 40  # of quotients by an image's width or height
ROUND_TRIP_DECIMALS = 30  # of products with it; further ones are errors of the division
_MAX_PLAIN_LENGTH = 40  # characters; longer numbers are written with an exponent


@contextmanager
def exact() -> Iterator[Context]:
    """Compute sums, differences and products of decimals without rounding."""
    with localcontext() as context:
        context.prec = _DIGITS
        yield context


def decimal(text: str) -> Decimal:
    """Return the number of a text.

    Raises:
        ValueError: it is not a number, or not finite.

    >>> decimal("0.1"), decimal("1e-3")
    (Decimal('0.1'), Decimal('0.001'))
    """
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is not a number") from error
    if not number.is_finite():
        raise ValueError(f"{text!r} is not a finite number")
    return number


def plain(number: Decimal) -> str:
    """Return the shortest text of exactly this number, without an exponent unless the text would be long.

    >>> plain(Decimal("137.500")), plain(Decimal("1E+2")), plain(Decimal("-0.00"))
    ('137.5', '100', '-0')
    """
    if not number:
        return "-0" if number.is_signed() else "0"
    short = number.normalize(Context(prec=_DIGITS))
    return format(short, "f") if -_MAX_PLAIN_LENGTH < short.adjusted() < _MAX_PLAIN_LENGTH else str(short)


def quotient(number: Decimal, divisor: int) -> Decimal:
    """Return a quotient to 40 digits, so that `without_quotient_error` of the product is exactly the number."""
    return Context(prec=QUOTIENT_DIGITS).divide(number, Decimal(divisor))


def without_quotient_error(number: Decimal) -> Decimal:
    """Return a number without the rounding error of a quotient that it is computed from.

    >>> plain(without_quotient_error(quotient(Decimal("7.1"), 375) * 375))
    '7.1'
    """
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -ROUND_TRIP_DECIMALS:
        return number
    return number.quantize(Decimal(1).scaleb(-ROUND_TRIP_DECIMALS), context=Context(prec=_DIGITS))
