"""The version of vocboard: of the package, the site, the API and the evaluator.

It is stored with every score; increase it when a change may alter a score. CHANGELOG.md lists such changes.
"""

VERSION = "1.1.0"
