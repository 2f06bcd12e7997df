"""The `vocboard` program. Each command has a module, which is imported only when the command is called.

Each module has `configure(parser)`, which adds its arguments, and `run(arguments)`, which returns the exit status.
"""
