"""Submissions: upload, validation, quota, queue, publishing."""
