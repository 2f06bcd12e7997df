"""The `vocboard` program: one module a command, imported only when it is called.

Each module has `configure(parser)`, which adds its arguments, and `run(arguments)`, which returns the exit status.
"""
