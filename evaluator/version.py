"""The version of vocboard: of the package, the site, the API and the evaluator.

It is stored with every score; increase it when a change may alter a score, and in server/pyproject.toml, too.
CHANGELOG.md lists such changes.
"""

VERSION = "1.1.0"
