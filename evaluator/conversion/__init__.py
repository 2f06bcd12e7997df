"""Converts results and ground truth from the formats of other tools to those of the VOC challenges and back.

Numbers are converted in decimal, not in binary, so converting back gives identical numbers.
"""

from vocboard.evaluator.conversion.boxes import ConvertedDetection
from vocboard.evaluator.conversion.coco_of_tree import tree_to_coco
from vocboard.evaluator.conversion.colour_map import label_colour_map, write_colour_map
from vocboard.evaluator.conversion.detections import FORMATS, from_results, to_results
from vocboard.evaluator.conversion.label_map_formats import LABEL_MAP_FORMATS, maps_from_results, maps_to_results
from vocboard.evaluator.conversion.layouts import layouts_from_results, layouts_to_results
from vocboard.evaluator.conversion.name_files import read_category_names, read_image_names
from vocboard.evaluator.conversion.names import CategoryNames, ImageNames
from vocboard.evaluator.conversion.painting import segmentations_from_detections
from vocboard.evaluator.conversion.problems import ConversionError
from vocboard.evaluator.conversion.tree_of_coco import coco_to_tree

__all__ = [
    "FORMATS",
    "LABEL_MAP_FORMATS",
    "CategoryNames",
    "ConversionError",
    "ConvertedDetection",
    "ImageNames",
    "coco_to_tree",
    "from_results",
    "label_colour_map",
    "layouts_from_results",
    "layouts_to_results",
    "maps_from_results",
    "maps_to_results",
    "read_category_names",
    "read_image_names",
    "segmentations_from_detections",
    "to_results",
    "tree_to_coco",
    "write_colour_map",
]
