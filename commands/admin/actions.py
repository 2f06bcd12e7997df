"""Shared code of the modules of `vocboard admin`."""

import argparse
from typing import TypeAlias

# The sub-parsers that the modules add their actions to.
Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

WHERE_TO_RUN = (
    "With docker compose, commands that read or write files of the server (import-truth, prune, export-challenge, "
    "import-challenge) run in the service web, all others in migrate: docker compose run --rm web vocboard admin ..."
)
