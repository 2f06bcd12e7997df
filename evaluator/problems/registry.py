"""Registration of problems in the catalogue."""

from vocboard.evaluator.problems import Kind, Severity

KINDS: dict[str, Kind] = {}


def error(code: str, title: str, found: str, remedy: str = "", *, example: str) -> Kind:
    """Register an error, which rejects uploads."""
    return _enter(Kind(code, Severity.ERROR, title, found, remedy, example))


def warning(code: str, title: str, found: str, remedy: str = "", *, example: str) -> Kind:
    """Register a warning: the results are scored unchanged."""
    return _enter(Kind(code, Severity.WARNING, title, found, remedy, example))


def _enter(kind: Kind) -> Kind:
    if kind.code in KINDS:
        raise ValueError(f"{kind.code} is in the catalogue already")
    KINDS[kind.code] = kind
    return kind
