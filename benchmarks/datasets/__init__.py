"""Made-up test sets and results of real size: the same numbers on every machine."""
