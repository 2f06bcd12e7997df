"""Numbers as decimals: read from text, computed without rounding, and written so that nothing is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, InvalidOperation, localcontext

# A double has at most 1074 decimals, but no real file more than some twenty digits.
_DIGITS = 400
QUOTIENT_DIGITS = 40  # of what is divided by an image's size
ROUND_TRIP_DECIMALS = 30  # of what is multiplied by it again: further ones come from the division alone
_LONGEST_PLAIN = 40  # zeros that are written out before an exponent is


@contextmanager
def exact() -> Iterator[Context]:
    """Compute sums, differences and products of decimals without rounding."""
    with localcontext() as context:
        context.prec = _DIGITS
        yield context


def decimal(text: str) -> Decimal:
    """Return the number that a text is.

    Raises:
        ValueError: it is none, or not finite.

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
    """Return the shortest text of exactly this number, without an exponent where that stays short.

    >>> plain(Decimal("137.500")), plain(Decimal("1E+2")), plain(Decimal("-0.00"))
    ('137.5', '100', '-0')
    """
    if not number:
        return "-0" if number.is_signed() else "0"
    short = number.normalize(Context(prec=_DIGITS))
    return format(short, "f") if -_LONGEST_PLAIN < short.adjusted() < _LONGEST_PLAIN else str(short)


def quotient(number: Decimal, divisor: int) -> Decimal:
    """Return a quotient to 40 digits, so that `product` gives the number back exactly."""
    return Context(prec=QUOTIENT_DIGITS).divide(number, Decimal(divisor))


def without_quotient_error(number: Decimal) -> Decimal:
    """Return a number without what is left of a quotient's rounding.

    >>> plain(without_quotient_error(quotient(Decimal("7.1"), 375) * 375))
    '7.1'
    """
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -ROUND_TRIP_DECIMALS:
        return number
    return number.quantize(Decimal(1).scaleb(-ROUND_TRIP_DECIMALS), context=Context(prec=_DIGITS))
