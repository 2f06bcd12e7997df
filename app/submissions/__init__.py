"""Submissions: tables, queries, forms, quota, queue, archives.

`app.intake` receives them; `app.participating` has what participants do with them afterwards.
"""
