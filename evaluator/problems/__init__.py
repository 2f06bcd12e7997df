"""Problems of uploads: what one is, and the texts of those that any task may have."""

from vocboard.evaluator.problems.problem import Kind, Problem, Severity, counted, has_errors, quoted

__all__ = ["Kind", "Problem", "Severity", "counted", "has_errors", "quoted"]
