"""Set-up of a checkout or a server; needs only Python."""
