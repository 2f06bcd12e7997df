"""Options for what competitions ask to be declared about a method."""

import argparse
from pathlib import Path


def add_declaration_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options on annotation and on images from flickr, and the one for what an edition defines."""
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
    parser.add_argument(
        "--declare",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_named_value,
        help="a declaration that the challenge's edition defines, such as parameters=25.6; can be repeated",
    )


def _named_value(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name.strip() and separator):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, such as parameters=25.6, not {text!r}")
    return name.strip(), value.strip()
