"""Creates a new edition from a few answers: its file, and a sample tree."""

from vocboard.evaluator.new_edition.answers import QUESTIONS, Answers, edition_text
from vocboard.evaluator.new_edition.sample import write_sample_tree

__all__ = ["QUESTIONS", "Answers", "edition_text", "write_sample_tree"]
