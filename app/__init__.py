"""vocboard's app package."""
