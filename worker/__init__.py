"""Celery workers: evaluate submissions, import ground truth, send e-mail, recover from failures."""
