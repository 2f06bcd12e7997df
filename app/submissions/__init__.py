"""Submissions: validation, queue, publishing.

`app.intake` receives them, `app.quotas` says how many a person may make.
"""
