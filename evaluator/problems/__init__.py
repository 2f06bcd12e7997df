"""Problems of uploads: their type, and those that any task can have."""

from vocboard.evaluator.problems.problem import Kind, Problem, Severity, Share, counted, has_errors, quoted

__all__ = ["Kind", "Problem", "Severity", "Share", "counted", "has_errors", "quoted"]
