"""The whole server, as its administrators see it; operators see the same at the command line."""
