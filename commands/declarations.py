"""Options for what competitions ask to be declared about a method."""

import argparse
from pathlib import Path


def add_declaration_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options on annotation and on images from flickr."""
    parser.add_argument(
        "--training-annotation",
        choices=["segmentation_only", "other_annotation"],
        help="for segmentation methods: trained on segmentations only, or also on bounding boxes or other annotation",
    )
    parser.add_argument(
        "--flickr-images", choices=["no", "yes"], help="whether the method was trained on images from flickr"
    )
    parser.add_argument(
        "--flickr-image-hashes",
        metavar="FILE",
        type=Path,
        help="with --flickr-images yes: the list printed by `vocboard hash-images`",
    )
