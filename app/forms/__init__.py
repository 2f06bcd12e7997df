"""Validation of form fields: allowed characters, and checks that report all errors at once."""
