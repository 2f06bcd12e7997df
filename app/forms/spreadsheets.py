"""Text in files that spreadsheets open."""

# A spreadsheet takes a cell that begins so for a formula; an apostrophe makes it text. Source: OWASP, CSV injection.
# Some take the full-width forms for the same.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def escape_formula(text: str) -> str:
    """Escape text for a spreadsheet cell, so that it is not interpreted as a formula.

    >>> escape_formula("=1+1"), escape_formula("R-CNN")
    ("'=1+1", 'R-CNN')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
