"""Uploads: limits; how a body is received, an archive read in a confined process, and a submission accepted."""
