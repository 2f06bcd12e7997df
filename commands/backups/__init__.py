"""Backups of a whole server: its database, the contents of the archive store, ground truth and the workers' keys.

A backup is written by a machine that cannot read it: everything is sealed to a public key (`app.storage.sealed_files`).
"""
