"""Slow, obvious scorers, written from the documents and the description of the kits, one loop at a time.

They share nothing with the evaluator: plain lists and dicts in, numbers out. Undefined is None.
"""
