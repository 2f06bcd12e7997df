"""Celery workers: evaluate submissions, import ground truth, send email, recover from failures."""
