"""Submissions: validation, queue, publishing.

`app.uploads` receives them, `app.quotas` says how many a person may make.
"""
