"""The one version of vocboard: of the package, the site, the API and the evaluator.

Stored beside every score; raise it whenever a change may alter a number. CHANGELOG.md says which changes did.
"""

VERSION = "1.1.0"
