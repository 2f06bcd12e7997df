"""The catalogue of everything that can be wrong with an upload.

The only place with codes, severities and wordings; documentation is generated from it. No wording may hold anything
derived from the ground truth.
"""

from collections.abc import Mapping
from types import MappingProxyType

from evaluator.catalogue import archives, files, label_maps, layouts, lines, server
from evaluator.catalogue.registry import KINDS
from evaluator.problems import Kind

CATALOGUE: Mapping[str, Kind] = MappingProxyType(KINDS)  # by code

__all__ = ["CATALOGUE", "archives", "files", "label_maps", "layouts", "lines", "server"]
