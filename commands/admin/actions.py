"""The type of the sub-parsers that the modules of `vocboard admin` add their actions to."""

import argparse
from typing import TypeAlias

Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
