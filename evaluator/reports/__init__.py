"""Evaluations as a page, as tables for papers and spreadsheets, and as curves for plotting programs."""

from evaluator.reports.curves import write_curves
from evaluator.reports.page import write_report
from evaluator.reports.tables import as_csv, as_latex

__all__ = ["as_csv", "as_latex", "write_curves", "write_report"]
