"""Evaluations as a page, as tables for papers and spreadsheets, and as curves for plotting programs."""

from vocboard.evaluator.reports.comparison import write_comparison_report
from vocboard.evaluator.reports.curves import write_curves
from vocboard.evaluator.reports.findings import MethodReport
from vocboard.evaluator.reports.page import PAGE, write_report
from vocboard.evaluator.reports.tables import as_csv, as_latex

__all__ = ["PAGE", "MethodReport", "as_csv", "as_latex", "write_comparison_report", "write_curves", "write_report"]
