"""The catalogue of everything that can be wrong with an upload.

The only place with codes, severities and wordings; documentation is generated from it. No wording may hold anything
derived from the ground truth.
"""

from collections.abc import Mapping
from types import MappingProxyType

from vocboard.evaluator.problems import Kind, archives, files, server
from vocboard.evaluator.problems import text_files as lines
from vocboard.evaluator.problems.registry import KINDS
from vocboard.evaluator.tasks.instance_segmentation import problems as instances
from vocboard.evaluator.tasks.layout import problems as layouts
from vocboard.evaluator.tasks.segmentation import problems as label_maps

CATALOGUE: Mapping[str, Kind] = MappingProxyType(KINDS)  # by code

MODULES = (archives, files, lines, layouts, label_maps, instances, server)  # in the order of the documentation
